import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { schemaFolder } from '../../schemas/build/made';
import { folder, plimsoll } from '../cli/host';
import { productSchemas } from '../support/schemas';
import { useLab, type Lab } from './lab/use';
import { waitFor } from './lab/wait';
import { deadlineMs } from './lab/nodes-and-pods';

/** `plimsoll schemas` with the real API server's OpenAPI: its own kinds, and those that definitions add. */

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.schemas.example.com' },
  spec: {
    group: 'schemas.example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                'x-kubernetes-validations': [{ rule: 'self.size < 10', message: 'a widget is small' }],
                properties: { size: { type: 'integer' }, color: { type: 'string', enum: ['red', 'blue'] } },
              },
            },
          },
        },
      },
    ],
  },
};

const manifest = `apiVersion: schemas.example.com/v1
kind: Widget
metadata: { name: a }
spec:
  color: green
  sizee: 1
---
apiVersion: schemas.example.com/v1
kind: Widget
metadata: { name: b }
spec:
  size: 12
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: gpu }
spec:
  weigth: 1
  template:
    spec:
      nodeClassRef: { group: karpenter.kwok.sh, kind: KWOKNodeClass, name: a }
      requirements: []
---
apiVersion: v1
kind: Service
metadata: { name: chat }
spec:
  selector: { app: chat }
  ports:
    - port: eighty
      protocol: ""
`;

let lab: Lab;

before(async () => {
  lab = useLab();
  productSchemas();
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await lab.admin.send('POST', path, { body: definition });
  await waitFor(
    'the kind is published',
    async () => {
      const { status } = await lab.admin.call('GET', '/openapi/v3/apis/schemas.example.com/v1');
      return status === 200 ? true : undefined;
    },
    deadlineMs,
  );
});

after(async () => {
  await lab.admin.delete(
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`,
  );
  await lab.close();
});

test('who has no rights at all may read them, and manifests are checked against them from then on', async (context) => {
  const root = folder(context, { 'app.yaml': manifest });
  const lint = async (): Promise<readonly string[]> => {
    const { stdout } = await plimsoll(root, ['lint', '--format', 'github'], { schemaFolder });
    return stdout
      .split('\n')
      .flatMap((line) => /line=(\d+),.*title=(?:plimsoll )?([\w-]+)/.exec(line)?.slice(1).join(' ') ?? []);
  };
  const before = await lint();
  assert.ok(!before.some((line) => /^\d /.test(line)), 'nothing is known of Widgets');

  const argv = ['schemas', '--kubeconfig', lab.state.kubeconfigs.stranger];
  const { code, stdout, stderr } = await plimsoll(root, argv, { schemaFolder });
  assert.equal(stderr, '');
  assert.equal(code, 0);
  assert.match(stdout, /^\d+ kinds of \d+ API versions, from context .*\nWritten to \.plimsoll\/schemas\n$/);

  const found = await lint();
  for (const line of [
    '5 value-not-allowed',
    '6 unknown-field',
    '11 validation-rule-failed',
    '18 unknown-field',
    '30 wrong-type',
  ])
    assert.ok(found.includes(line), `${line} in ${found.join(', ')}`);
  assert.ok(!found.some((line) => line.startsWith('31 ')), 'an empty protocol is the default one');

  // Deleting the folder brings back what is shipped.
  rmSync(join(root, '.plimsoll'), { recursive: true });
  assert.deepEqual(await lint(), before);
});
