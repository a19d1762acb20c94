/**
 * The forms that names, keys and values have in Kubernetes, as `k8s.io/apimachinery/pkg/util/validation` checks them.
 */
export interface Form {
  /** What the form is called: `an RFC 1123 label`. */
  readonly name: string;
  /** What is wrong with a text, for the end of a sentence; `undefined` when nothing is. */
  flaw(text: string): string | undefined;
}

const lowerRun = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const label1123 = new RegExp(`^${lowerRun}$`);
const subdomain1123 = new RegExp(`^${lowerRun}(\\.${lowerRun})*$`);
const qualified = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const encoder = new TextEncoder();

/** The API server counts bytes. */
function bytes(text: string): number {
  return encoder.encode(text).length;
}

function tooLong(text: string, most: number): string | undefined {
  // No UTF-16 unit takes more than three bytes in UTF-8.
  if (text.length * 3 <= most) return undefined;
  const length = bytes(text);
  return length > most ? `it has ${length} characters, and ${most} are allowed` : undefined;
}

/** Names of containers, volumes, namespaces and Services. */
export const dnsLabel: Form = {
  name: 'an RFC 1123 label',
  flaw: (text) =>
    tooLong(text, 63) ??
    (label1123.test(text)
      ? undefined
      : 'lower case letters, digits and "-" are allowed, with a letter or digit at both ends'),
};

/** Names of most objects. */
export const dnsSubdomain: Form = {
  name: 'an RFC 1123 subdomain',
  flaw: (text) =>
    tooLong(text, 253) ??
    (subdomain1123.test(text)
      ? undefined
      : 'lower case letters, digits, "-" and "." are allowed, with a letter or digit at both ends of each part'),
};

/** Names that only have to fit into a path of the API. */
export const pathSegment: Form = {
  name: 'a segment of a path',
  flaw: (text) =>
    text === '.' || text === '..'
      ? `it is "${text}"`
      : /[/%]/.test(text)
        ? 'neither "/" nor "%" is allowed'
        : undefined,
};

/** Label keys, names of resources, topology keys: a name, with a subdomain and a slash before it or not. */
export const qualifiedName: Form = {
  name: 'a qualified name',
  flaw: (text) => {
    const parts = text.split('/');
    if (parts.length > 2) return 'more than one "/" is in it';
    const [first = '', second] = parts;
    const name = second ?? first;
    if (second !== undefined) {
      if (first === '') return 'nothing stands before its "/"';
      const prefix = dnsSubdomain.flaw(first);
      if (prefix !== undefined) return `of its prefix, ${prefix}`;
    }
    if (name === '') return second === undefined ? 'it is empty' : 'nothing stands behind its "/"';
    if (bytes(name) > 63) return `its name has ${bytes(name)} characters, and 63 are allowed`;
    return qualified.test(name)
      ? undefined
      : 'letters, digits, "-", "_" and "." are allowed, with a letter or digit at both ends';
  },
};

/** Keys of annotations are qualified names whose prefix may have capitals. */
export const annotationKey: Form = {
  name: 'a qualified name',
  flaw: (text) => qualifiedName.flaw(text.toLowerCase()),
};

export const labelValue: Form = {
  name: 'a label value',
  flaw: (text) =>
    tooLong(text, 63) ??
    (text === '' || qualified.test(text)
      ? undefined
      : 'letters, digits, "-", "_" and "." are allowed, with a letter or digit at both ends'),
};

/** Names of container ports, and of the ports that probes and Services ask for (IANA service names). */
export const portName: Form = {
  name: 'a port name',
  flaw: (text) => {
    if (text.length > 15) return `it has ${text.length} characters, and 15 are allowed`;
    if (!/^[-a-z0-9]+$/.test(text)) return 'lower case letters, digits and "-" are allowed';
    if (!/[a-z]/.test(text)) return 'it has no letter';
    if (text.includes('--')) return 'two "-" stand side by side';
    return /^-|-$/.test(text) ? 'a "-" stands at its end' : undefined;
  },
};

/** Keys of ConfigMaps and Secrets. */
export const configKey: Form = {
  name: 'a key of a ConfigMap or Secret',
  flaw: (text) =>
    tooLong(text, 253) ??
    (!/^[-._a-zA-Z0-9]+$/.test(text)
      ? 'letters, digits, "-", "_" and "." are allowed'
      : text === '.' || text.startsWith('..')
        ? `it ${text === '.' ? 'is "."' : 'starts with ".."'}`
        : undefined),
};

/** Since Kubernetes 1.30 everything printable but `=`. */
export const environmentName: Form = {
  name: 'the name of an environment variable',
  flaw: (text) =>
    /^[ -<>-~]+$/.test(text) ? undefined : 'printable ASCII characters other than "=" are allowed',
};

/** `25%`, for budgets and rolling updates. */
export function isPercent(text: string): boolean {
  return /^[0-9]+%$/.test(text);
}

/** Addresses as the API server takes them: IPv4 without leading zeros, or IPv6 without a zone. */
export function isAddress(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2 || !text.includes(':')) return false;
  let groups = 0;
  for (const [side, half] of halves.entries()) {
    if (half === '') continue;
    const parts = half.split(':');
    for (const [index, part] of parts.entries()) {
      const isLast = side === halves.length - 1 && index === parts.length - 1;
      if (isLast && isIpv4(part)) groups += 2;
      else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups += 1;
      else return false;
    }
  }
  return halves.length === 2 ? groups <= 7 : groups === 8;
}

/** An address with the length of its prefix. */
export function isCidr(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  if (rest.length > 0 || length === undefined || !/^(0|[1-9]\d{0,2})$/.test(length)) return false;
  return isIpv4(address) ? Number(length) <= 32 : isIpv6(address) && Number(length) <= 128;
}

/**
 * The text that a misspelt name was probably meant to be: lower case, `-` for what is not allowed. `undefined` when that
 * is no name either, or the same.
 */
export function repairedName(form: Form, text: string): string | undefined {
  const repaired = text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(form === dnsSubdomain ? /$^/ : /\./g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  return repaired === text || repaired === '' || form.flaw(repaired) !== undefined ? undefined : repaired;
}
