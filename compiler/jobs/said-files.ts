import { defined } from '../contract/defined.ts';

/** Digits of the record hash of a citation that are remembered; its line says the rest. */
const MARK_DIGITS = 8;
const HASH_DIGITS = 64;
const PREFIX = 'sha256:';
/** Stands for a digit that is not remembered. */
const MASK = '*';

/** A file that was published about an entity, and the record hash of its citation where it has one. */
export interface SaidFile {
  readonly path: string;
  readonly record_hash: string | undefined;
}

/** What follows the kind in the path of every file of an entity, from the path of its record. */
function tailOf(record: string): string {
  return record.slice(record.indexOf('/'));
}

/** Files of an entity, its record first, as one text without white space: the kind of each, and how its hash begins. */
export function formatSaid(files: readonly SaidFile[]): string {
  const tail = tailOf(defined(files[0], 'the record').path);
  const cells = files.map(({ path, record_hash = PREFIX }) => {
    if (!path.endsWith(tail)) throw new RangeError(`Cannot remember "${path}": not by its entity`);
    const mark = record_hash.slice(PREFIX.length, PREFIX.length + MARK_DIGITS);
    return `${path.slice(0, -tail.length)}:${mark}`;
  });
  return cells.join(',');
}

/** The inverse of formatSaid for the entity with a record at this path, with an asterisk for each digit that is not remembered. */
export function parseSaid(record: string, said: string): readonly SaidFile[] {
  const tail = tailOf(record);
  return said.split(',').map((cell) => {
    const [kind, mark] = cell.split(':');
    const record_hash = mark ? PREFIX + mark.padEnd(HASH_DIGITS, MASK) : undefined;
    return { path: defined(kind, 'the kind') + tail, record_hash };
  });
}
