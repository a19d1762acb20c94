import {
  dnsLabel,
  dnsSubdomain,
  isAddress,
  isCidr,
  pathSegment,
  portName,
  type Form,
} from '../../kube/names';
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
  type Text,
} from '../../kube/part';
import { entryOf } from '../../yaml/node';
import { givenOf, shown, type Inspection } from './inspection';
import { checkSelector } from './selector';

const port = 'port-out-of-range';

const classAnnotation = 'kubernetes.io/ingress.class';

/** Hosts of an Ingress: `example.com`, or `*.example.com` for one more name before it. */
const host: Form = {
  name: 'a host name',
  flaw: (text) => {
    if (isAddress(text)) return 'it is an address';
    if (!text.includes('*')) return dnsSubdomain.flaw(text);
    return /^\*\.[^*]+$/.test(text)
      ? dnsSubdomain.flaw(text.slice(2))
      : '"*" is allowed as the whole of the first part';
  },
};

export function checkIngress(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  checkClass(cx, root, spec);
  if (cx.lacksItems(spec, 'rules') && cx.isCertain && cx.lacks(spec, 'defaultBackend'))
    cx.add(
      'required-value-missing',
      cx.placeOf(spec, 'rules'),
      'The Ingress has no rules and no defaultBackend',
    );
  const fallback = partIn(spec, 'defaultBackend');
  if (fallback !== undefined) checkBackend(cx, fallback);
  for (const rule of partsIn(spec, 'rules')) {
    cx.form(rule, 'host', host, 'The host of the Ingress');
    for (const path of partsIn(partIn(rule, 'http'), 'paths')) checkPath(cx, path);
  }
  for (const tls of partsIn(spec, 'tls')) {
    cx.form(tls, 'secretName', dnsSubdomain, 'Name of the Secret');
    for (const item of listIn(tls, 'hosts')?.items ?? []) {
      const text = textOf(item);
      if (text !== undefined) cx.textForm(text, host, 'The host of the certificate');
    }
  }
}

/** The class is a field today. The annotation that was there before it has to say the same when an Ingress is created. */
function checkClass(cx: Inspection, root: Part, spec: Part): void {
  cx.form(spec, 'ingressClassName', dnsSubdomain, 'Name of the IngressClass');
  const annotations = partIn(root, 'metadata', 'annotations');
  const old = textAt(annotations, classAnnotation);
  const today = textAt(spec, 'ingressClassName');
  if (old === undefined || annotations === undefined || today === undefined || !cx.isCertain) return;
  if (old.text === today.text) return;
  cx.add(
    'field-not-allowed',
    old.node,
    `The annotation ${classAnnotation} is ${shown(old.text)} and ingressClassName ${shown(today.text)}, and both have to be the same`,
    {
      related: [{ resource: cx.resource, at: today.node, message: 'ingressClassName' }],
      fixes: [cx.removal(annotations, classAnnotation, 'Remove the annotation')],
    },
  );
}

/** What a path that is matched by its text must not hold, since no request has it after it was cleaned. */
const uncleanPath = /\/\/|\/\.\/|\/\.\.\/|\/\.\.$|\/\.$|%2f/i;

function checkPath(cx: Inspection, path: Part): void {
  const type = textAt(path, 'pathType')?.text;
  const text = textOrEmpty(path, 'path');
  const node = entryOf(path.map, 'path') ?? path.place;
  if (text !== undefined && cx.isCertain) {
    const matched = type === 'Exact' || type === 'Prefix';
    if ((matched || text !== '') && !text.startsWith('/')) {
      if (matched || type === 'ImplementationSpecific')
        cx.add('value-unsupported', node, `The path ${shown(text)} does not start with "/"`);
    } else if (matched && uncleanPath.test(text)) {
      cx.add(
        'value-unsupported',
        node,
        `The path ${shown(text)} holds "//", "/./", "/../" or an encoded "/"`,
      );
    }
  }
  const backend = partIn(path, 'backend');
  if (backend !== undefined) checkBackend(cx, backend);
}

