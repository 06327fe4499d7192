import { formatProof, mergeTimestamps } from '../../format/ots-proof.ts';
import type { AnchorStore } from '../log/anchor-store.ts';
import type { CalendarClient } from './ots-calendar.ts';

interface StampParts {
  /** The root of the log, in hex. */
  readonly root: string;
  readonly anchors: AnchorStore;
  readonly client: CalendarClient;
  readonly calendars: readonly string[];
  /** The time of the submission, ISO-8601 UTC. */
  readonly now: string;
}

export interface StampSummary {
  /** Whether the root has a promise now that it did not have. */
  readonly stamped: boolean;
  readonly answered: readonly string[];
  readonly failed: readonly { readonly calendar: string; readonly reason: string }[];
}

/** Submits the root of the log to every calendar, unless it has a timestamp: that covers every entry before it too. */
export async function stampRoot(parts: StampParts): Promise<StampSummary> {
  const { root, anchors, client, calendars } = parts;
  if (anchors.read(root) !== null) return { stamped: false, answered: [], failed: [] };
  const digest = new Uint8Array(Buffer.from(root, 'hex'));
  const answers = await Promise.all(calendars.map((calendar) => client.submit(calendar, digest)));
  const promises = answers.flatMap((answer) =>
    answer.kind === 'timestamp' ? [answer.timestamp] : [],
  );
  const answered = calendars.filter((_, at) => answers[at]?.kind === 'timestamp');
  const failed = calendars.flatMap((calendar, at) => {
    const answer = answers[at];
    if (answer === undefined || answer.kind === 'timestamp') return [];
    return [{ calendar, reason: answer.kind === 'failed' ? answer.reason : 'no timestamp' }];
  });
  const [first, ...others] = promises;
  if (first === undefined) return { stamped: false, answered, failed };
  const proof = formatProof(others.reduce(mergeTimestamps, first));
  // What a calendar answers to a submission is a promise, whatever it claims: a block takes time.
  const state = {
    root,
    ots_state: 'pending',
    bitcoin_height: null,
    bitcoin_block: null,
    stamped_at: parts.now,
  } as const;
  anchors.write({ state, proof });
  return { stamped: true, answered, failed };
}
