/** A set of small integers as the bits of 32-bit words; all sets of one world have the same number of words. */
export type Bits = Uint32Array;

export function emptyBits(size: number): Bits {
  return new Uint32Array((size + 31) >>> 5);
}

export function addBit(bits: Bits, index: number): void {
  bits[index >>> 5] = (bits[index >>> 5] ?? 0) | (1 << (index & 31));
}

export function removeBit(bits: Bits, index: number): void {
  bits[index >>> 5] = (bits[index >>> 5] ?? 0) & ~(1 << (index & 31));
}

export function hasBit(bits: Bits, index: number): boolean {
  return (((bits[index >>> 5] ?? 0) >>> (index & 31)) & 1) === 1;
}

/** Makes `bits` equal to `other`. A loop is faster than the built-in copy for sets as small as these. */
export function replaceBits(bits: Bits, other: Bits): void {
  for (let word = 0; word < bits.length; word += 1) bits[word] = other[word] ?? 0;
}

export function copyBits(bits: Bits): Bits {
  const copy = new Uint32Array(bits.length);
  replaceBits(copy, bits);
  return copy;
}

/** Keeps in `bits` only what `other` has too. */
export function keep(bits: Bits, other: Bits): void {
  for (let word = 0; word < bits.length; word += 1) bits[word] = (bits[word] ?? 0) & (other[word] ?? 0);
}

/** Adds to `bits` what `other` has. */
export function merge(bits: Bits, other: Bits): void {
  for (let word = 0; word < bits.length; word += 1) bits[word] = (bits[word] ?? 0) | (other[word] ?? 0);
}

export function isEmpty(bits: Bits): boolean {
  for (let word = 0; word < bits.length; word += 1) if (bits[word] !== 0) return false;
  return true;
}

/** True when the two sets share a member. */
export function overlaps(a: Bits, b: Bits): boolean {
  for (let word = 0; word < a.length; word += 1) if (((a[word] ?? 0) & (b[word] ?? 0)) !== 0) return true;
  return false;
}

/** The members in ascending order. */
export function members(bits: Bits): number[] {
  const found: number[] = [];
  for (let word = 0; word < bits.length; word += 1) {
    let rest = bits[word] ?? 0;
    while (rest !== 0) {
      const lowest = rest & -rest;
      found.push((word << 5) + (31 - Math.clz32(lowest)));
      rest ^= lowest;
    }
  }
  return found;
}
