import { dnsLabel, isAddress, isCidr, portName, qualifiedName } from '../../kube/names';
import {
  given,
  listIn,
  partIn,
  partsIn,
  textAt,
  textOf,
  textOrEmpty,
  wholeAt,
  type Part,
} from '../../kube/part';
import { entryOf, isScalar } from '../../yaml/node';
import { portFix } from './container';
import { byName, byText, shown, type Inspection } from './inspection';
import { checkLabels } from './metadata';

const port = 'port-out-of-range';

export function checkService(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) {
    if (cx.lacks(root, 'spec')) cx.add(port, cx.placeOf(root, 'spec'), 'The Service has no ports');
    return;
  }
  const type = textOrEmpty(spec, 'type');
  const headless = textAt(spec, 'clusterIP')?.text === 'None';
  const ports = partsIn(spec, 'ports');
  if (!headless && type !== undefined && type !== 'ExternalName') {
    if (cx.lacksItems(spec, 'ports') && cx.isCertain)
      cx.add(port, cx.placeOf(spec, 'ports'), 'The Service has no ports');
  }
  for (const item of ports) checkPort(cx, item, ports.length > 1, type);
  uniquePorts(cx, ports);
  checkLabels(cx, spec, 'selector', 'the selector');
  checkAddresses(cx, spec);
  checkByType(cx, spec, type);
  const seconds = wholeAt(partIn(spec, 'sessionAffinityConfig', 'clientIP'), 'timeoutSeconds');
  if (seconds !== undefined) cx.numberRange(seconds, 1, 86400, 'The timeoutSeconds of the session affinity');
}

function checkPort(cx: Inspection, item: Part, several: boolean, type: string | undefined): void {
  const number = wholeAt(item, 'port');
  if (number !== undefined) cx.numberRange(number, 1, 65535, 'The port of the Service', port);
  const target = wholeAt(item, 'targetPort');
  if (target !== undefined && target.value !== 0) cx.numberRange(target, 1, 65535, 'The targetPort', port);
  const targetName = textAt(item, 'targetPort');
  if (targetName !== undefined && targetName.text !== '') {
    cx.textForm(targetName, portName, 'The targetPort', {
      rule: port,
      fix: ({ node, text }) => portFix(node, text),
    });
  }
  const node = wholeAt(item, 'nodePort');
  if (node !== undefined && node.value !== 0) {
    if (type === 'ClusterIP' || type === '') {
      if (cx.isCertain)
        cx.add(
          'field-not-allowed',
          entryOf(item.map, 'nodePort') ?? item.place,
          'A Service of type ClusterIP has no nodePort',
        );
    }
  }
  const name = textAt(item, 'name');
  if (name !== undefined && name.text !== '') cx.textForm(name, dnsLabel, 'Port name');
  else if (several && cx.isCertain && cx.lacksText(item, 'name')) {
    cx.add(
      'required-value-missing',
      cx.placeOf(item, 'name'),
      'A port of a Service with several ports has no name',
    );
  }
  const protocol = textAt(item, 'appProtocol');
  if (protocol !== undefined) cx.textForm(protocol, qualifiedName, 'The appProtocol');
}

function uniquePorts(cx: Inspection, ports: readonly Part[]): void {
  cx.unique(
    ports,
    (item) => byName(textAt(item, 'name')),
    (key) => `Two ports of the Service are called ${shown(key)}`,
  );
  cx.unique(
    ports,
    (item) => {
      const number = wholeAt(item, 'port');
      const protocol = textAt(item, 'protocol')?.text ?? 'TCP';
      return number === undefined ? undefined : { key: `${number.value}/${protocol}`, at: number.node };
    },
    (key) => `Two ports of the Service are ${key}`,
  );
  cx.unique(
    ports,
    (item) => {
      const node = wholeAt(item, 'nodePort');
      const protocol = textAt(item, 'protocol')?.text ?? 'TCP';
      return node === undefined || node.value === 0
        ? undefined
        : { key: `${node.value}/${protocol}`, at: node.node };
    },
    (key) => `Two ports of the Service have the nodePort ${key}`,
  );
}

function checkAddresses(cx: Inspection, spec: Part): void {
  const cluster = textAt(spec, 'clusterIP');
  if (cluster !== undefined && !['', 'None'].includes(cluster.text) && !isAddress(cluster.text)) {
    cx.add(
      'value-unsupported',
      cluster.node,
      `The clusterIP ${shown(cluster.text)} is neither an address nor None`,
      {
        fixes: [cx.meant(cluster.node, ['None'])],
      },
    );
  }
  const family = listIn(spec, 'ipFamilies')?.items ?? [];
  cx.unique(
    family,
    (item) => byText(textOf(item)),
    (key) => `The IP family ${key} is named twice`,
  );
  for (const item of listIn(spec, 'externalIPs')?.items ?? []) {
    const text = textOf(item);
    if (text !== undefined && !isAddress(text.text))
      cx.add('value-unsupported', item, `The external address ${shown(text.text)} is not one`);
  }
}

/** Fields that only some types of Service have. */
function checkByType(cx: Inspection, spec: Part, type: string | undefined): void {
  const types = ['', 'ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'];
  if (type === undefined || !types.includes(type)) return;
  for (const item of listIn(spec, 'loadBalancerSourceRanges')?.items ?? []) {
    const text = textOf(item);
    if (text !== undefined && !isCidr(text.text.trim())) {
      cx.add(
        'value-unsupported',
        item,
        `The source range ${shown(text.text)} is no address with the length of its prefix`,
      );
    }
  }
  const loadBalancer = textAt(spec, 'loadBalancerClass');
  if (loadBalancer !== undefined) cx.textForm(loadBalancer, qualifiedName, 'The loadBalancerClass');
  if (!cx.isCertain) return;
  if (type !== 'LoadBalancer') {
    for (const key of ['loadBalancerSourceRanges', 'loadBalancerClass', 'allocateLoadBalancerNodePorts']) {
      const entry = given(spec, key);
      if (entry === undefined) continue;
      const list = listIn(spec, key);
      if (list !== undefined && list.items.length === 0) continue;
      cx.add('field-not-allowed', entry, `${key} is for a Service of type LoadBalancer only`);
    }
  }
  if (type === '' || type === 'ClusterIP' || type === 'ExternalName') {
    const external = given(spec, 'externalTrafficPolicy');
    const hasAddresses = (listIn(spec, 'externalIPs')?.items.length ?? 0) > 0;
    if (external !== undefined && isScalar(external.value) && external.value.text !== '' && !hasAddresses) {
      cx.add(
        'field-not-allowed',
        external,
        `externalTrafficPolicy is for a Service that can be reached from outside, and this one is of type ${type === '' ? 'ClusterIP' : type}`,
      );
    }
  }
  if (type === 'ExternalName' && cx.lacksText(spec, 'externalName'))
    cx.missing(spec, 'externalName', 'The externalName');
  const headless = textAt(spec, 'clusterIP');
  if (headless?.text === 'None' && (type === 'NodePort' || type === 'LoadBalancer')) {
    cx.add(
      'field-not-allowed',
      headless.node,
      `A Service of type ${type} has a clusterIP, and here it is None`,
    );
  }
}
