import { z } from 'zod';
import { LOG_FOLDER } from './tiles.ts';

/** Rows of one file of the list of batches. */
export const BATCHES_PER_FILE = 256;
/** Folder of those files in a release. */
export const BATCHES_FOLDER = `${LOG_FOLDER}/batches/`;
/** Most entries of a log. */
export const LOG_SIZE_MAX = 2 ** 32 - 1;
/** Path of the verifier key of the log in a release. */
export const LOG_KEY_PATH = `${LOG_FOLDER}/vkey`;

const hex32 = z.string().regex(/^[0-9a-f]{64}$/);

/** One row of the list of batches; a tree of `size` entries has the root that its checkpoint signs. */
export const logBatch = z.strictObject({
  batch: z.string().regex(/^\d{4}-\d{2}-\d{2}(T\d{2}Z)?$/),
  day: z.iso.date(),
  size_before: z.int().min(0).max(LOG_SIZE_MAX),
  size: z.int().min(1).max(LOG_SIZE_MAX),
  root: hex32,
  checkpoint: z.string().min(1),
});

/** Entries that one write batch added to the log; a batch that grew between two compiles has two rows. */
export type LogBatch = z.infer<typeof logBatch>;

/** Where the rows from `number * BATCHES_PER_FILE` on stand in a release. */
export function logBatchesPath(number: number): string {
  return `${BATCHES_FOLDER}${String(number).padStart(6, '0')}.txt`;
}

/** Text of one row, a JSON object with its line end. */
export function formatLogBatch(row: LogBatch): string {
  const { batch, day, size_before, size, root, checkpoint } = row;
  return `${JSON.stringify({ batch, day, size_before, size, root, checkpoint })}\n`;
}

/** The rows of one file of the list; throws for anything that formatLogBatch does not write. */
export function parseLogBatches(text: string): LogBatch[] {
  const rows = text
    .split('\n')
    .slice(0, -1)
    .map((line) => logBatch.parse(JSON.parse(line)));
  if (rows.map(formatLogBatch).join('') !== text) {
    throw new RangeError('Cannot read a list of batches: not spelled as compile writes it');
  }
  return rows;
}

const anchorState = z.strictObject({
  root: hex32,
  ots_state: z.enum(['pending', 'confirmed']),
  bitcoin_height: z.int().min(0).nullable(),
  bitcoin_block: hex32.nullable(),
  stamped_at: z.iso.datetime(),
});

/** What is known about the timestamp of one root; `bitcoin_block` is the block whose header was checked, or null. */
export type AnchorState = z.infer<typeof anchorState>;

/** Where the timestamp state of a root stands in a release; absent while it is unstamped. */
export function anchorStatePath(rootHex: string): string {
  return `${LOG_FOLDER}/anchor/${rootHex}.json`;
}

/** Where the timestamp proof of a root stands in a release. */
export function anchorProofPath(rootHex: string): string {
  return `${LOG_FOLDER}/anchor/${rootHex}.ots`;
}

/** Text of an anchor state, JSON with a line end. */
export function formatAnchorState(state: AnchorState): string {
  const { root, ots_state, bitcoin_height, bitcoin_block, stamped_at } = state;
  const members = { root, ots_state, bitcoin_height, bitcoin_block, stamped_at };
  return `${JSON.stringify(members)}\n`;
}

/** The inverse of formatAnchorState; throws for anything else. */
export function parseAnchorState(text: string): AnchorState {
  return anchorState.parse(JSON.parse(text));
}
