import { existsSync } from 'node:fs';
import { defined } from '../contract/defined.ts';
import type { Evidence } from '../contract/record.ts';
import { type Archive, type Archived, ArchiveError, notePath } from '../fetch/archive.ts';
import { ArchiveImport } from '../fetch/archive-import.ts';
import { ImportError } from '../import/import-error.ts';
import { type BatchDisk, batchName } from '../import/merge-batch.ts';
import { listSnapshots } from '../stages/intake/list-snapshots.ts';
import { readPlain, STORED_BYTES_MAX } from '../verify/plain-file.ts';
import { compareFile, type FileVerdict, type WhyNot } from './compare-batch.ts';
import { type KnownSources, sourceNamed } from './rederive.ts';

/** A file of the snapshots whose bytes do not follow from the archive alone. */
export interface FileFinding {
  readonly path: string;
  readonly line: number;
  readonly reason: string;
}

/** What a replay found. */
export interface ReplayReport {
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

export interface ReplayOptions {
  readonly snapshots: string;
  readonly archive: Archive;
  /** A source by its name where it is not one of the table. */
  readonly known?: KnownSources;
}

/**
 * Imports everything in the archive again, in the order of its fetches, and compares each file with the stored one. Nothing
 * is written. A batch is compared and forgotten as soon as no later fetch can add to it.
 */
export function replay(options: ReplayOptions): ReplayReport {
  const { snapshots, archive, known } = options;
  if (!existsSync(archive.folder)) {
    throw new RangeError(
      `Cannot replay "${archive.folder}": there is no such folder; name the archive with --archive`,
    );
  }
  const fetches = archive.fetches();
  const run = new Replay(storedFiles(snapshots), whyNotOf(fetches, known));
  const importing = new ArchiveImport({
    archive,
    disk: run.disk,
    ...(known === undefined ? {} : { known }),
  });
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

/** Where the stored files are, by their path below the snapshots. */
function storedFiles(snapshots: string): Map<string, string> {
  const { signals, collections } = listSnapshots(snapshots);
  const files = [...signals.flatMap((one) => one.files), ...Object.values(collections).flat()];
  return new Map(files.map(({ name, path }) => [name, path]));
}

/** Only what is in the archive, and was read by the same rules, can be made again. */
function whyNotOf(fetches: readonly Archived[], known?: KnownSources): WhyNot {
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

/** One replay: what was imported and is not compared yet, and what was found. */
class Replay {
  readonly disk: BatchDisk;
  readonly #files = new Map<string, string>();
  /** Stored files that nothing was compared with yet. */
  readonly #stored: Map<string, string>;
  readonly #whyNot: WhyNot;
  readonly #differs: FileFinding[] = [];
  readonly #unshown: FileFinding[] = [];
  readonly #damaged: string[] = [];
  readonly #refused: string[] = [];
  #equal = 0;

  constructor(stored: Map<string, string>, whyNot: WhyNot) {
    this.#stored = stored;
    this.#whyNot = whyNot;
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
    this.#note(path, compareFile({ path, stored, replayed }, this.#whyNot));
  }

  #note(path: string, verdict: FileVerdict): void {
    if (verdict.kind === 'equal') {
      this.#equal += 1;
      return;
    }
    const { kind, line, reason } = verdict;
    (kind === 'differs' ? this.#differs : this.#unshown).push({ path, line, reason });
  }
}
