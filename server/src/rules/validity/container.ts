import { configKey, dnsLabel, dnsSubdomain, environmentName, portName, repairedName } from '../../kube/names';
import {
  given,
  isTrue,
  listIn,
  partIn,
  partsIn,
  textAt,
  textOf,
  textOrEmpty,
  wholeAt,
  type Part,
} from '../../kube/part';
import { parseQuantity } from '../../kube/quantity';
import { entryOf, isNull, isScalar } from '../../yaml/node';
import { nearest } from '../nearest';
import { listWords } from '../placement/words';
import { byName, byText, givenOf, looksLike, shown, type Inspection, type ValidityRule } from './inspection';
import { checkResources } from './resources';
import type { Volumes } from './volume';

/** What a container is checked against. */
export interface Surroundings {
  readonly volumes: Volumes;
  /** `undefined` when it is not known. */
  readonly graceSeconds: number | undefined;
  readonly hostNetwork: boolean;
}

export type Role = 'main' | 'init' | 'sidecar' | 'ephemeral';

export function checkContainer(cx: Inspection, container: Part, role: Role, around: Surroundings): void {
  const name = textAt(container, 'name')?.text ?? '';
  cx.container = name === '' ? undefined : name;
  const title = name === '' ? 'The container' : `Container ${shown(name)}`;
  cx.form(container, 'name', dnsLabel, 'Container name', {
    fix: ({ node, text }) => {
      const repaired = repairedName(dnsLabel, text);
      return repaired === undefined ? undefined : cx.write(node, repaired, `Name it ${repaired}`);
    },
  });
  checkImage(cx, container, title);
  checkPorts(cx, container, title, around);
  for (const variable of partsIn(container, 'env')) checkVariable(cx, variable, title);
  for (const source of partsIn(container, 'envFrom')) checkEnvironmentSource(cx, source, title);
  checkResources(cx, partIn(container, 'resources'), title);
  checkMounts(cx, container, title, around.volumes);
  checkProbes(cx, container, role, title);
  checkLifecycle(cx, container, role, title, around);
  checkSecurity(cx, partIn(container, 'securityContext'), title);
  cx.oneOf(
    container,
    'restartPolicy',
    ['Always', 'Never', 'OnFailure'],
    `The restartPolicy of ${lower(title)}`,
  );
  for (const policy of partsIn(container, 'resizePolicy')) {
    cx.oneOf(policy, 'resourceName', ['cpu', 'memory'], `The resizePolicy of ${lower(title)}`);
  }
  cx.unique(
    partsIn(container, 'resizePolicy'),
    (policy) => byText(textAt(policy, 'resourceName')),
    (key) => `${title} has two resizePolicies for ${key}`,
  );
  cx.container = undefined;
}

function lower(title: string): string {
  return title.charAt(0).toLowerCase() + title.slice(1);
}

function checkImage(cx: Inspection, container: Part, title: string): void {
  const image = textAt(container, 'image');
  if (cx.lacksText(container, 'image')) {
    cx.missing(container, 'image', `The image of ${lower(title)}`);
  } else if (image !== undefined && image.text.trim() !== image.text) {
    const fix = cx.write(image.node, image.text.trim(), 'Write it without them');
    cx.addForPod(
      'value-unsupported',
      image.node,
      `The image of ${lower(title)} has spaces or line breaks at an end`,
      {
        fixes: [fix],
      },
    );
  }
}

function checkPorts(cx: Inspection, container: Part, title: string, around: Surroundings): void {
  const ports = partsIn(container, 'ports');
  for (const port of ports) {
    const name = textAt(port, 'name');
    if (name !== undefined && name.text !== '') {
      cx.textForm(name, portName, `Port name`, { fix: ({ text }) => renamePort(cx, container, text) });
    }
    const number = wholeAt(port, 'containerPort');
    if (number !== undefined) {
      cx.numberRange(number, 1, 65535, `A containerPort of ${lower(title)}`, 'port-out-of-range');
    }
    const host = wholeAt(port, 'hostPort');
    if (host !== undefined && host.value !== 0) {
      cx.numberRange(host, 1, 65535, `A hostPort of ${lower(title)}`, 'port-out-of-range');
      if (around.hostNetwork && cx.isCertain && number !== undefined && host.value !== number.value) {
        cx.add(
          'port-out-of-range',
          host.node,
          `On the host's network the hostPort ${host.value} must be the containerPort, ${number.value}`,
          { fixes: [cx.write(host.node, number.value, `Write ${number.value}`)] },
        );
      }
    }
  }
  cx.unique(
    ports,
    (port) => byName(textAt(port, 'name')),
    (key) => `Two ports of ${lower(title)} are called ${shown(key)}`,
  );
}

