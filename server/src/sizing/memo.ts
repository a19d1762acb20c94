/**
 * Remembers the answers of a pure function of plain data, so that equal questions, which a workspace is full of, are
 * worked out once. It changes how long an answer takes and nothing else; when it is full it starts anew.
 */
export function remembered<Question, Answer>(
  most: number,
  answer: (question: Question) => Answer,
  keyOf: (question: Question) => string = (question) => JSON.stringify(question),
): (question: Question) => Answer {
  const known = new Map<string, { readonly answer: Answer }>();
  return (question) => {
    const key = keyOf(question);
    let found = known.get(key);
    if (found === undefined) {
      if (known.size >= most) known.clear();
      found = { answer: answer(question) };
      known.set(key, found);
    }
    return found.answer;
  };
}

/** Works something out once for each object, for as long as the object lives. */
export function onceFor<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = { value: make(key) }));
    return found.value;
  };
}

const identities = new WeakMap<object, number>();
let lastIdentity = 0;

/** A number for an object that stands for itself: for the keys of questions that hold what is large and kept. */
export function identityOf(object: object | undefined): number {
  if (object === undefined) return 0;
  let known = identities.get(object);
  if (known === undefined) identities.set(object, (known = ++lastIdentity));
  return known;
}
