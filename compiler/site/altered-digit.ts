/** A text with one digit changed, and what was done. */
interface AlteredText {
  readonly text: string;
  /** Position of the digit. */
  readonly at: number;
  readonly was: string;
  readonly is: string;
  /** The member that it stands in, up to the digit. */
  readonly before: string;
}

/** Where the digit of a forger would be: in the reading, else in any number. */
const PLACES = [
  /"current"\s*:\s*\{[^{}]*?:\s*-?\d*?(\d)(?=[\s,}.eE])/d,
  /:\s*-?\d*?(\d)(?=[\s,}\].eE])/d,
];

/** Changes the last digit before the point of the first number of a reading; null for a text without numbers. */
export function alteredDigit(text: string): AlteredText | null {
  for (const place of PLACES) {
    const at = place.exec(text)?.indices?.[1]?.[0];
    const was = at === undefined ? undefined : text[at];
    if (at === undefined || was === undefined) continue;
    // One up, and 8 for 9: a leading zero would no longer be JSON.
    const is = was === '9' ? '8' : String(Number(was) + 1);
    const before = /[^{,[]*$/.exec(text.slice(0, at))?.[0].trim() ?? '';
    return { text: text.slice(0, at) + is + text.slice(at + 1), at, was, is, before };
  }
  return null;
}