/** Takes the name along into the probes of the container. */
function renamePort(cx: Inspection, container: Part, text: string) {
  const repaired = repairedName(portName, text);
  if (repaired === undefined) return undefined;
  const nodes = [
    ...partsIn(container, 'ports').flatMap((port) => textAt(port, 'name') ?? []),
    ...probeKeys.flatMap((key) =>
      ['httpGet', 'tcpSocket'].flatMap((handler) => textAt(partIn(container, key, handler), 'port') ?? []),
    ),
  ].filter((found) => found.text === text);
  const fixes = nodes.map(({ node }) => cx.write(node, repaired, ''));
  if (fixes.some((fix) => fix === undefined)) return undefined;
  return { title: `Name it ${repaired}`, safe: false, edits: fixes.flatMap((fix) => fix?.edits ?? []) };
}

/** The parts of the pod that the downward API hands to a variable (`pkg/apis/core/validation`). */
const fieldPaths: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

const fieldFileParts: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

const resourceParts: readonly string[] = [
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
];

const sources: readonly string[] = [
  'fieldRef',
  'resourceFieldRef',
  'configMapKeyRef',
  'secretKeyRef',
  'fileKeyRef',
];

function checkVariable(cx: Inspection, variable: Part, title: string): void {
  const name = textAt(variable, 'name');
  if (name !== undefined && name.text !== '') cx.textForm(name, environmentName, 'Variable name');
  const from = partIn(variable, 'valueFrom');
  if (from === undefined) return;
  const who = name === undefined || name.text === '' ? 'A variable' : `Variable ${shown(name.text)}`;
  const value = given(variable, 'value');
  if (cx.isCertain && value !== undefined && textOf(value.value)?.text !== '') {
    cx.add('env-source-invalid', value, `${who} of ${lower(title)} has both a value and valueFrom`, {
      related: [{ resource: cx.resource, at: from.place, message: 'valueFrom' }],
    });
  }
  const present = givenOf(from, sources);
  if (cx.isCertain && !from.map.open) {
    if (present.length === 0 && !hasMisspelt(from, sources)) {
      cx.add('env-source-invalid', from.place, `valueFrom of ${lower(who)} names no source`);
    } else if (present.length > 1) {
      cx.add(
        'env-source-invalid',
        present[1] ?? from.place,
        `valueFrom of ${lower(who)} has ${present.length} sources, ${listWords(present.map(({ key }) => key.text))}, and takes one`,
      );
    }
  }
  checkKeyReference(cx, partIn(from, 'configMapKeyRef'), who);
  checkKeyReference(cx, partIn(from, 'secretKeyRef'), who);
  checkFieldReference(cx, partIn(from, 'fieldRef'), who, 'variable');
  checkResourceReference(cx, partIn(from, 'resourceFieldRef'), who);
}

/** Whether a key that is no known one is near to one: the schema's finding. */
export function hasMisspelt(part: Part, known: readonly string[]): boolean {
  return part.map.entries.some(
    ({ key, value }) =>
      !isNull(value) && !known.includes(key.text) && known.some((other) => looksLike(key.text, other)),
  );
}

function checkKeyReference(cx: Inspection, reference: Part | undefined, who: string): void {
  if (reference === undefined) return;
  referenceName(cx, reference, `The name of the object that ${lower(who)} reads`);
  const key = textAt(reference, 'key');
  if (key !== undefined && key.text !== '')
    cx.textForm(key, configKey, 'Key', { rule: 'env-source-invalid' });
}

