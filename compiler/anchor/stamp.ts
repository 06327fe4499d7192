import { formatProof, mergeTimestamps, type Timestamp } from '../contract/ots-proof.ts';
import type { AnchorStore } from '../stages/anchor/anchor-store.ts';
import type { PreviousRelease } from '../stages/anchor/previous-log.ts';
import { readBatches } from '../stages/anchor/previous-log.ts';
import { aggregate } from './ots-aggregate.ts';
import type { CalendarClient } from './ots-calendar.ts';

export interface StampParts {
  readonly release: PreviousRelease;
  readonly anchors: AnchorStore;
  readonly client: CalendarClient;
  /** Addresses of calendars. */
  readonly calendars: readonly string[];
  /** The time of the submission, ISO-8601 UTC. */
  readonly now: string;
}

/** The result of a stamping. */
export interface StampSummary {
  /** Roots that now have a promise. */
  readonly stamped: number;
  readonly answered: readonly string[];
  readonly failed: readonly { readonly calendar: string; readonly reason: string }[];
}

/** Submits the roots of all batches without a timestamp to every calendar, as one digest. */
export async function stampRoots(parts: StampParts): Promise<StampSummary> {
  const roots = unstampedRoots(parts);
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

/** Roots of the current release that nothing vouches for, oldest first. */
function unstampedRoots({ release, anchors }: StampParts): string[] {
  const roots = readBatches(release).map(({ root }) => root);
  return roots.filter((root) => anchors.read(root) === null);
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
