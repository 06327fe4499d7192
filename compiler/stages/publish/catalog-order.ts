const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A line of the catalog begins with `["`. */
const SIGNAL_AT = 2;
const BETWEEN = '","'.length;
const SEPARATOR = 0x0a;

/** Where an entity of a signal belongs in the catalog; both are printable ASCII. */
export function place(signalId: string, entity: string): string {
  return `${signalId}${String.fromCharCode(SEPARATOR)}${entity}`;
}

/** The order of lines of the catalog by their places, read off without parsing them. */
export function catalogOrder(bytes: Buffer, start: number, key: string): number {
  let at = start + SIGNAL_AT;
  for (let index = 0; index < key.length; index += 1) {
    const wanted = key.charCodeAt(index);
    if (bytes[at] === QUOTE) {
      // The separator is below every character, and so is the end.
      if (wanted !== SEPARATOR) return -1;
      at += BETWEEN;
      continue;
    }
    if (bytes[at] === BACKSLASH) at += 1;
    const lead = (bytes[at] ?? 0) - wanted;
    if (lead !== 0) return lead;
    at += 1;
  }
  return bytes[at] === QUOTE ? 0 : 1;
}
