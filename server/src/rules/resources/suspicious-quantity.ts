import { containers, readAmounts, type ResourceAmount } from '../../kube/containers';
import { podTemplates } from '../../kube/pod-carriers';
import { compareQuantities, parseQuantity, quantityOf, toNumber, type Quantity } from '../../kube/quantity';
import type { Resource } from '../../kube/resource';
import { replaceScalar } from '../../yaml/edit';
import { isScalar, itemsIn, mapIn, scalarIn, textIn, type MapNode, type ScalarNode } from '../../yaml/node';
import { defineRule, type Fix, type Report } from '../rule';
import { containerField, containerTitle, refusedObject, scalarLike, soleAmount } from './wording';

/** No GPU or Neuron instance type of EC2 has as many cores, so without `m` it is a slip (`500` for `500m`). */
const mostCores = 256;
/** No container starts in less memory, whatever it runs. */
const leastBytes = 1 << 20;

export default defineRule({
  id: 'suspicious-quantity',
  summary: 'A quantity with the wrong unit, or none, is another number than it looks like',
  severity: 'warning',
  needs: 'document',
  kinds: ['pod-carrier'],
  fixable: 'suggest',
  check(resource, { report }) {
    const judgeBoth = (
      who: string,
      resources: MapNode | undefined,
      container: { readonly container?: string },
    ): void => {
      const halves: Halves = {
        request: readAmounts(mapIn(resources, 'requests')),
        limit: readAmounts(mapIn(resources, 'limits')),
      };
      for (const half of ['request', 'limit'] as const) {
        for (const amount of halves[half]) {
          const { value } = amount.entry;
          if (!isScalar(value)) continue;
          const found = suspect(amount.name, value);
          if (found === undefined) continue;
          const isReserved = half === 'request' || soleAmount(halves.request, amount.name) === undefined;
          report({
            ...told(
              resource,
              `${who} has ${value.text} as its ${amount.name} ${half}`,
              found,
              value,
              consequence(amount.name, found, half, isReserved),
            ),
            fixes: found.corrections.map((correction) => fixOf(resource, halves, half, amount, correction)),
            ...container,
          });
        }
      }
    };
    for (const template of podTemplates(resource)) {
      const all = containers(template);
      for (const container of all)
        judgeBoth(containerTitle(container), container.resources, containerField(container));
      if (all.every(({ node }) => node !== template.spec))
        judgeBoth('The pod', mapIn(template.spec, 'resources'), {});
      for (const volume of itemsIn(template.spec, 'volumes')) {
        const limit = scalarIn(volume, 'emptyDir', 'sizeLimit');
        const found = limit === undefined ? undefined : suspect('memory', limit);
        if (limit === undefined || found === undefined) continue;
        report({
          ...told(
            resource,
            `Volume "${textIn(volume, 'name') ?? ''}" has ${limit.text} as its sizeLimit`,
            found,
            limit,
            'nothing fits into it',
          ),
          fixes: found.corrections.map((correction) => writeFix(resource, limit, correction)),
        });
      }
    }
  },
});

type Half = 'request' | 'limit';

interface Halves {
  readonly request: readonly ResourceAmount[];
  readonly limit: readonly ResourceAmount[];
}

type Problem = 'invalid' | 'negative' | 'thousandths' | 'bytes' | 'cores';

/** Another text for the value; equal kinds stand for the same slip in request and limit. */
interface Correction {
  readonly kind: string;
  readonly text: string;
}

interface Suspect {
  readonly problem: Problem;
  readonly quantity: Quantity | undefined;
  readonly corrections: readonly Correction[];
}

function isBytes(name: string): boolean {
  return (
    name === 'memory' || name === 'ephemeral-storage' || name === 'storage' || name.startsWith('hugepages-')
  );
}

function suspect(name: string, node: ScalarNode): Suspect | undefined {
  if (node.unknown || node.value === null || typeof node.value === 'boolean') return undefined;
  const text = node.text.trim();
  // What does not begin with a number is a placeholder, or no quantity in a way that has nothing to do with units.
  if (!/^[+-]?\.?\d/.test(text)) return undefined;
  const quantity = quantityOf(node);
  if (quantity === undefined)
    return { problem: 'invalid', quantity, corrections: unitCorrections(name, text) };
  const value = toNumber(quantity);
  if (value < 0) {
    return { problem: 'negative', quantity, corrections: [{ kind: 'positive', text: text.slice(1) }] };
  }
  const digits = /^\+?(\d+(?:\.\d+)?)/.exec(text)?.[1] ?? '';
  if (isBytes(name) && value > 0 && value < leastBytes) {
    // Recommenders write exact fractions (`128974848000m`); only tiny ones are a slip.
    if (/^[mun]$/.test(quantity.suffix)) {
      const corrections = quantity.suffix === 'm' ? [{ kind: 'Mi', text: `${digits}Mi` }] : [];
      return { problem: 'thousandths', quantity, corrections };
    }
    if (quantity.suffix === '' || /^[eE]/.test(quantity.suffix)) {
      return { problem: 'bytes', quantity, corrections: withUnit(value) };
    }
  }
  if (name === 'cpu' && value >= mostCores && quantity.suffix !== 'm') {
    // Large letters and memory's units are slips for the small m.
    const milli = /^(M|Mi)?$/.test(quantity.suffix);
    return {
      problem: 'cores',
      quantity,
      corrections: milli ? [{ kind: 'm', text: `${digits}m` }] : [],
    };
  }
  return undefined;
}

