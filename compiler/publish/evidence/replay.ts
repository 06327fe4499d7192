import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { defined } from '../../format/errors.ts';
import { grouped } from '../../format/lists.ts';
import { FILING_COLLECTION } from '../../products/shapes/filing.ts';
import { type Evidence, evidenceSchema } from '../../products/shapes/record.ts';
import { listSnapshots } from '../../readings/list-snapshots.ts';
import { loadCatalog } from '../../readings/load-catalog.ts';
import {
  Archive,
  type Archived,
  ArchiveError,
  archiveFolder,
  notePath,
  READINGS_FOLDER,
} from '../../sources/fetch/archive.ts';
import { ArchiveImport } from '../../sources/fetch/archive-import.ts';
import { ImportError } from '../../sources/kit/payload.ts';
import {
  type BatchDisk,
  type BatchRow,
  batchName,
  sortText,
  storedRows,
} from '../../sources/merge-batch.ts';
import type { CommandSettings } from '../../system/command-settings.ts';
import { readPlain, STORED_BYTES_MAX } from '../../system/plain-file.ts';
import { EXIT, printed, type VerifyOutcome } from '../../verify/report-text.ts';
import { type KnownSources, sourceNamed } from './verify-evidence.ts';

/** A file of the snapshots whose bytes do not follow from the archive alone. */
interface FileFinding {
  readonly path: string;
  readonly line: number;
  readonly reason: string;
}

interface ReplayReport {
  readonly fetches: number;
  readonly equal: number;
  readonly differs: readonly FileFinding[];
  readonly unshown: readonly FileFinding[];
  /** Fetches that cannot be read any more, by their notes. */
  readonly damaged: readonly string[];
  /** Fetches that their importer refuses, as it did at first. */
  readonly refused: readonly string[];
  /** Files for an hour that had not begun at the last fetch, so that nobody may have stored them. */
  readonly waiting: readonly string[];
}

/**
 * Imports everything in the archive again, in the order of its fetches, and compares each file with the stored one. Nothing
 * is written. A batch is compared and forgotten as soon as no later fetch can add to it.
 */
export function replay(options: {
  snapshots: string;
  archive: Archive;
  known?: KnownSources;
}): ReplayReport {
  const { snapshots, archive, known } = options;
  if (!existsSync(archive.folder)) {
    throw new RangeError(
      `Cannot replay "${archive.folder}": there is no such folder; name the archive with --archive`,
    );
  }
  const fetches = archive.fetches();
  const { signals, collections } = listSnapshots(snapshots, loadCatalog(snapshots).catalog);
  const files = [...signals.flatMap((one) => one.files), ...Object.values(collections).flat()];
  const run = new Replay(
    new Map(files.map(({ name, path }) => [name, path])),
    reasonsFrom(fetches, known),
  );
  const others = known === undefined ? {} : { known };
  const importing = new ArchiveImport({ archive, disk: run.disk, ...others });
  for (const archived of fetches) {
    const source = sourceNamed(archived.source, known);
    run.attempt(archived, () => (source === null ? refuse(archived) : importing.take(archived)));
    run.compare((batch) => batch < batchName(archived.fetched_at));
  }
  const last = fetches.at(-1);
  run.compare((batch) => last !== undefined && batch <= batchName(last.fetched_at));
  importing.settle(Number.POSITIVE_INFINITY);
  return run.finish(fetches.length);
}

function refuse(archived: Archived): never {
  const state = 'this program has no such importer; use the one that imported it';
  throw new ImportError({ subject: notePath(archived), state });
}

/** Only what is in the archive, and was read by the same rules, can be made again. */
function reasonsFrom(fetches: readonly Archived[], known?: KnownSources): ReasonOf {
  const archived = new Set(
    fetches.map(({ source, ...fetch }) => keyOf({ importer: source, ...fetch })),
  );
  return (evidence) => {
    const { importer, importer_version, sha256, fetched_at } = evidence;
    if (!archived.has(keyOf(evidence))) {
      return `the archive lacks payload ${sha256} of ${importer}, fetched at ${fetched_at}`;
    }
    const version = sourceNamed(importer, known)?.version;
    if (version === importer_version) return null;
    const own = version === undefined ? 'no such importer' : `v${version}`;
    return `imported by ${importer} v${importer_version}; this program has ${own}`;
  };
}

