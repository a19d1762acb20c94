import { containers, envOf } from '../../kube/containers';
import { podCarrierKinds, podTemplates } from '../../kube/pod-carriers';
import type { Resource } from '../../kube/resource';
import { entryOf, isScalar, mapIn, type YamlNode } from '../../yaml/node';
import { containerField, containerTitle } from '../resources/wording';
import { defineRule, type Report } from '../rule';
import { addOnsOf } from './configuration';

const annotation = 'eks.amazonaws.com/role-arn';

/** Kinds whose values make service accounts. */
const chartKinds: readonly string[] = ['HelmRelease', 'Application'];

/** An IAM role in any partition; a role may have a path. */
const roleArn = /^arn:aws(?:-[a-z]+)*:iam::\d{12}:role\/[\w+=,.@/-]+$/;

/** What somebody is meant to fill in, in README files and examples. */
const placeholder = /[<>*]|\bX{4,}|\.\.\.|\$|ACCOUNT|YOUR|REPLACE|CHANGE_?ME|_ID\b|REGION|%/i;

/** Access keys as IAM makes them: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html */
const accessKeyId = /^A[KS]IA[A-Z0-9]{16}$/;
const secretKey = /^[A-Za-z0-9/+=]{40}$/;

export default defineRule({
  id: 'irsa-role-malformed',
  summary: 'Pods get AWS permissions by an IAM role, and the role is written as one',
  severity: 'warning',
  needs: 'document',
  kinds: ['ServiceAccount', ...chartKinds, ...podCarrierKinds],
  fixable: 'none',
  check(resource, { report }) {
    if (resource.kind === 'ServiceAccount') {
      const annotations = mapIn(resource.root, 'metadata', 'annotations');
      const found = malformedRole(entryOf(annotations, annotation)?.value);
      if (found !== undefined) report(found);
      return;
    }
    if (chartKinds.includes(resource.kind)) {
      if (!resource.placed.document.text.includes(annotation)) return;
      for (const { tree } of addOnsOf(resource)) {
        for (const value of annotationsIn(tree.root)) {
          const found = malformedRole(value);
          if (found !== undefined) report({ ...found, at: tree.place(value) });
        }
      }
      return;
    }
    // Reading every container for nothing would cost more than looking at the text.
    if (!/AWS_(?:ACCESS_KEY_ID|SECRET_ACCESS_KEY)/.test(resource.placed.document.text)) return;
    for (const found of staticKeys(resource)) report(found);
  },
});

/** Every value of the annotation in the values of a chart, wherever the chart takes it. */
function annotationsIn(node: YamlNode): readonly YamlNode[] {
  switch (node.kind) {
    case 'map':
      return node.entries.flatMap(({ key, value }) =>
        key.text === annotation ? [value] : annotationsIn(value),
      );
    case 'sequence':
      return node.items.flatMap(annotationsIn);
    case 'scalar':
      return [];
  }
}

function malformedRole(node: YamlNode | undefined): Report | undefined {
  if (!isScalar(node) || node.unknown || node.value === null) return undefined;
  const text = node.text.trim();
  if (text === '' || placeholder.test(text) || roleArn.test(node.text)) return undefined;
  const why = /^arn:/.test(text)
    ? /:role\//.test(text)
      ? 'its account is not 12 digits, or something else of it is out of form'
      : 'it names no role'
    : 'it is a name and no ARN';
  return {
    at: node,
    message: `"${text}" is not the ARN of an IAM role (${why}), such as arn:aws:iam::111122223333:role/name: pods of the service account get no credentials`,
  };
}

function staticKeys(resource: Resource): readonly Report[] {
  return podTemplates(resource)
    .flatMap(containers)
    .flatMap((container) =>
      envOf(container).flatMap(({ name, nameNode, value }): readonly Report[] => {
        if (value === undefined || value.unknown) return [];
        const isKey =
          (name === 'AWS_ACCESS_KEY_ID' && accessKeyId.test(value.text)) ||
          (name === 'AWS_SECRET_ACCESS_KEY' && secretKey.test(value.text) && !placeholder.test(value.text));
        return isKey
          ? [
              {
                // The key, never the secret.
                at: nameNode,
                message: `${containerTitle(container)} has an AWS key in ${name} in plain text: whoever reads the manifest has it, and it does not expire; EKS Pod Identity or IAM roles for service accounts need none`,
                ...containerField(container),
              },
            ]
          : [];
      }),
    );
}
