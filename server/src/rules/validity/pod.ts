import { dnsLabel, dnsSubdomain, isAddress, qualifiedName } from '../../kube/names';
import { given, isTrue, listIn, partIn, partsIn, textAt, textOf, wholeAt, type Part } from '../../kube/part';
import { entryOf, isNull } from '../../yaml/node';
import { listWords } from '../placement/words';
import { checkContainer, checkSecurity, type Role } from './container';
import { checkDeviceClaims } from './device-claims';
import { byName, shown, type Inspection } from './inspection';
import { checkAnnotations, checkLabels } from './metadata';
import { checkAffinity, checkSpread, checkTolerations } from './scheduling';
import { checkVolumes } from './volume';

/** When pods are started again: a Deployment's always, a Job's only on failure or never, a pod as it likes. */
export type Restarts = 'always' | 'job' | 'any';

/** The API's default. */
const defaultGraceSeconds = 30;

/**
 * A pod template: `metadata` and `spec`.
 *
 * @param claims names of volume claim templates, which are volumes of the pods too; `unknown` when there may be others.
 */
export function checkTemplate(
  cx: Inspection,
  template: Part,
  restarts: Restarts,
  claims: ReadonlySet<string> | 'unknown' = new Set(),
): void {
  const metadata = partIn(template, 'metadata');
  if (metadata !== undefined) {
    checkLabels(cx, metadata, 'labels', 'the pod template');
    checkAnnotations(cx, metadata);
  }
  const spec = partIn(template, 'spec');
  if (spec !== undefined) checkPodSpec(cx, spec, restarts, claims);
  else if (restarts === 'job' && cx.lacks(template, 'spec')) requireRestartPolicy(cx, template);
}

/** The restart policy of a Job has no default that the API server takes. */
function requireRestartPolicy(cx: Inspection, part: Part): void {
  cx.add(
    'restart-policy-invalid',
    cx.placeOf(part, 'restartPolicy'),
    `The pods of a ${cx.resource.kind} have no restartPolicy, and the default Always is not allowed: OnFailure and Never are`,
  );
}

export function checkPodSpec(
  cx: Inspection,
  spec: Part,
  restarts: Restarts,
  claims: ReadonlySet<string> | 'unknown' = new Set(),
): void {
  checkRestartPolicy(cx, spec, restarts);
  const own = checkVolumes(cx, spec);
  const volumes = {
    names: own.names === undefined || claims === 'unknown' ? undefined : new Set([...own.names, ...claims]),
    others: new Set([...own.others].filter((name) => claims === 'unknown' || !claims.has(name))),
  };
  const around = {
    volumes,
    graceSeconds: graceOf(cx, spec),
    hostNetwork: isTrue(spec, 'hostNetwork'),
  };
  const main = partsIn(spec, 'containers');
  const init = partsIn(spec, 'initContainers');
  checkSomeContainers(cx, spec);
  for (const container of main) checkContainer(cx, container, 'main', around);
  for (const container of init) checkContainer(cx, container, initRole(container), around);
  cx.unique(
    [...main, ...init],
    (container) => byName(textAt(container, 'name')),
    (key) => `Two containers are called ${shown(key)}`,
  );
  checkHostPorts(cx, main);
  checkDeviceClaims(cx, spec);
  checkSpecFields(cx, spec, restarts);
  checkTolerations(cx, spec);
  checkSpread(cx, spec);
  checkAffinity(cx, spec);
  checkLabels(cx, spec, 'nodeSelector', 'nodeSelector');
  checkSecurity(cx, partIn(spec, 'securityContext'), 'The pod');
  checkNames(cx, spec);
}

/** A restart policy that is none, or only known later, may be meant for a sidecar. */
function initRole(container: Part): Role {
  const policy = given(container, 'restartPolicy');
  if (policy === undefined) return container.map.open ? 'sidecar' : 'init';
  return ['Never', 'OnFailure'].includes(textOf(policy.value)?.text ?? '') ? 'init' : 'sidecar';
}

function checkSomeContainers(cx: Inspection, spec: Part): void {
  const list = listIn(spec, 'containers');
  if (list !== undefined && list.items.length === 0 && !list.open) {
    cx.add('required-value-missing', cx.placeOf(spec, 'containers'), 'The list of containers is empty');
  }
}

function checkRestartPolicy(cx: Inspection, spec: Part, restarts: Restarts): void {
  const policy = textAt(spec, 'restartPolicy');
  const allowed =
    restarts === 'always' ? ['Always'] : restarts === 'job' ? ['OnFailure', 'Never'] : undefined;
  if (policy === undefined || policy.text === '') {
    if (restarts === 'job' && cx.lacksText(spec, 'restartPolicy')) requireRestartPolicy(cx, spec);
    return;
  }
  if (
    allowed === undefined ||
    allowed.includes(policy.text) ||
    !['Always', 'OnFailure', 'Never'].includes(policy.text)
  )
    return;
  cx.add(
    'restart-policy-invalid',
    policy.node,
    `The restartPolicy of the pods of a ${cx.resource.kind} is ${policy.text}, and ${listWords(allowed)} ${allowed.length === 1 ? 'is' : 'are'} allowed`,
    { fixes: allowed.map((word) => cx.write(policy.node, word, `Write ${word}`)) },
  );
}