/** Names of referenced ConfigMaps and Secrets. */
function referenceName(cx: Inspection, reference: Part, what: string): void {
  const name = textAt(reference, 'name');
  if (name !== undefined && name.text !== '')
    cx.textForm(name, dnsSubdomain, what, { rule: 'env-source-invalid' });
  else if (cx.lacksText(reference, 'name')) cx.missing(reference, 'name', what, 'env-source-invalid');
}

/** `metadata.labels['key']` has a subscript, the others have none. */
export function checkFieldReference(
  cx: Inspection,
  reference: Part | undefined,
  who: string,
  into: 'variable' | 'file',
): void {
  if (reference === undefined) return;
  const rule: ValidityRule = into === 'file' ? 'volume-source-invalid' : 'env-source-invalid';
  const version = textAt(reference, 'apiVersion');
  if (version !== undefined && version.text !== '' && version.text !== 'v1') {
    cx.add(
      rule,
      version.node,
      `${who} reads a field by the version ${shown(version.text)}, and only v1 is known`,
      {
        fixes: [cx.write(version.node, 'v1', 'Write v1')],
      },
    );
    return;
  }
  const path = textAt(reference, 'fieldPath');
  if (path === undefined || path.text === '') return;
  const known = into === 'file' ? fieldFileParts : fieldPaths;
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path.text);
  if (subscript !== null) return;
  if (known.includes(path.text)) return;
  cx.add(rule, path.node, `${who} reads ${shown(path.text)}, which is no field that a ${into} can have`, {
    fixes: [cx.meant(path.node, known)],
  });
}

export function checkResourceReference(
  cx: Inspection,
  reference: Part | undefined,
  who: string,
  rule: ValidityRule = 'env-source-invalid',
): void {
  if (reference === undefined) return;
  const resource = textAt(reference, 'resource');
  if (resource === undefined || resource.text === '') return;
  if (!resourceParts.includes(resource.text) && !/^(limits|requests)\.hugepages-/.test(resource.text)) {
    cx.textOneOf(resource, resourceParts, `The resource that ${lower(who)} reads`, rule);
    return;
  }
  checkDivisor(cx, reference, resource.text, who, rule);
}

const divisors: Readonly<Record<string, readonly string[]>> = {
  cpu: ['1m', '1'],
  memory: ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'],
};

function checkDivisor(
  cx: Inspection,
  reference: Part,
  resource: string,
  who: string,
  rule: ValidityRule,
): void {
  const node = entryOf(reference.map, 'divisor')?.value;
  if (!isScalar(node) || node.unknown || isNull(node)) return;
  const quantity = parseQuantity(node.text);
  if (quantity === undefined || quantity.nanos === 0n) return;
  const allowed = (resource.endsWith('.cpu') ? divisors['cpu'] : divisors['memory']) ?? [];
  if (allowed.some((text) => parseQuantity(text)?.nanos === quantity.nanos)) return;
  cx.add(rule, node, `${who} divides ${resource} by ${node.text}, and ${listWords(allowed)} are known`);
}

function checkEnvironmentSource(cx: Inspection, source: Part, title: string): void {
  const present = givenOf(source, ['configMapRef', 'secretRef']);
  if (cx.isCertain && !source.map.open) {
    if (present.length === 0 && !hasMisspelt(source, ['configMapRef', 'secretRef'])) {
      cx.add('env-source-invalid', source.place, `An item of envFrom of ${lower(title)} names no source`);
    } else if (present.length > 1) {
      cx.add(
        'env-source-invalid',
        present[1] ?? source.place,
        `An item of envFrom of ${lower(title)} has both a configMapRef and a secretRef, and takes one`,
      );
    }
  }
  for (const key of ['configMapRef', 'secretRef']) {
    const reference = partIn(source, key);
    if (reference !== undefined)
      referenceName(cx, reference, `The name of the ${key.slice(0, -3)} in envFrom`);
  }
  const prefix = textAt(source, 'prefix');
  if (prefix !== undefined && prefix.text !== '') cx.textForm(prefix, environmentName, 'Prefix in envFrom');
}