function keyOf(of: Pick<Evidence, 'importer' | 'sha256' | 'url' | 'fetched_at'>): string {
  return JSON.stringify([of.importer, of.sha256, of.fetched_at, of.url]);
}

class Replay {
  readonly disk: BatchDisk;
  readonly #files = new Map<string, string>();
  /** Stored files that nothing was compared with yet. */
  readonly #stored: Map<string, string>;
  readonly #reasonOf: ReasonOf;
  readonly #differs: FileFinding[] = [];
  readonly #unshown: FileFinding[] = [];
  readonly #damaged: string[] = [];
  readonly #refused: string[] = [];
  #equal = 0;

  constructor(stored: Map<string, string>, reasonOf: ReasonOf) {
    this.#stored = stored;
    this.#reasonOf = reasonOf;
    this.disk = {
      read: (path) => this.#files.get(path) ?? null,
      write: (path, text) => {
        this.#files.set(path, text);
      },
    };
  }

  attempt(archived: Archived, take: () => void): void {
    try {
      take();
    } catch (error) {
      if (error instanceof ArchiveError) this.#damaged.push(error.message);
      else if (error instanceof ImportError) this.#refused.push(error.message);
      else throw new Error(`Cannot replay "${notePath(archived)}"`, { cause: error });
    }
  }