function graceOf(cx: Inspection, spec: Part): number | undefined {
  const entry = entryOf(spec.map, 'terminationGracePeriodSeconds');
  if (entry !== undefined && !isNull(entry.value))
    return wholeAt(spec, 'terminationGracePeriodSeconds')?.value;
  return cx.lacks(spec, 'terminationGracePeriodSeconds') ? defaultGraceSeconds : undefined;
}

/** Two containers of a pod cannot have the same port of the host. */
function checkHostPorts(cx: Inspection, containers: readonly Part[]): void {
  const ports = containers.flatMap((container) => partsIn(container, 'ports'));
  cx.unique(
    ports,
    (port) => {
      const host = wholeAt(port, 'hostPort');
      if (host === undefined || host.value === 0) return undefined;
      const protocol = textAt(port, 'protocol')?.text ?? 'TCP';
      const address = textAt(port, 'hostIP')?.text ?? '';
      return { key: `${protocol} ${address} ${host.value}`, at: host.node };
    },
    (key) => `Two ports take the host's port ${key.replace(/ +/, ' ')}`,
  );
}

function checkSpecFields(cx: Inspection, spec: Part, restarts: Restarts): void {
  const deadline = given(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined && restarts === 'always') {
    cx.add('field-not-allowed', deadline, `The pods of a ${cx.resource.kind} have no activeDeadlineSeconds`);
  } else {
    cx.range(spec, 'activeDeadlineSeconds', 1, 2147483647, 'activeDeadlineSeconds');
  }
  checkDns(cx, spec);
  for (const alias of partsIn(spec, 'hostAliases')) {
    const ip = textAt(alias, 'ip');
    if (ip !== undefined && !isAddress(ip.text)) {
      cx.add('value-unsupported', ip.node, `The ip ${shown(ip.text)} of a host alias is not an address`);
    }
    for (const name of listIn(alias, 'hostnames')?.items ?? []) {
      const text = textOf(name);
      if (text !== undefined) cx.textForm(text, dnsSubdomain, 'Host name');
    }
  }
  for (const gate of partsIn(spec, 'readinessGates')) {
    const type = textAt(gate, 'conditionType');
    if (type !== undefined && type.text !== '')
      cx.textForm(type, qualifiedName, 'The conditionType of a readiness gate');
  }
  for (const gate of partsIn(spec, 'schedulingGates')) {
    const name = textAt(gate, 'name');
    if (name !== undefined) cx.textForm(name, qualifiedName, 'Scheduling gate');
  }
  const os = partIn(spec, 'os');
  if (os !== undefined) {
    cx.oneOf(os, 'name', ['linux', 'windows', ''], 'The os of the pods');
  }
}

function checkDns(cx: Inspection, spec: Part): void {
  const dns = partIn(spec, 'dnsConfig');
  const policy = textAt(spec, 'dnsPolicy');
  const servers = listIn(dns, 'nameservers');
  if (policy?.text === 'None' && cx.isCertain && !spec.map.open) {
    if (
      dns === undefined
        ? cx.lacks(spec, 'dnsConfig')
        : servers === undefined
          ? cx.lacks(dns, 'nameservers')
          : servers.items.length === 0
    ) {
      cx.add('field-not-allowed', policy.node, 'dnsPolicy is None, and dnsConfig names no server');
    }
  }
  if (dns === undefined) return;
  if (servers !== undefined && servers.items.length > 3) {
    cx.add(
      'number-out-of-range',
      cx.placeOf(dns, 'nameservers'),
      `dnsConfig names ${servers.items.length} servers, and 3 are allowed`,
    );
  }
  for (const item of servers?.items ?? []) {
    const text = textOf(item);
    if (text !== undefined && !isAddress(text.text)) {
      cx.add('value-unsupported', text.node, `The server ${shown(text.text)} of dnsConfig is not an address`);
    }
  }
  for (const item of listIn(dns, 'searches')?.items ?? []) {
    const text = textOf(item);
    if (text === undefined || text.text === '.') continue;
    const name = text.text.replace(/\.$/, '').replaceAll('_', 'x');
    const flaw = dnsSubdomain.flaw(name);
    if (flaw !== undefined)
      cx.add(
        'name-invalid',
        text.node,
        `Search domain ${shown(text.text)} is not ${dnsSubdomain.name}: ${flaw}`,
      );
  }
  for (const option of partsIn(dns, 'options')) {
    if (cx.lacksText(option, 'name')) cx.missing(option, 'name', 'The name of an option of dnsConfig');
  }
}

function checkNames(cx: Inspection, spec: Part): void {
  cx.form(spec, 'serviceAccountName', dnsSubdomain, 'The name of the service account');
  cx.form(spec, 'serviceAccount', dnsSubdomain, 'The name of the service account');
  cx.form(spec, 'nodeName', dnsSubdomain, 'The name of the node');
  cx.form(spec, 'hostname', dnsLabel, 'The host name of the pods');
  cx.form(spec, 'subdomain', dnsLabel, 'The subdomain of the pods');
  cx.form(spec, 'priorityClassName', dnsSubdomain, 'The name of the priority class');
  cx.form(spec, 'runtimeClassName', dnsSubdomain, 'The name of the runtime class');
  const runtime = textAt(spec, 'runtimeClassName');
  if (runtime?.text === '') cx.missing(spec, 'runtimeClassName', 'The name of the runtime class');
}
