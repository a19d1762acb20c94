import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReadinessDocument } from '../../server/src/protocol/messages';
import { readinessRequest } from '../../server/src/protocol/messages';
import { start, uriOf } from './support/client';

const chat = (name: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: ${name} }
spec:
  replicas: 2
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.11.0
          ports: [{ containerPort: 8000 }]
          resources: { limits: { nvidia.com/gpu: 1 } }
`;

describe('the readiness document', () => {
  test('is about the file that is asked for, with links to lines and rules; else about all', async () => {
    const { client } = await start({
      files: {
        '/ws/k8s/one.yaml': chat('one'),
        '/ws/k8s/two.yaml': chat('two'),
        '/ws/k8s/other.yaml': 'apiVersion: v1\nkind: Service\nmetadata: { name: one }\nspec: {}\n',
      },
    });
    await client.ready();
    const ask = (uri?: string): Promise<ReadinessDocument> =>
      client.connection.sendRequest(readinessRequest, uri === undefined ? {} : { uri });
    const one = await ask(uriOf('/ws/k8s/one.yaml'));
    assert.equal(one.workloads, 1);
    assert.ok(one.markdown.includes('## Deployment "one"'));
    assert.ok(one.markdown.includes('[k8s/one.yaml:3](<file:///ws/k8s/one.yaml#L3>)'));
    assert.match(one.markdown, /\[missing-readiness-probe\]\(<command:plimsoll\.openRuleDocumentation\?/);
    assert.equal((await ask(uriOf('/ws/k8s/other.yaml'))).workloads, 2);
    assert.equal((await ask()).workloads, 2);
    // What is typed counts, saved or not.
    await client.open(uriOf('/ws/k8s/one.yaml'), chat('renamed'));
    assert.ok((await ask(uriOf('/ws/k8s/one.yaml'))).markdown.includes('## Deployment "renamed"'));
    await client.stop();
  });
});
