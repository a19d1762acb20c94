import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InlayHint } from 'vscode-languageserver-protocol';
import { catalogueJson } from '../../server/src/sizing/nodes/refreshed';
import type { InstanceType } from '../../server/src/sizing/nodes/instances';
import { start, uriOf } from './support/client';

/** A process takes one catalogue, so that this is a file, and a process, of its own. */

const g5: InstanceType = {
  name: 'g5.xlarge',
  family: 'g5',
  size: 'xlarge',
  category: 'g',
  generation: 5,
  arch: 'amd64',
  hypervisor: 'nitro',
  cpuManufacturer: 'amd',
  vcpu: 4,
  memoryMiB: 16384,
  gpus: { name: 'a10g', manufacturer: 'nvidia', count: 1, memoryMiBEach: 22888 },
  efaInterfaces: 0,
  interfaces: { total: 4, ipv4Each: 15, networkCards: 1, onDefaultCard: 4 },
  onDemandPrice: 0.42,
};

test('the server uses the refreshed catalogue of the folder from its first answer on', async () => {
  const pool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: gpu }
spec:
  template:
    spec:
      nodeClassRef: { group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu }
      requirements: [{ key: karpenter.k8s.aws/instance-family, operator: In, values: [g5] }]
`;
  const { client } = await start({
    files: {
      '/ws/.plimsoll/instance-types.json': catalogueJson({
        region: 'eu-west-1',
        date: '2026-11-30',
        types: [g5],
      }),
    },
  });
  const uri = uriOf('/ws/pool.yaml');
  await client.open(uri, pool);
  const [hint]: InlayHint[] = await client.connection.sendRequest('textDocument/inlayHint', {
    textDocument: { uri },
    range: { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } },
  });
  assert.equal(hint?.label, '1 type, 1 GPU, $0.42/h');
  assert.equal(hint.tooltip, 'eu-west-1 on-demand Linux, USD per hour, 2026-11-30');
  assert.ok(
    client.logs.some((line) => line.includes('instance-types.json, 2026-11-30')),
    client.logs.join('\n'),
  );
  await client.stop();
});