  /** Compares the files of batches that nothing is added to any more, and forgets them. */
  compare(isDone: (batch: string) => boolean): void {
    for (const [path, text] of this.#files) {
      if (!isDone(path.slice(0, path.indexOf('/')))) continue;
      this.#files.delete(path);
      if (this.#stored.has(path)) this.#judge(path, text);
      else
        this.#differs.push({ path, line: 1, reason: 'the archive gives it, and it is not stored' });
    }
  }

  finish(fetches: number): ReplayReport {
    const waiting = [...this.#files.keys()].filter((path) => !this.#stored.has(path));
    for (const path of waiting) this.#files.delete(path);
    this.compare(() => true);
    for (const path of [...this.#stored.keys()]) this.#judge(path, null);
    const [differs, unshown] = [this.#differs, this.#unshown];
    const [damaged, refused] = [this.#damaged, this.#refused];
    return { fetches, equal: this.#equal, differs, unshown, damaged, refused, waiting };
  }

  #judge(path: string, replayed: string | null): void {
    const place = defined(this.#stored.get(path), 'the stored file');
    this.#stored.delete(path);
    const stored = readPlain(place, STORED_BYTES_MAX).toString('utf8');
    const verdict = compareFile({ path, stored, replayed }, this.#reasonOf);
    if (verdict.kind === 'equal') {
      this.#equal += 1;
      return;
    }
    const { kind, line, reason } = verdict;
    (kind === 'differs' ? this.#differs : this.#unshown).push({ path, line, reason });
  }
}

interface ComparedFile {
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
type FileVerdict =
  | { readonly kind: 'equal' }
  | { readonly kind: 'differs' | 'unshown'; readonly line: number; readonly reason: string };

/** Why the payload behind some evidence cannot be imported again; null where it was. */
type ReasonOf = (evidence: Evidence) => string | null;

const BY_HAND = 'names no payload: written by hand, or imported before payloads were kept';
const NO_SUCH_LINE = 'the archive gives no such line';
const NO_SUCH_FILE = 'no payload of the archive gives this file';

/** Compares a file byte by byte. Where it differs, every line that the archive answers for must still be in it. */
export function compareFile(file: ComparedFile, reasonOf: ReasonOf): FileVerdict {
  const { path, stored, replayed } = file;
  if (stored === replayed) return { kind: 'equal' };
  try {
    return compareRows(file, reasonOf);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    const kind = replayed === null ? 'unshown' : 'differs';
    return { kind, line: 1, reason: `${path} holds a line that is not a JSON object` };
  }
}

function compareRows({ path, stored, replayed }: ComparedFile, reasonOf: ReasonOf): FileVerdict {
  const remade = new Set(replayed === null ? [] : storedRows(path, replayed).map(sortText));
  let open: FileVerdict | null = null;
  for (const { line, row } of numberedRows(path, stored)) {
    const reason = openReason(row, { path, isAlone: replayed === null, reasonOf });
    if (reason !== null) open ??= { kind: 'unshown', line, reason };
    else if (!remade.has(sortText(row))) return { kind: 'differs', line, reason: NO_SUCH_LINE };
  }
  if (open !== null) return open;
  const [left, right] = [stored.split('\n'), (replayed ?? '').split('\n')];
  const at = left.findIndex((line, index) => line !== right[index]);
  const line = (at === -1 ? left.length : at) + 1;
  const found = (replayed ?? '').split('\n')[line - 1] ?? '';
  return {
    kind: 'differs',
    line,
    reason: `the archive gives ${found === '' ? 'no more lines' : found.slice(0, LINE_CHARS_MAX)}`,
  };
}

/** Why the archive cannot answer for a row; null where it can. Filings name no evidence, so their file stands as a whole. */
function openReason(
  { evidence }: BatchRow,
  { path, isAlone, reasonOf }: { path: string; isAlone: boolean; reasonOf: ReasonOf },
): string | null {
  if (path.endsWith(`/${FILING_COLLECTION}.ndjson`)) return isAlone ? NO_SUCH_FILE : null;
  if (evidence === undefined) return BY_HAND;
  const parsed = evidenceSchema.safeParse(evidence);
  return parsed.success ? reasonOf(parsed.data) : 'its evidence cannot be read';
}

/** Rows with the lines that they stand at; a header is no row. */
function numberedRows(path: string, text: string): { line: number; row: BatchRow }[] {
  const numbers = text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [at + 1]));
  const rows = storedRows(path, text);
  const headers = numbers.length - rows.length;
  return rows.map((row, at) => ({ line: defined(numbers[at + headers], 'the line'), row }));
}

const LINE_CHARS_MAX = 200;

/** Findings of one kind that are written out; the rest is counted. */
const LINES_MAX = 20;

const HELP = `
Everything in the archive is imported again, into memory. Each file must come out as it is stored, byte for byte.

Exit codes:
  0  every stored file follows from the archive
  1  a file differs, a payload was altered or is missing, or this cannot run at all
  2  nothing differs, but some files are not shown: written by hand, of a payload that the archive
     lacks, or imported by another version of an importer
`;

export function defineReplay(command: Command, { print, exit }: CommandSettings): void {
  command
    .option('--snapshots <folder>', 'folder of batches', READINGS_FOLDER)
    .option('--archive <folder>', 'folder of the archive (default: "archive" below the snapshots)')
    .addHelpText('after', HELP)
    .action((flags: { snapshots: string; archive?: string }) => {
      const { snapshots, archive = archiveFolder(snapshots) } = flags;
      const report = replay({ snapshots, archive: new Archive(archive) });
      print(replayText(report).trimEnd());
      exit(replayExit(report));
    });
}

export function replayExit({ differs, damaged, unshown }: ReplayReport): VerifyOutcome['exitCode'] {
  if (differs.length > 0 || damaged.length > 0) return EXIT.failed;
  return unshown.length > 0 ? EXIT.undecided : EXIT.verified;
}

const VERDICT = {
  [EXIT.verified]: 'replay equal',
  [EXIT.failed]: 'replay DIFFERS',
  [EXIT.undecided]: 'replay equal as far as the archive goes',
} as const;

export function replayText(report: ReplayReport): string {
  const { fetches, equal, differs, unshown, damaged, refused, waiting } = report;
  return printed([
    `${VERDICT[replayExit(report)]}: ${fetches} fetches imported again, ${equal} files the same`,
    ...some(
      'DIFFERS',
      differs.toSorted(byPath).map(({ path, line, reason }) => `${path}:${line}  ${reason}`),
    ),
    ...some('DAMAGED', damaged),
    ...some(
      'unshown',
      [...grouped(unshown.toSorted(byPath), ({ reason }) => reason)].map(
        ([reason, [first, ...others]]) => {
          const more = others.length === 0 ? '' : ` and ${others.length} more files`;
          return `${first.path}:${first.line}${more}  ${reason}`;
        },
      ),
    ),
    ...some('refused', refused),
    ...some('waiting', waiting),
  ]);
}

function byPath(a: FileFinding, b: FileFinding): number {
  return a.path < b.path ? -1 : 1;
}

function some(kind: string, lines: readonly string[]): string[] {
  const shown = lines.slice(0, LINES_MAX).map((line) => `  ${kind}  ${line}`);
  const rest = lines.length - shown.length;
  return rest > 0 ? [...shown, `           … and ${rest} more`] : shown;
}
