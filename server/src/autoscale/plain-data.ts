/** Reads plain data (parsed YAML or JSON) whose shape nobody has checked yet, and gathers what is wrong with it. */
export interface PlainReader {
  /** What was found wrong so far, each with the path of the field. */
  readonly problems: readonly string[];
  problem(path: string, text: string): undefined;
  /** `undefined` without a problem when the value is absent or null. */
  map(value: unknown, path: string): Readonly<Record<string, unknown>> | undefined;
  list(value: unknown, path: string): readonly unknown[] | undefined;
  text(value: unknown, path: string): string | undefined;
  integer(
    value: unknown,
    path: string,
    bounds?: { readonly min?: number; readonly max?: number },
  ): number | undefined;
  oneOf<T extends string>(value: unknown, path: string, allowed: readonly T[]): T | undefined;
}

export function plainReader(): PlainReader {
  const problems: string[] = [];
  const problem = (path: string, text: string): undefined => {
    problems.push(`${path}: ${text}`);
    return undefined;
  };
  const absent = (value: unknown): value is null | undefined => value === undefined || value === null;
  return {
    problems,
    problem,
    map(value, path) {
      if (absent(value)) return undefined;
      if (typeof value !== 'object' || Array.isArray(value))
        return problem(path, `expected a map, found ${shown(value)}`);
      return value as Readonly<Record<string, unknown>>;
    },
    list(value, path) {
      if (absent(value)) return undefined;
      if (!Array.isArray(value)) return problem(path, `expected a list, found ${shown(value)}`);
      return value as readonly unknown[];
    },
    text(value, path) {
      if (absent(value)) return undefined;
      if (typeof value !== 'string') return problem(path, `expected text, found ${shown(value)}`);
      return value;
    },
    integer(value, path, { min, max } = {}) {
      if (absent(value)) return undefined;
      if (typeof value !== 'number' || !Number.isInteger(value)) {
        return problem(path, `expected a whole number, found ${shown(value)}`);
      }
      if (min !== undefined && value < min) return problem(path, `must be at least ${min}, found ${value}`);
      if (max !== undefined && value > max) return problem(path, `must be at most ${max}, found ${value}`);
      return value;
    },
    oneOf(value, path, allowed) {
      if (absent(value)) return undefined;
      const found = allowed.find((one) => one === value);
      if (found === undefined)
        return problem(path, `expected one of ${allowed.join(', ')}, found ${shown(value)}`);
      return found;
    },
  };
}

function shown(value: unknown): string {
  const text = typeof value === 'bigint' ? `${value}` : (JSON.stringify(value) ?? typeof value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
