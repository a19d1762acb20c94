import type { Form } from '../../kube/names';
import { given, isClosed, listIn, textAt, wholeAt, type Part, type Text, type Whole } from '../../kube/part';
import { isAbsent, type Resource } from '../../kube/resource';
import { insertPath, removeEntry, replaceScalar, type Edits } from '../../yaml/edit';
import { entryOf, isNull, type Entry, type MapNode, type ScalarNode } from '../../yaml/node';
import { nearest } from '../nearest';
import { listWords } from '../placement/words';
import type { Fix, Place, Report } from '../rule';

/** The rules of this folder: what the API server's validation refuses behind the types of the fields. */
export type ValidityRule =
  | 'affinity-term-invalid'
  | 'autoscaler-target-invalid'
  | 'config-key-invalid'
  | 'duplicate-entry'
  | 'env-source-invalid'
  | 'field-not-allowed'
  | 'hpa-behavior-out-of-range'
  | 'hpa-metric-invalid'
  | 'name-invalid'
  | 'nodeclass-invalid'
  | 'nodepool-invalid'
  | 'number-out-of-range'
  | 'pdb-both-bounds'
  | 'port-out-of-range'
  | 'prestop-longer-than-grace'
  | 'probe-invalid'
  | 'quantity-out-of-range'
  | 'required-value-missing'
  | 'resource-name-unknown'
  | 'restart-policy-invalid'
  | 'schedule-invalid'
  | 'security-context-invalid'
  | 'selector-differs-from-labels'
  | 'selector-invalid'
  | 'storage-claim-invalid'
  | 'strategy-contradiction'
  | 'toleration-invalid'
  | 'value-unsupported'
  | 'volume-mount-unknown'
  | 'volume-source-invalid';

/** One thing that the API server refuses. */
export interface Flaw extends Report {
  readonly rule: ValidityRule;
}

/** What makes an item of a list the same as another, and where it stands. */
export interface Key {
  readonly key: string;
  readonly at: Place;
}

type More = Omit<Report, 'at' | 'message'>;

/**
 * Collects the flaws of one object. Each check reads one place of the object; what is unknown, what a template may add
 * and what a patch leaves to its base is never a flaw.
 */
export class Inspection {
  readonly flaws: Flaw[] = [];
  /** The container that is looked at, for overrides in the configuration. */
  container: string | undefined;

  /** @param refused what the API server refuses: the object, or the pods that its controller makes. */
  constructor(
    readonly resource: Resource,
    private readonly refused: string = resource.kind,
  ) {}

  /**
   * Two values of the object may be compared: it is whole, and no template decides which of them are there.
   */
  get isCertain(): boolean {
    return this.resource.role === 'resource' && !this.resource.placed.document.templated;
  }

  /** `flaw; the API server rejects the Deployment`. */
  add(rule: ValidityRule, at: Place, message: string, more: More = {}): void {
    this.addFor(this.refused, rule, at, message, more);
  }

  /** What is only looked at when a pod is made: a template with it is taken, and no pod ever comes of it. */
  addForPod(rule: ValidityRule, at: Place, message: string, more: More = {}): void {
    this.addFor(this.resource.kind === 'Pod' ? this.refused : 'pod', rule, at, message, more);
  }

  private addFor(refused: string, rule: ValidityRule, at: Place, message: string, more: More): void {
    this.flaws.push({
      rule,
      at,
      message: `${message}; the API server rejects the ${refused}`,
      ...(this.container === undefined ? {} : { container: this.container }),
      ...more,
    });
  }

  /**
   * Whether a key is certainly without a value, and none beside it looks like a misspelling of it, which is another
   * rule's finding.
   */
  lacks(part: Part, key: string): boolean {
    if (!isAbsent(this.resource, part.map, key)) return false;
    return !part.map.entries.some(
      (entry) =>
        entry.key.text !== key &&
        !entry.key.unknown &&
        !isNull(entry.value) &&
        looksLike(entry.key.text, key),
    );
  }

  /** Whether a text is certainly empty or without a value, which come to the same where one is required. */
  lacksText(part: Part, key: string): boolean {
    return textAt(part, key)?.text === '' || this.lacks(part, key);
  }

  /** Whether a list is certainly without an item. */
  lacksItems(part: Part, key: string): boolean {
    const list = listIn(part, key);
    return list === undefined ? this.lacks(part, key) : isClosed(list) && list.items.length === 0;
  }

  /** Where something that is not written would be looked for: its key without a value, else what holds the map. */
  placeOf(part: Part, key: string): Place {
    return entryOf(part.map, key) ?? part.place;
  }

  /** A text that is a key's value must have a form; an empty one is as good as none, which is a matter of the schema. */
  form(
    part: Part,
    key: string,
    form: Form,
    what: string,
    options: {
      readonly rule?: ValidityRule;
      readonly fix?: (text: Text) => Fix | undefined;
    } = {},
  ): void {
    const text = textAt(part, key);
    if (text !== undefined && text.text !== '') this.textForm(text, form, what, options);
  }

  textForm(
    text: Text,
    form: Form,
    what: string,
    options: { readonly rule?: ValidityRule; readonly fix?: (text: Text) => Fix | undefined } = {},
  ): void {
    const flaw = form.flaw(text.text);
    if (flaw === undefined) return;
    this.add(
      options.rule ?? 'name-invalid',
      text.node,
      `${what} is ${shown(text.text)}, which is not ${form.name}: ${flaw}`,
      {
        fixes: [options.fix?.(text)],
      },
    );
  }

