import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes a tree of manifests like that of a platform team: a folder per application with a Deployment, what hangs on
 * it, and the files of other tools in between. The same seed gives the same tree.
 */
export interface TreeSize {
  readonly files: number;
  readonly bytes: number;
}

/** A small linear congruential generator (Numerical Recipes): the tree must be the same on every machine. */
function generator(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const servers = [
  ['vllm', 'vllm/vllm-openai:v0.11.0', '--model=Qwen/Qwen2.5-7B-Instruct', 1],
  ['vllm', 'vllm/vllm-openai:v0.11.0', '--model=meta-llama/Llama-3.1-70B-Instruct', 4],
  [
    'tgi',
    'ghcr.io/huggingface/text-generation-inference:3.3.6',
    '--model-id=mistralai/Mistral-7B-Instruct-v0.3',
    1,
  ],
] as const;

function variables(random: (below: number) => number, count: number, indent: string): string {
  let out = '';
  for (let index = 0; index < count; index++) {
    out += `${indent}- name: SETTING_${index}\n${indent}  value: "${random(1_000_000)}"\n`;
  }
  return out;
}

function deployment(name: string, random: (below: number) => number): string {
  const gpu = random(3) === 0 ? servers[random(servers.length)] : undefined;
  const resources =
    gpu === undefined
      ? `            requests:\n              cpu: 250m\n              memory: 512Mi\n            limits:\n              memory: 512Mi\n`
      : `            requests:\n              cpu: "4"\n              memory: 32Gi\n              nvidia.com/gpu: "${gpu[3]}"\n` +
        `            limits:\n              memory: 64Gi\n              nvidia.com/gpu: "${gpu[3]}"\n`;
  return `# ${name}: owned by its team, rolled out by the pipeline.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
  namespace: team-${random(40)}
  labels:
    app.kubernetes.io/name: ${name}
spec:
  replicas: ${1 + random(4)}
  selector:
    matchLabels:
      app.kubernetes.io/name: ${name}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: ${name}
    spec:
      containers:
        - name: ${gpu?.[0] ?? 'server'}
          image: ${gpu?.[1] ?? `registry.example.com/${name}:1.${random(90)}.0`}
${gpu === undefined ? '' : `          args:\n            - ${gpu[2]}\n            - --tensor-parallel-size=${gpu[3]}\n`}          ports:
            - name: http
              containerPort: 8080
          env:
${variables(random, 10 + random(40), '            ')}          resources:
${resources}          readinessProbe:
            httpGet:
              path: /healthz
              port: http
            periodSeconds: 10
`;
}

function companions(name: string, random: (below: number) => number): string {
  return `apiVersion: v1
kind: Service
metadata:
  name: ${name}
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
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: ${name}
  minReplicas: 2
  maxReplicas: ${4 + random(20)}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: 70
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: ${name}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app.kubernetes.io/name: ${name}
`;
}

function configMap(name: string, random: (below: number) => number): string {
  let data = '';
  for (let index = 0; index < 20 + random(130); index++)
    data += `  key-${index}: "value ${random(1e9)} of ${name}"\n`;
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n${data}`;
}

function values(random: (below: number) => number): string {
  let out = 'replicaCount: 2\nimage:\n  repository: registry.example.com/app\n  tag: "1.0"\n';
  for (let index = 0; index < 40; index++) out += `setting${index}: ${random(1e6)}\n`;
  return out;
}

/** Writes the tree below a folder and tells how large it came out. */
export function makeTree(folder: string, files: number, seed = 1): TreeSize {
  const random = generator(seed);
  let bytes = 0;
  let written = 0;
  const write = (path: string, text: string): void => {
    if (written >= files) return;
    writeFileSync(path, text);
    bytes += text.length;
    written++;
  };
  for (let app = 0; written < files; app++) {
    const name = `app-${app}`;
    const at = join(folder, `team-${app % 40}`, name);
    mkdirSync(at, { recursive: true });
    write(join(at, 'deployment.yaml'), deployment(name, random));
    write(join(at, 'service.yaml'), companions(name, random));
    write(join(at, 'config.yaml'), configMap(name, random));
    if (app % 5 === 0) write(join(at, 'values.yaml'), values(random));
    if (app % 7 === 0) {
      write(
        join(at, 'jobs.yaml'),
        Array.from({ length: 4 }, (_, index) => deployment(`${name}-${index}`, random)).join('---\n'),
      );
    }
  }
  return { files: written, bytes };
}
