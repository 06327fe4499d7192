import { factsText } from '../../contract/log-runs.ts';
import { RECORD_HASH } from '../../contract/record-hash.ts';
import type { Leaf } from '../../contract/release.ts';

const PREFIX = 'sha256:';
const HEX_DIGITS = 64;
const SURE = '+';
const UNSURE = '?';

/** Leaves as bytes, one a line, with the batches that they name. */
export interface LeafLines {
  readonly batches: readonly string[];
  readonly lines: Uint8Array;
}

/** A leaf as its line says it. */
export interface LeafLine {
  /** Of the record hash. */
  readonly hex: string;
  readonly batch: string;
  readonly isNew: boolean;
  /** See factsText. */
  readonly facts: string;
}

/** A line that begins with the digits of the hash: `<64 hex> <+ or ?> <batch> <facts>`. */
export function formatLeaf({ record_hash, batch, isNew, ...facts }: Leaf): string {
  if (!RECORD_HASH.test(record_hash)) {
    throw new RangeError(`Cannot log "${record_hash.slice(0, 120)}": not a record hash`);
  }
  const hex = record_hash.slice(PREFIX.length);
  return `${hex} ${isNew === true ? SURE : UNSURE} ${batch} ${factsText(facts)}\n`;
}

/** The inverse of formatLeaf, of one line without its line end. */
export function parseLeaf(line: string): LeafLine {
  const batchAt = HEX_DIGITS + 3;
  const factsAt = line.indexOf(' ', batchAt) + 1;
  return {
    hex: line.slice(0, HEX_DIGITS),
    isNew: line[HEX_DIGITS + 1] === SURE,
    batch: line.slice(batchAt, factsAt - 1),
    facts: line.slice(factsAt),
  };
}