function checkMounts(cx: Inspection, container: Part, title: string, volumes: Volumes): void {
  const mounts = partsIn(container, 'volumeMounts');
  const devices = partsIn(container, 'volumeDevices');
  const check = (mount: Part, what: string): void => {
    const name = textAt(mount, 'name');
    if (name === undefined || name.text === '' || volumes.names === undefined || volumes.names.has(name.text))
      return;
    const near = nearest(name.text, volumes.names);
    cx.add(
      'volume-mount-unknown',
      name.node,
      `${title} has a ${what} ${shown(name.text)}, and the pod has no volume of that name`,
      { fixes: [near === undefined ? undefined : cx.write(name.node, near, `Name it ${near}`)] },
    );
  };
  for (const mount of mounts) {
    check(mount, 'volumeMount');
    checkSubPath(cx, mount, 'subPath');
    checkSubPath(cx, mount, 'subPathExpr');
  }
  for (const device of devices) {
    check(device, 'volumeDevice');
    const path = textAt(device, 'devicePath');
    if (path !== undefined && climbs(path.text)) {
      cx.add('volume-source-invalid', path.node, `The devicePath ${shown(path.text)} has ".." in it`);
    }
    const name = textAt(device, 'name');
    if (name !== undefined && cx.isCertain && volumes.others.has(name.text)) {
      cx.add(
        'volume-source-invalid',
        name.node,
        `${title} has volume ${shown(name.text)} as a device, which only a claim can be`,
      );
    }
  }
  cx.unique(
    mounts,
    (mount) => byName(textAt(mount, 'mountPath')),
    (path) => `${title} mounts two volumes at ${shown(path)}`,
  );
  cx.unique(
    devices,
    (device) => byName(textAt(device, 'devicePath')),
    (path) => `${title} has two devices at ${shown(path)}`,
  );
}

function climbs(path: string): boolean {
  return path.split('/').includes('..');
}

function checkSubPath(cx: Inspection, mount: Part, key: string): void {
  const path = textAt(mount, key);
  if (path === undefined || path.text === '') return;
  if (path.text.startsWith('/')) {
    cx.add(
      'volume-source-invalid',
      path.node,
      `The ${key} ${shown(path.text)} starts with "/", and is relative`,
      {
        fixes: [cx.write(path.node, path.text.replace(/^\/+/, ''), 'Remove the "/"')],
      },
    );
  } else if (climbs(path.text)) {
    cx.add('volume-source-invalid', path.node, `The ${key} ${shown(path.text)} has ".." in it`);
  }
}

const probeKeys = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;
const handlers: readonly string[] = ['httpGet', 'tcpSocket', 'exec', 'grpc'];
const timings: readonly string[] = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
];

function checkProbes(cx: Inspection, container: Part, role: Role, title: string): void {
  for (const key of probeKeys) {
    const entry = given(container, key);
    const probe = partIn(container, key);
    if (entry === undefined || probe === undefined) continue;
    const what = `The ${key} of ${lower(title)}`;
    if (role === 'init' && cx.isCertain && !container.map.open) {
      cx.add(
        'probe-invalid',
        entry,
        `${what} is on an init container, which may have it with restartPolicy Always only`,
      );
      continue;
    }
    checkHandler(cx, probe, what, 'probe-invalid', handlers);
    for (const timing of timings)
      cx.range(probe, timing, 0, undefined, `${timing} of ${lower(what)}`, 'probe-invalid');
    const success = wholeAt(probe, 'successThreshold');
    if (key !== 'readinessProbe' && success !== undefined && success.value > 1) {
      cx.add(
        'probe-invalid',
        success.node,
        `successThreshold of ${lower(what)} is ${success.value}, and only 1 is allowed`,
        {
          fixes: [cx.write(success.node, 1, 'Write 1')],
        },
      );
    }
    const grace = given(probe, 'terminationGracePeriodSeconds');
    if (grace !== undefined && key === 'readinessProbe') {
      cx.add(
        'probe-invalid',
        grace,
        `${what} has a terminationGracePeriodSeconds, and nothing is ended by it`,
      );
    } else {
      cx.range(
        probe,
        'terminationGracePeriodSeconds',
        1,
        undefined,
        `terminationGracePeriodSeconds of ${lower(what)}`,
        'probe-invalid',
      );
    }
  }
}

