import { defined } from '../contract/defined.ts';
import { FILING_COLLECTION } from '../contract/filing.ts';
import { type Evidence, evidenceSchema } from '../contract/record.ts';
import { ImportError } from '../import/import-error.ts';
import { type BatchRow, sortText, storedRows } from '../import/merge-batch.ts';

/** A stored file beside what the archive gives for it. */
export interface ComparedFile {
  /** `<batch>/<id>.ndjson` */
  readonly path: string;
  readonly stored: string;
  /** Null where no payload of the archive gives it. */
  readonly replayed: string | null;
}

/**
 * `differs`: the archive gives something else. `unshown`: nothing that the archive has says so, and nothing that it can
 * say is against it. Lines count from 1.
 */
export type FileVerdict =
  | { readonly kind: 'equal' }
  | { readonly kind: 'differs' | 'unshown'; readonly line: number; readonly reason: string };

/** Why the payload behind some evidence cannot be imported again; null where it was. */
export type WhyNot = (evidence: Evidence) => string | null;

const BY_HAND = 'names no payload: written by hand, or imported before payloads were kept';
const NO_SUCH_LINE = 'the archive gives no such line';
const NO_SUCH_FILE = 'no payload of the archive gives this file';

/** Compares a file byte by byte. Where it differs, every line that the archive answers for must still be in it. */
export function compareFile(file: ComparedFile, whyNot: WhyNot): FileVerdict {
  const { path, stored, replayed } = file;
  if (stored === replayed) return { kind: 'equal' };
  try {
    return compareRows(file, whyNot);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    const kind = replayed === null ? 'unshown' : 'differs';
    return { kind, line: 1, reason: `${path} holds a line that is not a JSON object` };
  }
}

function compareRows({ path, stored, replayed }: ComparedFile, whyNot: WhyNot): FileVerdict {
  const told = new Set(replayed === null ? [] : storedRows(path, replayed).map(sortText));
  let open: FileVerdict | null = null;
  for (const { line, row } of numberedRows(path, stored)) {
    const reason = openReason(row, { path, isAlone: replayed === null, whyNot });
    if (reason !== null) open ??= { kind: 'unshown', line, reason };
    else if (!told.has(sortText(row))) return { kind: 'differs', line, reason: NO_SUCH_LINE };
  }
  if (open !== null) return open;
  const line = firstDifference(stored, replayed ?? '');
  return { kind: 'differs', line, reason: `the archive gives ${lineText(replayed ?? '', line)}` };
}

interface Place {
  readonly path: string;
  /** Nothing was replayed into the file. */
  readonly isAlone: boolean;
  readonly whyNot: WhyNot;
}

/** Why the archive cannot answer for a row; null where it can. Filings name no evidence, so their file stands as a whole. */
function openReason({ evidence }: BatchRow, { path, isAlone, whyNot }: Place): string | null {
  if (path.endsWith(`/${FILING_COLLECTION}.ndjson`)) return isAlone ? NO_SUCH_FILE : null;
  if (evidence === undefined) return BY_HAND;
  const parsed = evidenceSchema.safeParse(evidence);
  return parsed.success ? whyNot(parsed.data) : 'its evidence cannot be read';
}

/** Rows with the lines that they stand at; a header is no row. */
function numberedRows(path: string, text: string): { line: number; row: BatchRow }[] {
  const numbers = text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [at + 1]));
  const rows = storedRows(path, text);
  const headers = numbers.length - rows.length;
  return rows.map((row, at) => ({ line: defined(numbers[at + headers], 'the line'), row }));
}

function firstDifference(one: string, other: string): number {
  const [left, right] = [one.split('\n'), other.split('\n')];
  const at = left.findIndex((line, index) => line !== right[index]);
  return (at === -1 ? left.length : at) + 1;
}

const LINE_CHARS_MAX = 200;

function lineText(text: string, line: number): string {
  const found = text.split('\n')[line - 1] ?? '';
  return found === '' ? 'no more lines' : found.slice(0, LINE_CHARS_MAX);
}
