import { messageOf } from '../../../compiler/format/errors.ts';
import { isContinued, rootDid } from '../../../compiler/format/key-history.ts';
import { goesBack } from '../../../compiler/format/release.ts';
import type { ServiceState } from '../../wire/service-state.ts';
import { StartError } from '../../wire/start-error.ts';
import { ForeignContractError } from './open-release.ts';
import type { ReleaseIndex } from './release-index.ts';
import type { ReleaseSource } from './release-source.ts';

/** How long a release that did not verify is left alone before it is tried again. */
const RETRY_MS = 30_000;
/** A look that ended so many polls ago was not followed by another: it hangs, on a disk that is gone or slow. */
const MISSED_POLLS_MAX = 30;

export interface WatchOptions {
  readonly source: ReleaseSource;
  readonly current: () => ReleaseIndex;
  /** Opens the newest release of the source; throws when it does not verify. */
  readonly open: () => Promise<ReleaseIndex>;
  /** Called with a verified, newer release; rejects for nothing. */
  readonly swap: (next: ReleaseIndex) => void | Promise<void>;
  /** Called at each look that finds the served release to be the newest. */
  readonly goOn?: (served: ReleaseIndex) => void;
  readonly log: (entry: Readonly<Record<string, unknown>>) => void;
  readonly state: ServiceState;
  readonly pollMs?: number;
  readonly retryMs?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** Swaps to every newer verified release; a bad one is told to the state of the service, and the old one goes on. */
export function watchRelease(options: WatchOptions) {
  let seen: { mark: string; at: number } | null = null;
  let running: Promise<void> | null = null;
  let isAsked = false;
  const { source, state, now = () => performance.now() } = options;
  const lost = state.trouble('release_lost');
  let lookedAt = now();
  const pollMs = options.pollMs ?? source.pollMs;
  const look = async (): Promise<void> => {
    const mark = await source.mark();
    const served = options.current();
    if (await served.place.isThere()) lost.end();
    else lost.begin('the files of the release cannot be read');
    if (served.place.mark === mark) {
      endRefusals(state);
      return options.goOn?.(served);
    }
    const at = now();
    const waited = seen?.mark !== mark || at - seen.at > (options.retryMs ?? RETRY_MS);
    if (mark === null || !waited) return;
    seen = { mark, at };
    await tryNext(options, mark);
  };
  const looks = async (): Promise<void> => {
    try {
      while (isAsked) {
        isAsked = false;
        await look();
        lookedAt = now();
      }
    } finally {
      running = null;
    }
  };
  const check = (): Promise<void> => {
    // A look under way may have read the link before it changed, so another one follows.
    isAsked = true;
    running ??= looks();
    return running;
  };
  const timer = setInterval(check, pollMs).unref();
  const watcher = source.watch?.(() => void check());
  const failure = (): string | null => {
    const idleMs = MISSED_POLLS_MAX * pollMs;
    if (now() - lookedAt <= idleMs) return source.failure?.() ?? null;
    return `the last check for a newer release was more than ${Math.round(idleMs / 1000)} s ago: the disk with the releases does not respond`;
  };
  state.watch('releases_lost', failure);
  return {
    /** Checks which release is current; a call during a check makes another one follow. */
    check,
    /** What keeps a newer release from being found at this moment; null when nothing does. */
    failure,
    close(): void {
      clearInterval(timer);
      watcher?.close();
    },
  };
}

async function tryNext(options: WatchOptions, mark: string): Promise<void> {
  const { current, open, swap, log, state } = options;
  try {
    const next = await open();
    if (next.place.mark === current().place.mark) return;
    checkSuccessor(next, current());
    await options.source.prepare?.(next, current());
    await swap(next);
    endRefusals(state);
    const { sequence, as_of } = next.head;
    log({ event: 'release_swapped', release: mark, sequence, as_of });
  } catch (error) {
    noteRefused(state, error, { release: mark, serving: current().head.sequence });
  }
}

/** Tells that a release is not served: of a foreign contract, or for any other reason. */
export function noteRefused(
  state: ServiceState,
  error: unknown,
  more: Readonly<Record<string, unknown>>,
): void {
  const isForeign = error instanceof ForeignContractError;
  state.trouble(isForeign ? 'release_foreign' : 'release_refused').begin(messageOf(error), more);
}

function endRefusals(state: ServiceState): void {
  for (const reason of ['release_refused', 'release_foreign'] as const) state.trouble(reason).end();
}

/** The publication time never goes back, and a running service never changes its issuer. */
function checkSuccessor(
  { head: next, keys }: ReleaseIndex,
  { head: served, keys: known }: ReleaseIndex,
): void {
  const refuse = (why: string): never => {
    throw new StartError(`Cannot serve release ${next.sequence}: ${why}`);
  };
  if (rootDid(keys) !== rootDid(known))
    refuse('another issuer; restart with SIGNALPRESS_ISSUER_DID to change it');
  if (!isContinued(known, keys))
    refuse('its list of keys lacks a key or a revocation that was published; compile again');
  if (next.sequence <= served.sequence) refuse(`not newer than ${served.sequence}; compile again`);
  if (goesBack(served, next, keys))
    refuse(
      `as of ${next.as_of}, before ${served.as_of}; compile again, with --accept-clock if a clock ran ahead`,
    );
}