/** A handler of a probe or a lifecycle hook: exactly one of its kinds. */
function checkHandler(
  cx: Inspection,
  part: Part,
  what: string,
  rule: ValidityRule,
  kinds: readonly string[],
): void {
  const present = givenOf(part, kinds);
  if (cx.isCertain && !part.map.open) {
    if (present.length === 0 && !hasMisspelt(part, kinds)) {
      cx.add(rule, part.place, `${what} has no handler: none of ${listWords(kinds)} has a value`);
    } else if (present.length > 1) {
      cx.add(
        rule,
        present[1] ?? part.place,
        `${what} has ${present.length} handlers, ${listWords(present.map(({ key }) => key.text))}, and takes one`,
      );
    }
  }
  const exec = partIn(part, 'exec');
  if (exec !== undefined) {
    const command = entryOf(exec.map, 'command');
    const list = listIn(exec, 'command');
    if (list === undefined ? cx.lacks(exec, 'command') : list.items.length === 0 && !list.open) {
      cx.add(rule, command ?? exec.place, `${what} runs no command`);
    }
  }
  const http = partIn(part, 'httpGet');
  checkHandlerPort(cx, http, what, rule);
  for (const header of partsIn(http, 'httpHeaders')) {
    const name = textAt(header, 'name');
    if (name !== undefined && !/^[-A-Za-z0-9]+$/.test(name.text)) {
      cx.add(
        rule,
        name.node,
        `${what} sends a header ${shown(name.text)}; letters, digits and "-" are allowed`,
      );
    }
  }
  checkHandlerPort(cx, partIn(part, 'tcpSocket'), what, rule);
  const grpc = wholeAt(partIn(part, 'grpc'), 'port');
  if (grpc !== undefined) cx.numberRange(grpc, 1, 65535, `The port of ${lower(what)}`, rule);
}

/** A number from 1 to 65535, or the name of a port. */
function checkHandlerPort(cx: Inspection, part: Part | undefined, what: string, rule: ValidityRule): void {
  if (part === undefined) return;
  const number = wholeAt(part, 'port');
  if (number !== undefined) {
    cx.numberRange(number, 1, 65535, `The port of ${lower(what)}`, rule);
    return;
  }
  const name = textAt(part, 'port');
  if (name !== undefined && name.text !== '')
    cx.textForm(name, portName, `The port of ${lower(what)}`, {
      rule,
      fix: ({ text }) => portFix(name.node, text),
    });
}

/** `"8000"` was meant to be the number. */
export function portFix(node: Parameters<Inspection['write']>[0], text: string) {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65535 && node.style !== 'plain') {
    const { start, end } = node;
    if (node.borrowed) return undefined;
    return { title: `Write the number ${text}`, safe: false, edits: [{ start, end, newText: text }] };
  }
  return undefined;
}

const hooks: readonly string[] = ['exec', 'httpGet', 'tcpSocket', 'sleep'];

function checkLifecycle(
  cx: Inspection,
  container: Part,
  role: Role,
  title: string,
  { graceSeconds }: Surroundings,
): void {
  const entry = given(container, 'lifecycle');
  const lifecycle = partIn(container, 'lifecycle');
  if (entry === undefined || lifecycle === undefined) return;
  if (role === 'init' && cx.isCertain && !container.map.open) {
    cx.add(
      'field-not-allowed',
      entry,
      `The lifecycle of ${lower(title)} is on an init container, which may have one with restartPolicy Always only`,
    );
    return;
  }
  for (const key of ['postStart', 'preStop']) {
    const hook = partIn(lifecycle, key);
    if (hook === undefined) continue;
    checkHandler(cx, hook, `The ${key} hook of ${lower(title)}`, 'probe-invalid', hooks);
    const seconds = wholeAt(partIn(hook, 'sleep'), 'seconds');
    if (seconds === undefined) continue;
    if (seconds.value < 0) {
      cx.add(
        'prestop-longer-than-grace',
        seconds.node,
        `The ${key} hook of ${lower(title)} sleeps ${seconds.value} s`,
      );
    } else if (graceSeconds !== undefined && cx.isCertain && seconds.value > graceSeconds) {
      cx.add(
        'prestop-longer-than-grace',
        seconds.node,
        `The ${key} hook of ${lower(title)} sleeps ${seconds.value} s, and terminationGracePeriodSeconds is ${graceSeconds}`,
      );
    }
  }
}

