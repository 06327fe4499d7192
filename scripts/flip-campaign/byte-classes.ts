/** Kinds of bytes that a careless reader might pass over. */
export const BYTE_CLASSES = [
  'signature',
  'hash',
  'key',
  'digit',
  'letter',
  'structure',
  'whitespace',
  'other',
] as const;
export type ByteClass = (typeof BYTE_CLASSES)[number];

/** Earlier ones take what later ones would also match. */
const PATTERNS: readonly (readonly [ByteClass, RegExp])[] = [
  ['signature', /(?<="signature":\s*")[A-Za-z0-9_-]+/g],
  ['hash', /[0-9a-f]{64}/g],
  ['key', /(?<=")[A-Za-z_$@][\w$@-]*(?="\s*:)/g],
  ['digit', /[0-9]/g],
  ['letter', /[A-Za-z]/g],
  ['structure', /[{}[\]:,"]/g],
  ['whitespace', /\s/g],
];

/** Positions of the bytes of a file by class; classes that it lacks are absent. */
export function byteClasses(bytes: Uint8Array): ReadonlyMap<ByteClass, readonly number[]> {
  const text = Buffer.from(bytes).toString('latin1');
  const taken = new Uint8Array(bytes.length);
  const found = new Map<ByteClass, number[]>();
  const take = (name: ByteClass, at: number): void => {
    if (taken[at] === 1) return;
    taken[at] = 1;
    const places = found.get(name);
    if (places === undefined) found.set(name, [at]);
    else places.push(at);
  };
  for (const [name, pattern] of PATTERNS) {
    for (const { index, 0: match } of text.matchAll(pattern)) {
      for (let at = index; at < index + match.length; at += 1) take(name, at);
    }
  }
  for (let at = 0; at < bytes.length; at += 1) take('other', at);
  return found;
}
