import { factsText, type TakenFacts } from '../format/hash-index.ts';
import { RECORD_HASH } from '../format/record-hash.ts';

const PREFIX = 'sha256:';

/** A record hash that belongs into the log, with what it stands for. */
export interface Leaf extends TakenFacts {
  readonly record_hash: string;
}

/** A line that begins with the digits of the hash: `<64 hex> <facts>`. */
export function formatLeaf({ record_hash, ...facts }: Leaf): string {
  if (!RECORD_HASH.test(record_hash)) {
    throw new RangeError(`Cannot log "${record_hash.slice(0, 120)}": not a record hash`);
  }
  return `${record_hash.slice(PREFIX.length)} ${factsText(facts)}\n`;
}
