/**
 * What this machine knows about a destination, in the data folder under `.publish/`:
 *
 *  - `sent.txt`: files of a release that is being uploaded, so that a killed upload goes on. Its first line is a word that
 *    the destination holds too. Where the destination does not hold it, it is not the place that was written to.
 *  - `lists/`: the lists of the releases that were published there, so that their files can be removed some day.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { lockData } from '../stages/publish/data-lock.ts';
import { readPlain, STORED_BYTES_MAX } from '../verify/plain-file.ts';

const FOLDER = '.publish';
const SENT_NAME = 'sent.txt';
const LISTS_NAME = 'lists';
const ID_DIGITS = 16;

export class UploadNotes {
  readonly #folder: string;
  readonly #unlock: () => void;
  #sent: Set<string> = new Set();

  /** One upload to a destination at a time; throws a LockedError during another one. */
  constructor(data: string, destination: string) {
    const id = createHash('sha256').update(destination).digest('hex').slice(0, ID_DIGITS);
    this.#folder = join(data, FOLDER, id);
    this.#unlock = lockData(this.#folder);
  }

  /** File whose first line is the word. */
  get sentPlace(): string {
    return join(this.#folder, SENT_NAME);
  }

  close(): void {
    this.#unlock();
  }

  /** The word of an upload that did not end; null for none. */
  unfinished(): string | null {
    const path = join(this.#folder, SENT_NAME);
    if (!existsSync(path)) return null;
    const text = readPlain(path, STORED_BYTES_MAX).toString('utf8');
    // What follows the last end of a line was cut off.
    const [word, ...paths] = text.split('\n').slice(0, -1);
    this.#sent = new Set(paths);
    return word ?? null;
  }

  /** Begins again; the word that the destination is to hold. */
  begin(): string {
    const word = randomBytes(16).toString('hex');
    this.#sent = new Set();
    writeFileSync(join(this.#folder, SENT_NAME), `${word}\n`);
    return word;
  }

  isSent(path: string): boolean {
    return this.#sent.has(path);
  }

  sent(path: string): void {
    appendFileSync(join(this.#folder, SENT_NAME), `${path}\n`);
  }

  /** The release is whole at the destination; `list` is the file of its list. */
  finish(release: string, list: string): void {
    rmSync(join(this.#folder, SENT_NAME), { force: true });
    const lists = join(this.#folder, LISTS_NAME);
    mkdirSync(lists, { recursive: true });
    // A second name of the same file outlives the release here.
    if (!existsSync(join(lists, release))) linkSync(list, join(lists, release));
  }

  /** Names of the releases that are there as far as it is known, oldest first. */
  published(): string[] {
    const lists = join(this.#folder, LISTS_NAME);
    return existsSync(lists) ? readdirSync(lists).sort() : [];
  }

  list(release: string): Buffer {
    return readPlain(join(this.#folder, LISTS_NAME, release), STORED_BYTES_MAX);
  }

  forget(release: string): void {
    rmSync(join(this.#folder, LISTS_NAME, release), { force: true });
  }
}