/** A bare number up to 64 was meant in Gi, a larger one in Mi; the other reading comes second. */
function withUnit(value: number): readonly Correction[] {
  const units = value <= 64 ? ['Gi', 'Mi'] : value < 1024 ? ['Mi', 'Gi'] : ['Mi'];
  return units.map((unit) => ({ kind: unit, text: `${value}${unit}` }));
}

/** What a number with a unit that Kubernetes does not know was meant to be. */
function unitCorrections(name: string, text: string): readonly Correction[] {
  const match = /^\+?(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)$/i.exec(text);
  const [, digits = '', unit = ''] = match ?? [];
  if (match === null) return [];
  const make = (...units: readonly string[]): readonly Correction[] =>
    units
      .map((suffix) => ({ kind: suffix, text: `${digits}${suffix}` }))
      .filter((correction) => parseQuantity(correction.text) !== undefined);
  if (isBytes(name)) {
    const bytes = /^([kmgtp])(i?)(b|bytes?)?$/i.exec(unit);
    if (bytes === null) return /^b(ytes?)?$/i.test(unit) ? make('') : [];
    const letter = (bytes[1] ?? '').toUpperCase();
    const decimal = letter === 'K' ? 'k' : letter;
    if (bytes[2] !== '') return make(`${letter}i`);
    // GB is a billion bytes to some and a GiB to others; a bare small letter is Docker's, which means GiB.
    return bytes[3] === undefined ? make(`${letter}i`) : make(decimal, `${letter}i`);
  }
  if (name === 'cpu') {
    if (/^(v?cpus?|c|cores?)$/i.test(unit)) return make('');
    return /^(m|mi|mc|mcpu|milli(cpu|cores?)?)$/i.test(unit) ? make('m') : [];
  }
  return /^\d+$/.test(digits) ? make('') : [];
}

function told(
  resource: Resource,
  what: string,
  { problem, quantity }: Suspect,
  at: ScalarNode,
  then: string,
): Pick<Report, 'at' | 'message' | 'severity' | 'apiServerRejects'> {
  const refused = refusedObject(resource);
  switch (problem) {
    case 'invalid':
      return {
        at,
        message: `${what}, which is no quantity: the API server rejects the ${refused === resource.kind ? refused : `${resource.kind} or its pods`}`,
        severity: 'error',
        apiServerRejects: true,
      };
    case 'negative':
      return {
        at,
        message: `${what}, which is below 0: the API server rejects the ${refused}`,
        severity: 'error',
        apiServerRejects: true,
      };
    case 'thousandths': {
      const value = quantity === undefined ? 0 : toNumber(quantity);
      return {
        at,
        message: `${what}, which is ${Number(value.toPrecision(3))} bytes (${quantity?.suffix === 'm' ? 'm is a thousandth' : 'a fraction of one'}): ${then}`,
      };
    }
    case 'bytes':
      return {
        at,
        message: `${what}, which without a unit is ${quantity === undefined ? 0 : toNumber(quantity)} bytes: ${then}`,
      };
    case 'cores':
      return {
        at,
        message: `${what}, which is ${quantity === undefined ? 0 : toNumber(quantity)} cores: ${then}`,
      };
  }
}

function consequence(name: string, { problem }: Suspect, half: Half, isReserved: boolean): string {
  if (problem === 'cores') {
    return isReserved ? 'the pod stays Pending until a node has as many' : 'it limits nothing';
  }
  if (half === 'request') return 'the scheduler sets aside next to nothing';
  return name === 'memory' ? 'no container starts with so little' : 'nothing fits into it';
}

function writeFix(resource: Resource, node: ScalarNode, { text }: Correction): Fix | undefined {
  const edits = replaceScalar(resource.placed.document, node, scalarLike(node, text));
  return edits === undefined ? undefined : { title: `Write ${text}`, safe: false, edits };
}

/**
 * Writes the correction, and the same one into the other half where that has the same slip. Offered only where the
 * request then is not above the limit.
 */
function fixOf(
  resource: Resource,
  halves: Halves,
  half: Half,
  amount: ResourceAmount,
  correction: Correction,
): Fix | undefined {
  const { value } = amount.entry;
  if (!isScalar(value)) return undefined;
  const own = writeFix(resource, value, correction);
  if (own === undefined) return undefined;
  const otherHalf: Half = half === 'request' ? 'limit' : 'request';
  const other = soleAmount(halves[otherHalf], amount.name);
  const otherNode = other?.entry.value;
  if (other === undefined || !isScalar(otherNode)) return own;
  const same = suspect(amount.name, otherNode)?.corrections.find(({ kind }) => kind === correction.kind);
  const beside = same === undefined ? undefined : writeFix(resource, otherNode, same);
  const mine = parseQuantity(correction.text);
  const theirs = beside === undefined || same === undefined ? other.quantity : parseQuantity(same.text);
  if (mine !== undefined && theirs !== undefined) {
    const difference = half === 'request' ? compareQuantities(mine, theirs) : compareQuantities(theirs, mine);
    if (difference > 0) return undefined;
  }
  return beside === undefined ? own : { ...own, edits: [...own.edits, ...beside.edits] };
}
