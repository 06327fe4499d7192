/** What the first line, as bytes or as text, shows about the whole file. */
interface Shape {
  readonly bytes?: (first: Uint8Array) => boolean;
  readonly text?: (first: string) => boolean;
  /** What it is, and what to do. */
  readonly says: string;
}

const COLUMN = '"?[A-Za-z_][\\w .()/%-]*"?';
const CSV = new RegExp(`^${COLUMN}(?:[,;\\t] ?${COLUMN})+$`);
const UTF16 = ['fffe', 'feff'];
const GZIP = '1f8b';

const begins = (first: Uint8Array, marks: readonly string[]): boolean =>
  marks.includes(Buffer.from(first.subarray(0, 2)).toString('hex'));

/** The first one that fits is said. */
const SHAPES: readonly Shape[] = [
  {
    bytes: (first) => begins(first, [GZIP]),
    says: 'a compressed file; unpack it, for example with gunzip',
  },
  {
    bytes: (first) => begins(first, UTF16),
    says: 'UTF-16 text; save it as UTF-8',
  },
  {
    // A list or an object that goes on in the next line.
    text: (first) => /^\s*\[\s*($|\{\s*$|\{.*\},?\s*$)/.test(first),
    says: "a JSON array over several lines; write one object per line, for example with jq -c '.[]'",
  },
  {
    text: (first) => /^\s*\{(.*[{[,])?\s*$/.test(first),
    says: 'a pretty-printed JSON file; write each object on one line, for example with jq -c .',
  },
  {
    text: (first) => CSV.test(first.trimEnd()),
    says: 'a CSV file; write each row as one JSON object per line, with its columns as members',
  },
];

/** What kind of file has such a first line; null if the line does not show it. */
export function fileShape(first: Uint8Array): string | null {
  const text = Buffer.from(first).toString('utf8');
  const shape = SHAPES.find((each) => each.bytes?.(first) === true || each.text?.(text) === true);
  return shape?.says ?? null;
}

/** For a first line that is a whole JSON array. */
export const ARRAY_SHAPE = "a JSON array; write one object per line, for example with jq -c '.[]'";
