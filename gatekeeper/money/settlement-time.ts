import type { Network } from './networks.ts';

/**
 * Longest time from asking for a settlement to its outcome, the wait for its depth included. Buyers and proxies are
 * told to wait 90 s: `/verify` before it (10 s) and a last look at the chain behind it (15 s) must fit in as well. What is
 * rare comes on top: the time of a second facilitator or of an auth module, and a look for what `/verify` refused.
 */
export const SETTLEMENT_MS_MAX = 64_000;
/** Of it, the most that depth may take; the rest is for the settlement itself. */
const DEPTH_MS_MAX = 50_000;
/** Blocks beyond the depth asked for: the node may lag behind whoever settled. */
const LAG_BLOCKS = 3;
/** A chain that is this much slower than usual is still waited for. */
const SLOW_PERCENT = 125;

type Chain = Pick<Network, 'blockMs'>;

/** After how long a transfer should be there for good. */
export function finalMs({
  blockMs,
  finalBlocks,
}: Pick<Network, 'blockMs' | 'finalBlocks'>): number {
  return ((finalBlocks + LAG_BLOCKS) * blockMs * SLOW_PERCENT) / 100;
}

/** How long a transfer that is there may take to be as deep as it was asked to be, and to be seen there. */
export function depthMs({ blockMs }: Chain, confirmations: number): number {
  return ((confirmations + LAG_BLOCKS) * blockMs * SLOW_PERCENT) / 100;
}

/** The greatest depth that a buyer can be kept waiting for. */
export function confirmationsMax({ blockMs }: Chain): number {
  return Math.floor((DEPTH_MS_MAX * 100) / (blockMs * SLOW_PERCENT)) - LAG_BLOCKS;
}
