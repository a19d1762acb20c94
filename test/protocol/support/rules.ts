import type { Rule } from '../../../server/src/rules/rule';
import { defineRule } from '../../../server/src/rules/rule';
import { insertKey } from '../../../server/src/yaml/edit';
import { entryOf, itemsIn, mapIn, textIn } from '../../../server/src/yaml/node';

/**
 * Small rules under ids of the product, so that these tests speak of the protocol and not of what the product's rules
 * find today.
 */

/** A container without an image: one safe fix, and one that needs a decision. */
export const missingImage: Rule = defineRule({
  id: 'request-above-limit',
  summary: 'A request must not be above its limit',
  severity: 'error',
  needs: 'document',
  kinds: ['Pod'],
  fixable: 'suggest',
  check(resource, { report }) {
    for (const container of itemsIn(resource.root, 'spec', 'containers')) {
      const name = entryOf(container, 'name');
      if (container.kind !== 'map' || name === undefined || textIn(container, 'image') !== undefined)
        continue;
      const edits = insertKey(resource.placed.document, container, 'image', 'vllm/vllm-openai:v0.11.0');
      report({
        at: name,
        message: `Container "${name.value.kind === 'scalar' ? name.value.text : ''}" has no *image*`,
        container: textIn(container, 'name') ?? '',
        evidence: ['one image is needed', 'none was found'],
        fixes:
          edits === undefined
            ? []
            : [
                { title: 'Add the image', safe: true, edits },
                {
                  title: 'Add another image',
                  safe: false,
                  edits: edits.map((edit) => ({
                    ...edit,
                    newText: edit.newText.replace('0.11.0', '0.10.0'),
                  })),
                },
              ],
      });
    }
  },
});

/** A Deployment without a PodDisruptionBudget beside it: needs the other files, and points at one of them. */
export const missingBudget: Rule = defineRule({
  id: 'missing-pdb',
  summary: 'A workload has a PodDisruptionBudget',
  severity: 'warning',
  needs: 'workspace',
  kinds: ['Deployment'],
  fixable: 'none',
  check(resource, { report, workspace }) {
    const name = entryOf(mapIn(resource.root, 'metadata'), 'name');
    if (name === undefined || workspace.near(resource, 'PodDisruptionBudget').length > 0) return;
    const service = workspace.near(resource, 'Service')[0];
    const at = service === undefined ? undefined : entryOf(service.root, 'kind');
    report({
      at: name,
      message: `Deployment "${resource.name ?? ''}" has no PodDisruptionBudget`,
      related:
        service === undefined || at === undefined ? [] : [{ resource: service, at, message: 'Its Service' }],
    });
  },
});

/** Fails on every Pod. */
export const broken: Rule = defineRule({
  id: 'probe-port-unknown',
  summary: 'Fails',
  severity: 'error',
  needs: 'document',
  kinds: ['Pod'],
  fixable: 'none',
  check() {
    throw new Error('s3cret in a manifest');
  },
});

export const testRules: readonly Rule[] = [missingImage, missingBudget];

/** The name of its container is at fault. */
export function pod(name: string, container = 'vllm'): string {
  return `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  containers:
    - name: ${container}
`;
}

export function goodPod(name: string): string {
  return `${pod(name)}      image: vllm/vllm-openai:v0.11.0\n`;
}

export function deployment(name: string): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  selector:
    matchLabels: { app: ${name} }
  template:
    metadata:
      labels: { app: ${name} }
    spec:
      containers:
        - name: main
          image: vllm/vllm-openai:v0.11.0
`;
}

export function budget(name: string): string {
  return `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: ${name}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: { app: ${name} }
`;
}

export function service(name: string): string {
  return `apiVersion: v1
kind: Service
metadata:
  name: ${name}
spec:
  selector: { app: ${name} }
  ports:
    - port: 80
`;
}
