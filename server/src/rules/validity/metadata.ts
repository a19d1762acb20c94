import {
  annotationKey,
  dnsLabel,
  dnsSubdomain,
  labelValue,
  pathSegment,
  qualifiedName,
  repairedName,
  type Form,
} from '../../kube/names';
import { given, partIn, textAt, textOf, type Part } from '../../kube/part';
import type { Resource } from '../../kube/resource';
import { entryOf, isMap } from '../../yaml/node';
import { shown, type Inspection } from './inspection';

/** Kinds whose names have another form than a subdomain. Budgets and roles only have to fit into a path. */
const nameForms: Readonly<Record<string, Form>> = {
  '/Service': dnsLabel,
  '/Namespace': dnsLabel,
  'policy/PodDisruptionBudget': pathSegment,
  'rbac.authorization.k8s.io/Role': pathSegment,
  'rbac.authorization.k8s.io/ClusterRole': pathSegment,
  'rbac.authorization.k8s.io/RoleBinding': pathSegment,
  'rbac.authorization.k8s.io/ClusterRoleBinding': pathSegment,
};

/** A CronJob appends 11 characters to its name for its Jobs, whose names may have 63. */
const longestCronJob = 52;

export function checkMetadata(cx: Inspection, root: Part): void {
  const { resource } = cx;
  const metadata = partIn(root, 'metadata');
  if (metadata === undefined) return;
  checkName(cx, metadata, resource);
  cx.form(metadata, 'namespace', dnsLabel, 'Namespace');
  checkLabels(cx, metadata, 'labels', 'metadata');
  checkAnnotations(cx, metadata);
}

function checkName(cx: Inspection, metadata: Part, resource: Resource): void {
  const name = textAt(metadata, 'name');
  if (name === undefined || name.text === '') return;
  const form = nameForms[`${resource.group}/${resource.kind}`] ?? dnsSubdomain;
  cx.textForm(name, form, `Name of the ${resource.kind}`, {
    fix: ({ node, text }) => {
      const repaired = repairedName(form, text);
      return repaired === undefined ? undefined : cx.write(node, repaired, `Name it ${repaired}`);
    },
  });
  if (
    resource.kind === 'CronJob' &&
    name.text.length > longestCronJob &&
    dnsSubdomain.flaw(name.text) === undefined
  ) {
    cx.add(
      'name-invalid',
      name.node,
      `Name of the CronJob has ${name.text.length} characters, and ${longestCronJob} are allowed, since its Jobs get 11 more`,
    );
  }
}

/** The keys and values of a map of labels. */
export function checkLabels(cx: Inspection, part: Part, key: string, where: string): void {
  const map = given(part, key)?.value;
  if (!isMap(map)) return;
  for (const { key: label, value } of map.entries) {
    if (label.unknown) continue;
    const flaw = qualifiedName.flaw(label.text);
    if (flaw !== undefined) {
      cx.add(
        'name-invalid',
        label,
        `Label ${shown(label.text)} in ${where} is not ${qualifiedName.name}: ${flaw}`,
      );
    }
    const text = textOf(value);
    const wrong = text === undefined ? undefined : labelValue.flaw(text.text);
    if (text !== undefined && wrong !== undefined) {
      cx.add(
        'name-invalid',
        text.node,
        `Label ${label.text} in ${where} has the value ${shown(text.text)}, which is not ${labelValue.name}: ${wrong}`,
      );
    }
  }
}

export function checkAnnotations(cx: Inspection, metadata: Part): void {
  const map = entryOf(metadata.map, 'annotations')?.value;
  if (!isMap(map)) return;
  for (const { key } of map.entries) {
    if (key.unknown) continue;
    const flaw = annotationKey.flaw(key.text);
    if (flaw !== undefined) {
      cx.add('name-invalid', key, `Annotation ${shown(key.text)} is not ${annotationKey.name}: ${flaw}`);
    }
  }
}
