import { firstWhere } from '../../compiler/contract/lists.ts';

const LINE_END = 0x0a;
/** Lines that one search gives at most: a long list of them means that too little was asked for. */
const LINES_MAX = 64;

/** The lines of sorted bytes that begin with a text, found without reading the others. */
export function linesFrom(sorted: Buffer, opening: string): string[] {
  const wanted = Buffer.from(opening, 'latin1');
  const lines: string[] = [];
  let at = firstLine(sorted, wanted);
  while (lines.length < LINES_MAX && startsWith(sorted, at, wanted)) {
    const end = endOfLine(sorted, at);
    lines.push(sorted.toString('utf8', at, end));
    at = end + 1;
  }
  return lines;
}

/** Where the first line begins that is not in front of the wanted text. */
function firstLine(sorted: Buffer, wanted: Buffer): number {
  const place = firstWhere(sorted.length, (at) => {
    const start = startOfLine(sorted, at);
    return wanted.compare(sorted, start, Math.min(start + wanted.length, sorted.length)) <= 0;
  });
  return place < sorted.length ? startOfLine(sorted, place) : sorted.length;
}

function startOfLine(sorted: Buffer, at: number): number {
  return at === 0 ? 0 : sorted.lastIndexOf(LINE_END, at - 1) + 1;
}

function endOfLine(sorted: Buffer, at: number): number {
  const end = sorted.indexOf(LINE_END, at);
  return end === -1 ? sorted.length : end;
}

function startsWith(sorted: Buffer, at: number, wanted: Buffer): boolean {
  return at < sorted.length && sorted.subarray(at, at + wanted.length).equals(wanted);
}