const seccompTypes: readonly string[] = ['Localhost', 'RuntimeDefault', 'Unconfined'];

/** The security context of a container or of a pod. */
export function checkSecurity(cx: Inspection, security: Part | undefined, title: string): void {
  if (security === undefined) return;
  for (const key of ['runAsUser', 'runAsGroup', 'fsGroup']) {
    cx.range(security, key, 0, 2147483647, `${key} of ${lower(title)}`, 'security-context-invalid');
  }
  for (const item of listIn(security, 'supplementalGroups')?.items ?? []) {
    if (isScalar(item) && typeof item.value === 'number' && (item.value < 0 || item.value > 2147483647)) {
      cx.add(
        'security-context-invalid',
        item,
        `A supplemental group of ${lower(title)} is ${item.value}, and 0 to 2147483647 is allowed`,
      );
    }
  }
  const seccomp = partIn(security, 'seccompProfile');
  if (seccomp !== undefined) {
    const type = textOrEmpty(seccomp, 'type');
    const profile = given(seccomp, 'localhostProfile');
    if (type === 'Localhost' && cx.lacks(seccomp, 'localhostProfile')) {
      cx.missing(
        seccomp,
        'localhostProfile',
        `The localhostProfile of ${lower(title)}`,
        'security-context-invalid',
      );
    } else if (
      type !== undefined &&
      type !== 'Localhost' &&
      seccompTypes.includes(type) &&
      profile !== undefined &&
      cx.isCertain
    ) {
      cx.add(
        'security-context-invalid',
        profile,
        `${title} has a localhostProfile, and a seccompProfile of type ${type}, which takes none`,
      );
    }
    const path = textOf(profile?.value);
    if (path !== undefined && (path.text.startsWith('/') || climbs(path.text))) {
      cx.add(
        'security-context-invalid',
        path.node,
        `The localhostProfile ${shown(path.text)} is not a relative path below the kubelet's own`,
      );
    }
  }
  checkEscalation(cx, security, title);
  for (const sysctl of partsIn(security, 'sysctls')) {
    const name = textAt(sysctl, 'name');
    if (name !== undefined && name.text !== '' && !isSysctl(name.text)) {
      cx.add('security-context-invalid', name.node, `Sysctl ${shown(name.text)} has not the form of one`);
    }
  }
  cx.unique(
    partsIn(security, 'sysctls'),
    (sysctl) => {
      const name = textAt(sysctl, 'name');
      return name === undefined || name.text === ''
        ? undefined
        : { key: name.text.replaceAll('/', '.'), at: name.node };
    },
    (key) => `Sysctl ${shown(key)} is set twice`,
  );
}

function isSysctl(name: string): boolean {
  return (
    name.length <= 253 && /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/.test(name)
  );
}

/** What is privileged, or may administer the system, cannot be kept from escalating. */
function checkEscalation(cx: Inspection, security: Part, title: string): void {
  const entry = given(security, 'allowPrivilegeEscalation');
  if (entry === undefined || !isScalar(entry.value) || entry.value.unknown || entry.value.value !== false)
    return;
  if (!cx.isCertain) return;
  const added = listIn(partIn(security, 'capabilities'), 'add')?.items ?? [];
  const isAdmin = added.some((item) => textOf(item)?.text === 'CAP_SYS_ADMIN');
  if (isTrue(security, 'privileged')) {
    cx.add(
      'security-context-invalid',
      entry.value,
      `${title} is privileged, and allowPrivilegeEscalation is false`,
    );
  } else if (isAdmin) {
    cx.add(
      'security-context-invalid',
      entry.value,
      `${title} has CAP_SYS_ADMIN, and allowPrivilegeEscalation is false`,
    );
  }
}