  missing(part: Part, key: string, what: string, rule: ValidityRule = 'required-value-missing'): void {
    const entry = entryOf(part.map, key);
    const empty = entry !== undefined && !isNull(entry.value);
    this.add(rule, entry ?? part.place, empty ? `${what} is empty` : `${what} is missing`);
  }

  /** A number in a range, both ends included. */
  range(
    part: Part,
    key: string,
    least: number,
    most: number | undefined,
    what: string,
    rule: ValidityRule = 'number-out-of-range',
  ): void {
    const number = wholeAt(part, key);
    if (number !== undefined) this.numberRange(number, least, most, what, rule);
  }

  numberRange(
    { node, value }: Whole,
    least: number,
    most: number | undefined,
    what: string,
    rule: ValidityRule = 'number-out-of-range',
  ): void {
    if (value >= least && (most === undefined || value <= most)) return;
    const allowed = most === undefined ? `${least} or more` : `${least} to ${most}`;
    this.add(rule, node, `${what} is ${value}, and ${allowed} is allowed`);
  }

  /** One of several words; empty is left out, since the API server takes it as not written. */
  oneOf(
    part: Part,
    key: string,
    allowed: readonly string[],
    what: string,
    rule: ValidityRule = 'value-unsupported',
    options: { readonly orEmpty?: boolean } = {},
  ): void {
    const text = textAt(part, key);
    if (text !== undefined) this.textOneOf(text, allowed, what, rule, options);
  }

  textOneOf(
    text: Text,
    allowed: readonly string[],
    what: string,
    rule: ValidityRule = 'value-unsupported',
    options: { readonly orEmpty?: boolean } = {},
  ): void {
    if (allowed.includes(text.text) || (text.text === '' && options.orEmpty === true)) return;
    this.add(
      rule,
      text.node,
      `${what} is ${shown(text.text)}, and ${listWords(allowed)} ${allowed.length === 1 ? 'is' : 'are'} known`,
      {
        fixes: [this.meant(text.node, allowed)],
      },
    );
  }

  /** Writes the nearest of the allowed words. */
  meant(node: ScalarNode, allowed: readonly string[]): Fix | undefined {
    const word =
      allowed.find((candidate) => candidate.toLowerCase() === node.text.toLowerCase()) ??
      nearest(node.text, allowed);
    return word === undefined ? undefined : this.write(node, word, `Write ${word}`);
  }

  /** As {@link meant} for a key, unless the map has the other one already. */
  meantKey(map: MapNode, key: ScalarNode, allowed: readonly string[]): Fix | undefined {
    return this.meant(
      key,
      allowed.filter((word) => entryOf(map, word) === undefined),
    );
  }

  write(node: ScalarNode, value: string | number, title: string): Fix | undefined {
    return this.fix(title, replaceScalar(this.resource.placed.document, node, value));
  }

  insertion(part: Part, key: string, value: string, title: string): Fix | undefined {
    return this.fix(title, insertPath(this.resource.placed.document, part.map, [key], value));
  }

  removal(part: Part, key: string, title: string): Fix | undefined {
    return this.fix(title, removeEntry(this.resource.placed.document, part.map, key));
  }

  fix(title: string, edits: Edits, safe = false): Fix | undefined {
    return edits === undefined ? undefined : { title, safe, edits };
  }

  /**
   * Items of a list that are the same by a key of theirs. The later one is at fault.
   *
   * @param keyOf what makes two items the same, and where it stands; `undefined` for items that are not known.
   */
  unique<T>(
    items: readonly T[],
    keyOf: (item: T) => Key | undefined,
    message: (key: string) => string,
  ): void {
    if (!this.isCertain) return;
    const first = new Map<string, Place>();
    for (const item of items) {
      const found = keyOf(item);
      if (found === undefined) continue;
      const before = first.get(found.key);
      if (before === undefined) {
        first.set(found.key, found.at);
        continue;
      }
      this.add('duplicate-entry', found.at, message(found.key), {
        related: [{ resource: this.resource, at: before, message: 'The first one' }],
      });
    }
  }
}

/** Whether a key is a misspelling of another: one slip, two in long ones. Known keys that lie so near have no such pair. */
export function looksLike(key: string, other: string): boolean {
  return (
    key.toLowerCase() === other.toLowerCase() || nearest(key, [other], other.length < 8 ? 1 : 2) !== undefined
  );
}

/** A text as what makes two items the same. */
export function byText(text: Text | undefined): Key | undefined {
  return text === undefined ? undefined : { key: text.text, at: text.node };
}

/** As {@link byText}; an empty text is as good as none. */
export function byName(text: Text | undefined): Key | undefined {
  return text?.text === '' ? undefined : byText(text);
}

/** `"name"`, cut off where it is long. */
export function shown(text: string): string {
  return text.length > 70 ? `"${text.slice(0, 60)}..."` : `"${text}"`;
}

/** Which of several keys have a value. */
export function givenOf(part: Part, keys: readonly string[]): readonly Entry[] {
  return keys.flatMap((key) => given(part, key) ?? []);
}
