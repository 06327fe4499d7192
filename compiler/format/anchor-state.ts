// What is known about the time stamp of a root of the log: two files beside the log for each root.

import { z } from 'zod';
import { LOG_FOLDER } from './tiles.ts';

const hex32 = z.string().regex(/^[0-9a-f]{64}$/);

const anchorState = z.strictObject({
  root: hex32,
  ots_state: z.enum(['pending', 'confirmed']),
  bitcoin_height: z.int().min(0).nullable(),
  bitcoin_block: hex32.nullable(),
  stamped_at: z.iso.datetime(),
});

/** What is known about the timestamp of one root; `bitcoin_block` is the block whose header was checked, or null. */
export type AnchorState = z.infer<typeof anchorState>;

/** Where the timestamp state of a root stands beside the releases; absent while it is unstamped. */
export function anchorStatePath(rootHex: string): string {
  return `${LOG_FOLDER}/anchor/${rootHex}.json`;
}

/** Where the timestamp proof of a root stands beside the releases. */
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
