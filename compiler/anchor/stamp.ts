import { sha256 } from '@noble/hashes/sha2.js';
import {
  formatProof,
  mergeTimestamps,
  OTS_OPS,
  type Step,
  stepTo,
  type Timestamp,
} from '../contract/ots-proof.ts';
import type { AnchorStore } from '../stages/anchor/anchor-store.ts';
import { type PreviousRelease, signedRoots } from '../stages/anchor/previous-log.ts';
import type { CalendarClient } from './ots-calendar.ts';

interface StampParts {
  readonly release: PreviousRelease;
  readonly anchors: AnchorStore;
  readonly client: CalendarClient;
  readonly calendars: readonly string[];
  /** The time of the submission, ISO-8601 UTC. */
  readonly now: string;
}

export interface StampSummary {
  /** Roots that now have a promise. */
  readonly stamped: number;
  readonly answered: readonly string[];
  readonly failed: readonly { readonly calendar: string; readonly reason: string }[];
}

/** Submits the roots of all batches without a timestamp to every calendar, as one digest. */
export async function stampRoots(parts: StampParts): Promise<StampSummary> {
  const roots = signedRoots(parts.release).filter((root) => parts.anchors.read(root) === null);
  if (roots.length === 0) return { stamped: 0, answered: [], failed: [] };
  const whole = aggregate(roots.map((root) => new Uint8Array(Buffer.from(root, 'hex'))));
  const answers = await Promise.all(
    parts.calendars.map(async (calendar) => {
      return { calendar, answer: await parts.client.submit(calendar, whole.tip) };
    }),
  );
  const promises: Timestamp[] = [];
  const answered: string[] = [];
  const failed: { calendar: string; reason: string }[] = [];
  for (const { calendar, answer } of answers) {
    if (answer.kind === 'timestamp') {
      promises.push(answer.timestamp);
      answered.push(calendar);
    } else {
      failed.push({ calendar, reason: answer.kind === 'failed' ? answer.reason : 'no timestamp' });
    }
  }
  const [first, ...others] = promises;
  if (first === undefined) return { stamped: 0, answered, failed };
  const ofTip = others.reduce(mergeTimestamps, first);
  for (const [position, root] of roots.entries()) {
    keep(root, whole.complete(position, ofTip), parts);
  }
  return { stamped: roots.length, answered, failed };
}

/** What a calendar answers to a submission is a promise, whatever it claims: a block takes time. */
function keep(root: string, timestamp: Timestamp, { anchors, now }: StampParts): void {
  const proof = formatProof(timestamp);
  const state = {
    root,
    ots_state: 'pending',
    bitcoin_height: null,
    bitcoin_block: null,
    stamped_at: now,
  } as const;
  anchors.write({ state, proof });
}

type StampStep = Pick<Step, 'tag' | 'operand'>;

interface DigestGroup {
  readonly message: Uint8Array;
  readonly members: readonly number[];
}

const HASH: StampStep = { tag: OTS_OPS.sha256, operand: new Uint8Array(0) };

/**
 * Joins digests two by two, so that one submission stamps them all: `tip` is what calendars are given, `complete` leads each
 * digest there. Throws a RangeError for none.
 */
function aggregate(digests: readonly Uint8Array[]) {
  const paths: StampStep[][] = digests.map(() => []);
  let groups: DigestGroup[] = digests.map((message, position) => ({
    message,
    members: [position],
  }));
  while (groups.length > 1) groups = pairUp(groups, paths);
  const [top] = groups;
  if (top === undefined) throw new RangeError('Cannot stamp nothing: no digest is given');
  return {
    tip: top.message,
    complete(position: number, ofTip: Timestamp): Timestamp {
      const [digest, path] = [digests[position], paths[position]];
      if (digest === undefined || path === undefined) {
        throw new RangeError(`Cannot complete digest ${position}: none`);
      }
      return follow(digest, path, ofTip);
    },
  };
}

function pairUp(groups: readonly DigestGroup[], paths: readonly StampStep[][]): DigestGroup[] {
  const next: DigestGroup[] = [];
  for (let at = 0; at < groups.length; at += 2) {
    const [left, right] = [groups[at], groups[at + 1]];
    if (left === undefined) continue;
    next.push(right === undefined ? left : pair(left, right, paths));
  }
  return next;
}

function pair(left: DigestGroup, right: DigestGroup, paths: readonly StampStep[][]): DigestGroup {
  for (const member of left.members) {
    paths[member]?.push({ tag: OTS_OPS.append, operand: right.message }, HASH);
  }
  for (const member of right.members) {
    paths[member]?.push({ tag: OTS_OPS.prepend, operand: left.message }, HASH);
  }
  const message = sha256(Uint8Array.of(...left.message, ...right.message));
  return { message, members: [...left.members, ...right.members] };
}

function follow(message: Uint8Array, path: readonly StampStep[], end: Timestamp): Timestamp {
  const [first, ...rest] = path;
  return first === undefined ? end : stepTo(message, first, (result) => follow(result, rest, end));
}
