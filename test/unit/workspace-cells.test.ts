import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { makeTree } from '../../bench/tree';
import { lintAll, lintCells, type ConfigurationTexts, type Helper } from '../../server/src/cli/lint-cells';
import { configurationOf } from '../../server/src/engine/config';
import { lint } from '../../server/src/engine/run';
import { rules } from '../../server/src/rules/index';
import { cellsOf, layoutOf, type FileText } from '../../server/src/workspace/cells';
import { Workspace } from '../../server/src/workspace/workspace';
import { parseFile } from '../../server/src/yaml/parse';

const root = join(__dirname, '../..');
const corpus = join(root, '../shared/corpus');
const configuration: ConfigurationTexts = { kind: 'found', texts: new Map(), layers: {}, bases: new Map() };

function textsBelow(folder: string): FileText[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name) => join(folder, name))
    .map((path) => ({ uri: pathToFileURL(path).href, text: readFileSync(path, 'utf8') }));
}

/** Lints in cells as small as can be, and all at once, and compares. */
async function compare(
  texts: readonly FileText[],
  helpers: readonly Helper[] = [],
  filesInCell = 1,
): Promise<number> {
  const reported = texts.map(({ uri }) => uri);
  const cells = await lintAll(
    { texts, layout: layoutOf(texts), configuration, reported },
    helpers,
    () => filesInCell,
  );
  const whole = lint(
    Workspace.empty.withAll(texts.map(({ uri, text }) => parseFile(uri, text))),
    configurationOf(new Map(), {}).configFor,
  );
  whole.files.forEach((file, index) => assert.deepEqual(cells.files[index], file));
  assert.equal(cells.files.length, whole.files.length);
  return whole.files.reduce((sum, { findings }) => sum + findings.length, 0);
}

const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: inference
spec:
  template:
    metadata:
      labels:
        team.example.com/pool: inference
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: small }
      requirements:
        - { key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge] }
`;

const nodeClass = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: { name: small }
spec:
  amiSelectorTerms: [{ alias: al2023@latest }]
  role: nodes
`;

const workload = (name: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      nodeSelector: { team.example.com/pool: inference }
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          args: [--model=Qwen/Qwen2.5-7B-Instruct]
          resources: { limits: { nvidia.com/gpu: 4 } }
`;

/** Workloads that have nothing to do with each other. */
function lone(count: number): FileText[] {
  return Array.from({ length: count }, (_, index) => ({
    uri: `file:///w/teams/team-${index}/app.yaml`,
    text: workload(`app-${index}`),
  }));
}

describe('cells', () => {
  test('say the same as the whole: examples and fixtures', async () => {
    // What other rules say of a document they say of it alone.
    const wider = rules.filter(({ needs }) => needs === 'workspace').map(({ id }) => id);
    const texts = ['examples', ...wider.map((id) => `test/rules/${id}`)].flatMap((folder) =>
      textsBelow(join(root, folder)),
    );
    // Of all fixtures together, each workload would be weighed against the hundreds of NodePools of the others.
    const workspaces = 24;
    let found = 0;
    for (let one = 0; one < workspaces; one++)
      found += await compare(
        texts.filter((_, index) => Math.floor(index / 2) % workspaces === one),
        [],
        7,
      );
    assert.ok(found > 500, `only ${found} findings`);
  });

  test('say the same as the whole: a generated tree', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-cells-'));
    t.after(() => rmSync(folder, { recursive: true }));
    makeTree(folder, 300);
    assert.ok((await compare(textsBelow(folder))) > 50);
  });

  const without = existsSync(corpus) ? false : 'the public manifests are not here';
  test('say the same as the whole: public manifests', { skip: without }, async () => {
    assert.ok((await compare(textsBelow(corpus))) > 50);
  });

  test('see NodePools and their classes of other directories', async () => {
    const platform = [
      { uri: 'file:///w/platform/pools/pool.yaml', text: pool },
      { uri: 'file:///w/platform/classes/class.yaml', text: nodeClass },
    ];
    const texts = [...platform, ...lone(20)];
    const cells = cellsOf(texts, layoutOf(texts), () => 1);
    assert.ok(cells.length > 1);
    assert.deepEqual(cells.at(-1)?.context, platform);
    await compare(texts);
    const last = texts.at(-1)?.uri ?? '';
    const { files } = await lintAll(
      { texts, layout: layoutOf(texts), configuration, reported: [last] },
      [],
      () => 1,
    );
    assert.deepEqual(
      files.map(({ uri }) => uri),
      [last],
    );
    const found = files[0]?.findings.find(({ rule }) => rule === 'no-instance-type-fits');
    assert.match(found?.message ?? '', /g5\.xlarge/);
  });

  test('hold what one build of kustomize puts together', () => {
    const kustomization = (...resources: string[]): string => `resources: [${resources.join(', ')}]\n`;
    const texts = [
      { uri: 'file:///w/apps/base/kustomization.yaml', text: kustomization('app.yaml') },
      { uri: 'file:///w/apps/base/app.yaml', text: workload('chat') },
      { uri: 'file:///w/apps/prod/kustomization.yaml', text: kustomization('../base', 'pdb.yaml') },
      { uri: 'file:///w/apps/prod/pdb.yaml', text: 'apiVersion: policy/v1\nkind: PodDisruptionBudget\n' },
      { uri: 'file:///w/lone/app.yaml', text: workload('lone') },
    ];
    const cells = cellsOf(texts, layoutOf(texts), () => 1);
    assert.deepEqual(
      cells.map(({ files }) => files.length),
      [4, 1],
    );
  });

  test('see the overlays below them', () => {
    const texts = [
      { uri: 'file:///w/app/app.yaml', text: workload('chat') },
      { uri: 'file:///w/app/variants/eu/patch.json', text: '[{"op": "remove", "path": "/spec/replicas"}]' },
      { uri: 'file:///w/lone/app.yaml', text: workload('lone') },
    ];
    const cells = cellsOf(texts, layoutOf(texts), () => 1);
    const app = cells.find(({ files }) => files.some(({ uri }) => uri.endsWith('/app/app.yaml')));
    assert.ok([...(app?.files ?? []), ...(app?.context ?? [])].some(({ uri }) => uri.endsWith('patch.json')));
    const lone = cells.find(({ files }) => files.some(({ uri }) => uri.endsWith('/lone/app.yaml')));
    assert.deepEqual(lone?.context, []);
  });

  test('can be shared with helpers, of which one may fail', async () => {
    let jobs = 0;
    const working: Helper = {
      lint: (job) => {
        jobs += job.cells.length;
        return Promise.resolve(structuredClone(lintCells(structuredClone(job))));
      },
      close: () => undefined,
    };
    const failing: Helper = { lint: () => Promise.reject(new Error('no thread')), close: () => undefined };
    const texts = lone(30);
    assert.ok((await compare(texts, [working, failing])) > 50);
    assert.equal(jobs, 10);
  });
});
