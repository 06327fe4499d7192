import { hash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { HEAD_BYTES_MAX } from '../format/release.ts';
import { STATE_FOLDER } from '../release/release-store.ts';
import { ForgottenError } from '../system/compile-error.ts';
import { NotPlainError, readPlain, STORED_BYTES_MAX } from '../system/plain-file.ts';

const STATE_NAME = 'state.json';

const knownSignal = z.strictObject({
  /** On how many shelves its entities stand, see known-entities.ts. */
  shelves: z.int().min(1),
  readings: z.int(),
  /** Lines that were left out. */
  rejects: z.int(),
  entities: z.int(),
  revisions: z.int(),
  repeats: z.int(),
  /** Entity of the free sample. */
  sample: z.string().nullable(),
});
const stateSchema = z.strictObject({
  format: z.literal('signalpress-state/1'),
  /** Everything that determines the bytes of a release except the snapshots. */
  key: z.string(),
  /** sha256 of the release.json that this belongs to. */
  release: z.string(),
  /** When reading began, by the clock of the disk. */
  since: z.number(),
  signals: z.record(z.string(), knownSignal),
  /** Bundles of each line. */
  bundles: z.record(z.string(), z.int()),
  /** Bytes of all listed files. */
  bytes: z.int(),
  /** sha256 of every other file of the folder, by its name. */
  files: z.record(z.string(), z.string()),
});
type StoredState = z.infer<typeof stateSchema>;
export type KnownSignal = z.infer<typeof knownSignal>;

/** What the previous compile remembered, known to fit the release that is current. */
export interface Memory {
  readonly state: StoredState;
  /** Bytes of one of its files; throws a ForgottenError when they are not what was written. */
  read(name: string): Buffer;
  has(name: string): boolean;
  /** Where a file stands, for another thread. */
  pathOf(name: string): string;
}

/** Reads what is remembered; null when there is nothing, or when it belongs to another release. */
export function recall(data: string): Memory | null {
  const folder = join(data, STATE_FOLDER);
  const state = stateOf(data);
  if (state === null) return null;
  const read = (name: string): Buffer => {
    const full = join(folder, name);
    const bytes = bytesAt(full, STORED_BYTES_MAX) ?? Buffer.alloc(0);
    if (hash('sha256', bytes, 'hex') === state.files[name]) return bytes;
    throw new ForgottenError(`Cannot use "${full}": not what was written`);
  };
  return {
    state,
    read,
    has: (name) => state.files[name] !== undefined,
    pathOf: (name) => join(folder, name),
  };
}

/** What the compile of the current release counted, whatever settings it had; null when that is not known. */
export function stateOf(data: string): StoredState | null {
  const release = join(data, 'current', 'release.json');
  const path = join(data, STATE_FOLDER, STATE_NAME);
  const [text, head] = [bytesAt(path, STORED_BYTES_MAX), bytesAt(release, HEAD_BYTES_MAX)];
  if (text === null || head === null) return null;
  const state = parsed(text.toString('utf8'));
  return state?.release === hash('sha256', head, 'hex') ? state : null;
}

/** The bytes of a plain file; null for anything else, which is nothing that a compile remembered. */
function bytesAt(path: string, max: number): Buffer | null {
  try {
    return existsSync(path) ? readPlain(path, max) : null;
  } catch (error) {
    if (error instanceof NotPlainError) return null;
    throw error;
  }
}

/** The first line of the file is the sha256 of the rest. */
function parsed(text: string): StoredState | null {
  const end = text.indexOf('\n');
  const rest = text.slice(end + 1);
  if (text.slice(0, end) !== hash('sha256', rest, 'hex')) return null;
  const result = stateSchema.safeParse(JSON.parse(rest));
  return result.success ? result.data : null;
}

/** Writes what the next compile is to remember into a folder of its own. */
export class Notes {
  readonly #folder: string;
  readonly #memory: Memory | null;
  readonly #files: Record<string, string> = {};
  readonly #folders = new Set<string>();

  constructor(folder: string, memory: Memory | null) {
    this.#folder = folder;
    this.#memory = memory;
  }

  /** Returns where the file stands until the release is published, and its sha256, hex. */
  write(name: string, content: string | Uint8Array): { path: string; sha256: string } {
    const path = this.#placeFor(name);
    writeFileSync(path, content, { flag: 'wx' });
    const sha256 = hash('sha256', content, 'hex');
    this.#files[name] = sha256;
    return { path, sha256 };
  }

  /** Takes note of a file that somebody else wrote into the folder; `digest` is its sha256, hex. */
  wrote(name: string, digest: string): void {
    this.#files[name] = digest;
  }

  /** The same, unless the previous compile wrote the same. */
  writeChanged(name: string, text: string): void {
    const before = this.#memory?.state.files[name];
    if (before !== hash('sha256', text, 'hex')) this.write(name, text);
  }

  /** Takes over what nobody wrote again; such files are never changed in place, so both folders may share them. */
  #keepRest(): void {
    if (this.#memory === null) return;
    for (const [name, digest] of Object.entries(this.#memory.state.files)) {
      if (this.#files[name] !== undefined) continue;
      this.#link(this.#memory.pathOf(name), name);
      this.#files[name] = digest;
    }
  }

  #link(kept: string, name: string): void {
    try {
      linkSync(kept, this.#placeFor(name));
    } catch (cause) {
      throw new ForgottenError(`Cannot keep "${kept}"`, { cause });
    }
  }

  finish(state: Omit<StoredState, 'format' | 'files'>): void {
    this.#keepRest();
    const whole: StoredState = { format: 'signalpress-state/1', ...state, files: this.#files };
    const text = JSON.stringify(whole);
    writeFileSync(this.#placeFor(STATE_NAME), `${hash('sha256', text, 'hex')}\n${text}`, {
      flag: 'wx',
    });
  }

  #placeFor(name: string): string {
    const path = join(this.#folder, name);
    const folder = dirname(path);
    if (!this.#folders.has(folder)) mkdirSync(folder, { recursive: true });
    this.#folders.add(folder);
    return path;
  }
}
