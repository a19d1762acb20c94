import { performance } from 'node:perf_hooks';
import { getLanguageService } from 'yaml-language-server';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { TextDocumentContentChangeEvent } from 'vscode-languageserver-textdocument';
import { createBuffers } from '../server/src/lsp/buffers';
import { createProject } from '../server/src/lsp/project';
import { createReports } from '../server/src/lsp/reports';
import { defaultSettings } from '../server/src/protocol/settings';
import { start, uriOf } from '../test/protocol/support/client';
import { rules } from '../server/src/rules/index';
import { productSchemas } from '../test/support/schemas';

/**
 * From a keystroke in the middle of a 5,000-line file of many documents to its diagnostics:
 * `npx tsx bench/keystroke.ts [EDITS]`.
 *
 * The same edits go, one at a time, to Plimsoll and to the `doValidation` of yaml-language-server, which is called
 * without a schema (it then only parses, and checks what needs none) and with one for the kinds of the file. Its
 * settings are those of its own server, but for the schema store, which needs a network. Plimsoll is timed as a
 * library, like the other, and as a server: from the client's `didChange` to the answer of `textDocument/diagnostic`.
 */

const lines = 5000;
const uri = uriOf('/ws/all.yaml');

/** One inference service in five documents, with what people write in them. */
function manifests(index: number): string {
  const name = `llm-${index}`;
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: inference
  labels:
    app.kubernetes.io/name: ${name}
    app.kubernetes.io/part-of: chat
spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/name: ${name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: ${name}
      annotations:
        prometheus.io/scrape: "true"
    spec:
      serviceAccountName: ${name}
      terminationGracePeriodSeconds: 120
      tolerations:
        - key: nvidia.com/gpu
          operator: Exists
          effect: NoSchedule
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          args:
            - --model=meta-llama/Llama-3.1-8B-Instruct
            - --tensor-parallel-size=1
            - --max-model-len=8192
            - --gpu-memory-utilization=0.9
          env:
            - name: HF_HOME
              value: /models
            - name: HUGGING_FACE_HUB_TOKEN
              valueFrom:
                secretKeyRef:
                  name: hf-token
                  key: token
          ports:
            - name: http
              containerPort: 8000
          resources:
            requests:
              cpu: "4"
              memory: 24Gi
              nvidia.com/gpu: 1
            limits:
              memory: 24Gi
              nvidia.com/gpu: 1
          startupProbe:
            httpGet: { path: /health, port: http }
            periodSeconds: 10
            failureThreshold: 60
          readinessProbe:
            httpGet: { path: /health, port: http }
            periodSeconds: 5
          volumeMounts:
            - name: models
              mountPath: /models
            - name: shm
              mountPath: /dev/shm
      volumes:
        - name: models
          persistentVolumeClaim:
            claimName: ${name}
        - name: shm
          emptyDir:
            medium: Memory
            sizeLimit: 2Gi
---
apiVersion: v1
kind: Service
metadata:
  name: ${name}
  namespace: inference
spec:
  selector:
    app.kubernetes.io/name: ${name}
  ports:
    - name: http
      port: 80
      targetPort: http
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: ${name}
  namespace: inference
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: ${name}
  minReplicas: 2
  maxReplicas: 8
  metrics:
    - type: Pods
      pods:
        metric:
          name: vllm_num_requests_waiting
        target:
          type: AverageValue
          averageValue: "4"
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: ${name}
  namespace: inference
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: ${name}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: ${name}
  namespace: inference
spec:
  accessModes: [ReadWriteMany]
  resources:
    requests:
      storage: 100Gi
---
`;
}

function file(): string {
  let text = '';
  for (let index = 0; text.split('\n').length - 1 < lines; index++) text += manifests(index);
  const kept = text.split('\n').slice(0, lines);
  return `${kept.join('\n')}\n`;
}

/** A schema in the manner of the Kubernetes ones, for the kinds of the file: every field that it writes. */
const metadata = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    namespace: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
  },
};
const quantities = { type: 'object', additionalProperties: { type: ['string', 'number'] } };
const selector = {
  type: 'object',
  properties: { matchLabels: { type: 'object', additionalProperties: { type: 'string' } } },
};
const probe = {
  type: 'object',
  properties: {
    httpGet: {
      type: 'object',
      required: ['port'],
      properties: { path: { type: 'string' }, port: { type: ['string', 'integer'] } },
    },
    periodSeconds: { type: 'integer' },
    failureThreshold: { type: 'integer' },
  },
};
const podSpec = {
  type: 'object',
  required: ['containers'],
  properties: {
    serviceAccountName: { type: 'string' },
    terminationGracePeriodSeconds: { type: 'integer' },
    tolerations: { type: 'array', items: { type: 'object' } },
    containers: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          image: { type: 'string' },
          args: { type: 'array', items: { type: 'string' } },
          env: { type: 'array', items: { type: 'object', required: ['name'] } },
          ports: { type: 'array', items: { type: 'object', required: ['containerPort'] } },
          resources: { type: 'object', properties: { requests: quantities, limits: quantities } },
          startupProbe: probe,
          readinessProbe: probe,
          volumeMounts: { type: 'array', items: { type: 'object', required: ['name', 'mountPath'] } },
        },
      },
    },
    volumes: { type: 'array', items: { type: 'object', required: ['name'] } },
  },
};
const kind = (name: string, spec: object): object => ({
  type: 'object',
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
  properties: { apiVersion: { type: 'string' }, kind: { const: name }, metadata, spec },
});
const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  oneOf: [
    kind('Deployment', {
      type: 'object',
      required: ['selector', 'template'],
      properties: {
        replicas: { type: 'integer' },
        selector,
        template: { type: 'object', properties: { metadata, spec: podSpec } },
      },
    }),
    kind('Service', { type: 'object', properties: { ports: { type: 'array', items: { type: 'object' } } } }),
    kind('HorizontalPodAutoscaler', {
      type: 'object',
      required: ['scaleTargetRef', 'maxReplicas'],
      properties: { minReplicas: { type: 'integer' }, maxReplicas: { type: 'integer' } },
    }),
    kind('PodDisruptionBudget', { type: 'object', properties: { selector } }),
    kind('PersistentVolumeClaim', { type: 'object', properties: { resources: { type: 'object' } } }),
  ],
};

type Service = ReturnType<typeof getLanguageService>;

function other(withSchema: boolean): Service {
  const service = getLanguageService({
    schemaRequestService: () => Promise.reject(new Error('no network')),
    workspaceContext: { resolveRelativePath: (path) => path },
  });
  service.configure({
    validate: true,
    hover: true,
    completion: true,
    format: true,
    isKubernetes: false,
    flowMapping: 'allow',
    flowSequence: 'allow',
    yamlVersion: '1.2',
    schemas: withSchema ? [{ uri: 'file:///kubernetes.json', fileMatch: ['*.yaml'], schema }] : [],
  });
  return service;
}

/** Plimsoll without the protocol: from an edit of the text to diagnostics with lines and characters. */
function library(text: string): (change: TextDocumentContentChangeEvent, version: number) => number {
  const buffers = createBuffers();
  const project = createProject(buffers);
  const folder = { settings: defaultSettings, configFile: undefined, incomplete: undefined };
  project.setFolders([{ key: 'file:///ws', path: '/ws', ...folder }], {
    key: '',
    path: undefined,
    ...folder,
  });
  const reports = createReports(
    project,
    (key) => buffers.get(key) !== undefined,
    () => ({ related: true, codeDescription: true, data: true, tags: [] }),
    { schemas: productSchemas() },
    { error: console.error, warn: console.error, info: console.error },
    'bench',
  );
  const { key } = buffers.open(uri, 'yaml', 1, text);
  project.bufferChanged(key);
  reports.of(key);
  return (change, version) => {
    buffers.change(uri, version, [change]);
    project.bufferChanged(key);
    return reports.of(key).diagnostics.length;
  };
}

function summary(times: readonly number[]): { median: number; p95: number } {
  const sorted = [...times].sort((a, b) => a - b);
  const pick = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return { median: pick(0.5), p95: pick(0.95) };
}

async function main(): Promise<void> {
  const edits = Number(process.argv[2] ?? 60);
  const warmUp = 30;
  const text = file();
  const middle = text
    .split('\n')
    .findIndex((line, index) => index > lines / 2 && line.includes('memory: 24Gi'));
  const character = (text.split('\n')[middle] ?? '').indexOf('24Gi') + 1;
  /** Types and takes back a digit of a number in turn, so that the text stays what it is about. */
  const changeOf = (index: number): TextDocumentContentChangeEvent =>
    index % 2 === 0
      ? { range: { start: { line: middle, character }, end: { line: middle, character } }, text: '5' }
      : {
          range: { start: { line: middle, character }, end: { line: middle, character: character + 1 } },
          text: '',
        };

  const own = library(text);
  const { client } = await start({ rules, folders: ['/ws'] });
  await client.ready();
  await client.open(uri, text);
  await client.pull(uri);
  const services = [other(false), other(true)];
  // Under names of their own: what one service has parsed, another would find in a cache that they share.
  const copies = services.map((_, index) =>
    TextDocument.create(`file:///ws/copy-${index}.yaml`, 'yaml', 1, text),
  );
  const times: { own: number[]; server: number[]; parse: number[]; schema: number[] } = {
    own: [],
    server: [],
    parse: [],
    schema: [],
  };
  let findings = 0;
  const otherFindings = [0, 0];
  for (let index = 0; index < warmUp + edits; index++) {
    const change = changeOf(index);
    const version = index + 2;
    const record = (list: number[], since: number): void => {
      if (index >= warmUp) list.push(performance.now() - since);
    };
    let since = performance.now();
    findings = own(change, version);
    record(times.own, since);

    since = performance.now();
    if (!('range' in change)) throw new Error('an edit has a range');
    await client.edit(uri, version, change.range, change.text);
    await client.pull(uri);
    record(times.server, since);

    for (const [which, list] of [times.parse, times.schema].entries()) {
      const service = services[which];
      const copy = copies[which];
      if (service === undefined || copy === undefined) continue;
      since = performance.now();
      TextDocument.update(copy, [change], version);
      otherFindings[which] = (await service.doValidation(copy as never, false)).length;
      record(list, since);
    }
  }
  await client.stop();

  const documents = text.split('\n---\n').length;
  console.log(
    `${lines} lines, ${documents} documents, ${(text.length / 1024).toFixed(0)} KiB; ${edits} edits in line ${middle + 1}; ` +
      `${rules.length} rules, ${findings} findings; Node ${process.version}\n`,
  );
  const rows: readonly (readonly [string, readonly number[]])[] = [
    ['Plimsoll, edit to diagnostics', times.own],
    ['Plimsoll server, didChange to the answer', times.server],
    [`yaml-language-server doValidation, no schema (${otherFindings[0]} findings)`, times.parse],
    [`yaml-language-server doValidation, schema (${otherFindings[1]} findings)`, times.schema],
  ];
  for (const [name, list] of rows) {
    const { median, p95 } = summary(list);
    console.log(
      `${name.padEnd(66)} median ${median.toFixed(2).padStart(8)} ms   p95 ${p95.toFixed(2).padStart(8)} ms`,
    );
  }
  const median = (list: readonly number[]): number => summary(list).median;
  console.log(
    `\nPlimsoll is ${(median(times.parse) / median(times.own)).toFixed(1)} times as fast as yaml-language-server without a schema, ` +
      `${(median(times.schema) / median(times.own)).toFixed(1)} times with one; ` +
      `as a server ${(median(times.parse) / median(times.server)).toFixed(1)} and ${(median(times.schema) / median(times.server)).toFixed(1)}`,
  );
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
