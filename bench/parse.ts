/**
 * Reading YAML: our reader beside the `yaml` package on the same text, in one process. Run with
 * `npx tsx bench/parse.ts`; it prints megabytes per second and the ratio of the two.
 */
import { Composer, Parser } from 'yaml';
import { itemsIn, textIn } from '../server/src/yaml/node';
import type { YamlNode } from '../server/src/yaml/node';
import { parseFile } from '../server/src/yaml/parse';

const DOCUMENTS = 6000;
const ROUNDS = 7;

/** A stream of manifests as people write them: comments, probes, scripts in a ConfigMap, lists in brackets. */
function manifests(count: number): string {
  const parts: string[] = [];
  for (let number = 0; number < count; number++) {
    parts.push(
      number % 4 === 3 ? configMap(number) : number % 4 === 2 ? autoscaler(number) : deployment(number),
    );
  }
  return parts.join('---\n');
}

function deployment(number: number): string {
  return `# Serves model ${number} behind the gateway.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: vllm-${number}
  namespace: inference
  labels:
    app.kubernetes.io/name: vllm-${number}
    app.kubernetes.io/part-of: "chat"
spec:
  replicas: ${(number % 5) + 1}
  selector:
    matchLabels:
      app.kubernetes.io/name: vllm-${number}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: vllm-${number}
      annotations:
        prometheus.io/scrape: "true"
    spec:
      tolerations:
        - key: nvidia.com/gpu
          operator: Exists
          effect: NoSchedule
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.9.${number % 10} # pinned
          args: ["--model", "Qwen/Qwen2.5-7B-Instruct", "--max-model-len=8192"]
          env:
            - name: HF_TOKEN
              valueFrom:
                secretKeyRef:
                  name: hf
                  key: token
            - name: NCCL_DEBUG
              value: INFO
          ports:
            - containerPort: 8000
              name: http
          resources:
            requests:
              cpu: "4"
              memory: 32Gi
            limits:
              memory: 32Gi
              nvidia.com/gpu: 1
          readinessProbe:
            httpGet: { path: /health, port: http }
            initialDelaySeconds: 60
            periodSeconds: 10
          volumeMounts:
            - name: shm
              mountPath: /dev/shm
      volumes:
        - name: shm
          emptyDir:
            medium: Memory
            sizeLimit: 8Gi
`;
}

function autoscaler(number: number): string {
  return `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: vllm-${number}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: vllm-${number}
  minReplicas: 1
  maxReplicas: 8
  metrics:
  - type: Pods
    pods:
      metric:
        name: vllm:num_requests_waiting
      target:
        type: AverageValue
        averageValue: "5"
`;
}

function configMap(number: number): string {
  return `apiVersion: v1
kind: ConfigMap
metadata:
  name: start-${number}
data:
  start.sh: |
    #!/bin/sh
    set -eu
    # Waits for the weights before it starts the server.
    until [ -f /models/ready ]; do
      echo "waiting for weights"
      sleep 5
    done

    exec python3 -m vllm.entrypoints.openai.api_server --port 8000
  settings.json: |-
    { "temperature": 0.2, "stop": ["</s>"] }
`;
}

function countNodes(node: YamlNode | undefined): number {
  if (node === undefined) return 0;
  if (node.kind === 'scalar') return 1;
  if (node.kind === 'sequence') return node.items.reduce((sum, item) => sum + countNodes(item), 1);
  return node.entries.reduce((sum, { value }) => sum + 1 + countNodes(value), 1);
}

/** Milliseconds of the fastest of several rounds, which other work on the machine disturbs least. */
function time(run: () => void): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    run();
    return performance.now() - start;
  });
  return Math.min(...times);
}

/** What the index and most rules look at in a document: its kind, its name and, in a workload, its containers. */
function look(root: YamlNode | undefined): number {
  const seen = [textIn(root, 'kind'), textIn(root, 'metadata', 'name')];
  for (const container of itemsIn(root, 'spec', 'template', 'spec', 'containers')) {
    seen.push(textIn(container, 'name'), textIn(container, 'resources', 'limits', 'nvidia.com/gpu'));
  }
  return seen.length;
}

const text = manifests(DOCUMENTS);
const megabytes = Buffer.byteLength(text) / 1e6;
let nodes = 0;
let looked = 0;

const ours = time(() => {
  nodes = 0;
  for (const { document } of parseFile('bench.yaml', text).documents) nodes += countNodes(document.root);
});
const rules = time(() => {
  looked = 0;
  for (const { document } of parseFile('bench.yaml', text).documents) looked += look(document.root);
});
const read = time(() => {
  for (const { document } of parseFile('bench.yaml', text).documents) {
    if (document.problems.length > 0 || document.root === undefined)
      throw new Error('the text is not well-formed');
  }
});
const split = time(() => {
  if (parseFile('bench.yaml', text).documents.length !== DOCUMENTS)
    throw new Error('wrong number of documents');
});
const theirs = time(() => {
  let documents = 0;
  const composer = new Composer({ uniqueKeys: false, logLevel: 'silent' });
  for (const _ of composer.compose(new Parser().parse(text))) documents++;
  if (documents !== DOCUMENTS) throw new Error('wrong number of documents');
});

const line = (what: string, milliseconds: number): string =>
  `${what.padEnd(44)}${milliseconds.toFixed(0).padStart(6)} ms ${(megabytes / (milliseconds / 1000)).toFixed(1).padStart(8)} MB/s` +
  `${(theirs / milliseconds).toFixed(1).padStart(9)} x`;

console.log(
  `${DOCUMENTS} documents, ${megabytes.toFixed(1)} MB, ${nodes} values; fastest of ${ROUNDS} rounds`,
);
console.log(line('split into documents', split));
console.log(line('split and read, problems known', read));
console.log(line(`and ${looked} values looked at, as rules do`, rules));
console.log(line('and every value looked at', ours));
console.log(line('the yaml package, its own tree', theirs));