function checkBackend(cx: Inspection, backend: Part): void {
  const service = partIn(backend, 'service');
  const [, second] = givenOf(backend, ['service', 'resource']);
  if (second !== undefined && cx.isCertain) {
    cx.add('field-not-allowed', second, 'A backend has both a service and a resource, and takes one');
    return;
  }
  const other = partIn(backend, 'resource');
  if (other !== undefined) {
    for (const key of ['kind', 'name'])
      if (cx.lacksText(other, key)) cx.missing(other, key, `The ${key} of the resource of a backend`);
    cx.form(other, 'name', pathSegment, 'Name of the resource of a backend');
    cx.form(other, 'apiGroup', dnsSubdomain, 'The apiGroup of the resource of a backend');
  }
  if (service === undefined) {
    if (cx.isCertain && cx.lacks(backend, 'service') && cx.lacks(backend, 'resource'))
      cx.add('required-value-missing', backend.place, 'A backend has neither a service nor a resource');
    return;
  }
  cx.form(service, 'name', dnsLabel, 'Name of the Service');
  const own = partIn(service, 'port');
  if (own === undefined) {
    if (cx.lacks(service, 'port'))
      cx.add('required-value-missing', cx.placeOf(service, 'port'), 'The port of the Service is missing');
    return;
  }
  const number = wholeAt(own, 'number');
  const name = textAt(own, 'name');
  const hasName = name !== undefined && name.text !== '';
  const hasNumber = number !== undefined && number.value !== 0;
  if (hasName && hasNumber && cx.isCertain)
    cx.add(
      'field-not-allowed',
      name.node,
      'The port of a backend has both a name and a number, and takes one',
    );
  else if (hasName) cx.textForm(name, portName, 'The port of the Service', { rule: port });
  else if (
    !hasNumber &&
    cx.isCertain &&
    cx.lacksText(own, 'name') &&
    (number?.value === 0 || cx.lacks(own, 'number'))
  )
    cx.add('required-value-missing', own.place, 'The port of the Service has neither a name nor a number');
}

export function checkNetworkPolicy(cx: Inspection, root: Part): void {
  const spec = partIn(root, 'spec');
  if (spec === undefined) return;
  checkSelector(cx, partIn(spec, 'podSelector'), 'the podSelector');
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    for (const rule of partsIn(spec, direction)) {
      for (const item of partsIn(rule, 'ports')) checkPolicyPort(cx, item);
      for (const peer of partsIn(rule, peers)) checkPeer(cx, peer);
    }
  }
  const [, , third] = listIn(spec, 'policyTypes')?.items ?? [];
  if (third !== undefined && cx.isCertain)
    cx.add('field-not-allowed', third, 'There are more than two policyTypes');
}

function checkPolicyPort(cx: Inspection, item: Part): void {
  const number = wholeAt(item, 'port');
  const name = textAt(item, 'port');
  if (number !== undefined) cx.numberRange(number, 1, 65535, 'The port of the policy', port);
  if (name !== undefined) cx.textForm(name, portName, 'The port of the policy', { rule: port });
  const end = wholeAt(item, 'endPort');
  if (end === undefined || !cx.isCertain) return;
  if (name !== undefined)
    cx.add(
      'field-not-allowed',
      end.node,
      `endPort does not go with the port ${shown(name.text)}, which is a name`,
    );
  else if (cx.lacks(item, 'port'))
    cx.add('required-value-missing', end.node, 'endPort is there without the port that the range starts at');
  else if (number !== undefined && end.value < number.value)
    cx.add('number-out-of-range', end.node, `endPort is ${end.value}, below the port ${number.value}`);
}

function checkPeer(cx: Inspection, peer: Part): void {
  const selects = givenOf(peer, ['podSelector', 'namespaceSelector', 'ipBlock']);
  const block = given(peer, 'ipBlock');
  if (cx.isCertain && selects.length === 0 && !peer.map.open)
    cx.add('required-value-missing', peer.place, 'A peer of the policy selects nothing');
  if (cx.isCertain && selects.length > 1 && block !== undefined)
    cx.add('field-not-allowed', block, 'An ipBlock does not go with a selector in the same peer');
  checkSelector(cx, partIn(peer, 'podSelector'), 'the podSelector');
  checkSelector(cx, partIn(peer, 'namespaceSelector'), 'the namespaceSelector');
  const range = partIn(peer, 'ipBlock');
  if (range === undefined) return;
  // An empty cidr is as good as none, which is a matter of the schema.
  const cidr = textAt(range, 'cidr');
  if (cidr?.text !== '') checkCidr(cx, cidr);
  for (const item of listIn(range, 'except')?.items ?? []) checkCidr(cx, textOf(item));
}

function checkCidr(cx: Inspection, text: Text | undefined): void {
  if (text === undefined || isCidr(text.text)) return;
  cx.add('value-unsupported', text.node, `${shown(text.text)} is no range of addresses, such as 10.0.0.0/8`);
}
