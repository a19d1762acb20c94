/**
 * The three values of everything that is read from text before it is rendered: a template or a variable makes a
 * question undecidable, which is neither a yes nor a no.
 */
export type Truth = 'yes' | 'no' | 'unknown';

export function truth(value: boolean): Truth {
  return value ? 'yes' : 'no';
}

/** Every one must hold; one certain no decides, whatever is unknown beside it. */
export function all(values: Iterable<Truth>): Truth {
  let result: Truth = 'yes';
  for (const value of values) {
    if (value === 'no') return 'no';
    if (value === 'unknown') result = 'unknown';
  }
  return result;
}

/** One must hold; one certain yes decides. */
export function any(values: Iterable<Truth>): Truth {
  let result: Truth = 'no';
  for (const value of values) {
    if (value === 'yes') return 'yes';
    if (value === 'unknown') result = 'unknown';
  }
  return result;
}

export function not(value: Truth): Truth {
  return value === 'yes' ? 'no' : value === 'no' ? 'yes' : 'unknown';
}
