/**
 * What an object of a kind may look like, as the API server checks it before anything else. Made from a schema without
 * its descriptions, and shared: one shape stands wherever its type is used.
 */
export type Shape =
  | AnyShape
  | ObjectShape
  | MapShape
  | ListShape
  | StringShape
  | NumberShape
  | BooleanShape
  | IntOrStringShape
  | QuantityShape;

/** Anything may stand here: free JSON, or a type that the schema leaves open. */
export interface AnyShape {
  readonly type: 'any';
}

/** A rule in the Common Expression Language that a definition has for a value, `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  /** An expression that makes the message. */
  readonly messageExpression?: string;
  /** The field that the rule is about, below the value that it is on: `.spec.replicas`. */
  readonly fieldPath?: string;
}

interface Ruled {
  readonly rules?: readonly ValidationRule[];
}

/** The fields of an object; a shape is made when it is first asked for. */
export interface Fields {
  /** What is filled in when the field is not there; `undefined` for nothing. */
  defaultOf(name: string): unknown;
  get(name: string): Shape | undefined;
  has(name: string): boolean;
  readonly names: readonly string[];
}

export interface ObjectShape extends Ruled {
  readonly type: 'object';
  readonly fields: Fields;
  readonly required: readonly string[];
  /** Keys beside those listed are kept (`x-kubernetes-preserve-unknown-fields`). */
  readonly open: boolean;
  readonly nullable: boolean;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
}

/** Keys that the author chooses, such as labels. */
export interface MapShape extends Ruled {
  readonly type: 'map';
  readonly values: Shape;
  readonly nullable: boolean;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
}

export interface ListShape extends Ruled {
  readonly type: 'list';
  readonly items: Shape;
  readonly nullable: boolean;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
}

export interface StringShape extends Ruled {
  readonly type: 'string';
  readonly enum: readonly string[] | undefined;
  /** An empty text is the default here, beside the values of `enum`. */
  readonly emptyIsDefault: boolean;
  readonly pattern: Pattern | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  /** `date-time`, `byte` (base64), ... */
  readonly format: string | undefined;
  readonly nullable: boolean;
}

/** A regular expression, searched for in the text; made when it is first needed. */
export interface Pattern {
  readonly source: string;
  /** Absent for one that this language cannot express: then nothing is known about the text. */
  test(text: string): boolean | undefined;
}

export interface NumberShape extends Ruled {
  readonly type: 'integer' | 'number';
  /** How many bits a whole number may have; absent for any. */
  readonly bits: 32 | 64 | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly nullable: boolean;
}

export interface BooleanShape extends Ruled {
  readonly type: 'boolean';
  readonly nullable: boolean;
}

/** A number or a text, such as a port or a percentage. */
export interface IntOrStringShape extends Ruled {
  readonly type: 'int-or-string';
  readonly pattern: Pattern | undefined;
  readonly nullable: boolean;
}

/** An amount, such as `16Gi`. */
export interface QuantityShape extends Ruled {
  readonly type: 'quantity';
  readonly nullable: boolean;
}

export interface Structure {
  /**
   * How the API server reads objects of the kind:
   * - `typed`: built-in kinds, decoded into Go types. Null is the zero value everywhere, and what is required is
   *   required not to be zero.
   * - `custom`: custom resources, checked against the schema of their definition. Null is as good as absent, but for
   *   items of lists; `metadata` alone is decoded into its Go type.
   */
  readonly decoding: 'typed' | 'custom';
  readonly root: ObjectShape;
  /** Some part of it has rules. */
  readonly ruled: boolean;
}

export function patternOf(source: string): Pattern {
  let compiled: RegExp | null | undefined;
  return {
    source,
    test(text) {
      if (compiled === undefined) {
        try {
          compiled = new RegExp(source, 'u');
        } catch {
          compiled = null;
        }
      }
      return compiled?.test(text);
    },
  };
}
