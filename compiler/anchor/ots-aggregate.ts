import { sha256 } from '@noble/hashes/sha2.js';
import { OTS_OPS, type Step, stepTo, type Timestamp } from '../contract/ots-proof.ts';

type Operation = Pick<Step, 'tag' | 'operand'>;

/** Several digests as one: `tip` is what calendars are given, `complete` leads each digest there. */
export interface Aggregate {
  readonly tip: Uint8Array;
  /** The timestamp of the digest at a position, ending in that of the tip. */
  complete(position: number, ofTip: Timestamp): Timestamp;
}

interface Group {
  readonly message: Uint8Array;
  readonly members: readonly number[];
}

const HASH: Operation = { tag: OTS_OPS.sha256, operand: new Uint8Array(0) };

/** Joins digests two by two, so that one submission stamps them all; throws a RangeError for none. */
export function aggregate(digests: readonly Uint8Array[]): Aggregate {
  const paths: Operation[][] = digests.map(() => []);
  let groups: Group[] = digests.map((message, position) => ({ message, members: [position] }));
  while (groups.length > 1) groups = pairUp(groups, paths);
  const [top] = groups;
  if (top === undefined) throw new RangeError('Cannot stamp nothing: no digest is given');
  return {
    tip: top.message,
    complete(position, ofTip) {
      const [digest, path] = [digests[position], paths[position]];
      if (digest === undefined || path === undefined) {
        throw new RangeError(`Cannot complete digest ${position}: none`);
      }
      return follow(digest, path, ofTip);
    },
  };
}

function pairUp(groups: readonly Group[], paths: readonly Operation[][]): Group[] {
  const next: Group[] = [];
  for (let at = 0; at < groups.length; at += 2) {
    const [left, right] = [groups[at], groups[at + 1]];
    if (left === undefined) continue;
    next.push(right === undefined ? left : pair(left, right, paths));
  }
  return next;
}

function pair(left: Group, right: Group, paths: readonly Operation[][]): Group {
  for (const member of left.members) {
    paths[member]?.push({ tag: OTS_OPS.append, operand: right.message }, HASH);
  }
  for (const member of right.members) {
    paths[member]?.push({ tag: OTS_OPS.prepend, operand: left.message }, HASH);
  }
  const message = sha256(Uint8Array.of(...left.message, ...right.message));
  return { message, members: [...left.members, ...right.members] };
}

function follow(message: Uint8Array, path: readonly Operation[], end: Timestamp): Timestamp {
  const [first, ...rest] = path;
  return first === undefined ? end : stepTo(message, first, (result) => follow(result, rest, end));
}
