import type { KeyHistory } from '../contract/key-history.ts';
import type { LogPolicy } from '../contract/log-policy.ts';
import {
  believedDids,
  endOf,
  type KeyTrust,
  unrevoked,
  WHOEVER_HAS_IT,
} from '../verify/key-trust.ts';
import type { CheckpointFile } from './checkpoint-file.ts';
import type { Finding } from './finding.ts';
import { keysOfText } from './keys-text.ts';
import type { LogClient } from './log-client.ts';
import type { AddressState, MonitorState } from './monitor-state.ts';

/** One look at one address: what is known is changed in place, and written when the look is over. */
export interface Round {
  readonly address: string;
  readonly client: LogClient;
  /** Other addresses of the same service: they may still have tiles of a tree that this one hides. */
  readonly others: readonly LogClient[];
  /** Epoch milliseconds. */
  readonly now: number;
  readonly state: MonitorState;
  readonly own: AddressState;
  /** What is demanded of checkpoints beside the signature of the issuer. */
  readonly policy: LogPolicy | undefined;
  readonly seen: CheckpointFile;
  readonly readings: ReadingBodies;
  readonly findings: Finding[];
  /** What changed, a line each. */
  readonly news: string[];
}

/** Bodies of readings by their record hash. */
export interface ReadingBodies {
  read(hash: string): string | null;
  write(hash: string, text: string): void;
  remove(hash: string): void;
}

/** The list that a state holds is judged once: every version of a root costs some signatures. */
const judgedLists = new WeakMap<
  MonitorState,
  { readonly text: string; readonly keys: KeyHistory }
>();

/** The list of keys that is known; none where none was seen. */
export function knownKeys(state: MonitorState): { readonly keys?: KeyHistory } {
  const { keys: text } = state;
  if (text === null) return {};
  const known = judgedLists.get(state);
  if (known?.text === text) return { keys: known.keys };
  const keys = keysOfText(text);
  judgedLists.set(state, { text, keys });
  return { keys };
}

/** Whom the state says to trust, with the list of keys that is known. */
export function trustOf(state: MonitorState): KeyTrust & { readonly trust: readonly string[] } {
  const { issuers: trust, roots } = state;
  return { trust, roots, ...knownKeys(state) };
}

/** DIDs whose signature is believed: of a note no time is known, so no key that was revoked is among them. */
export function signersOf(state: MonitorState): string[] {
  const trusted = trustOf(state);
  const lists = trusted.keys === undefined ? [] : [trusted.keys];
  return unrevoked(believedDids(trusted, undefined), lists);
}

/**
 * Why nothing is learnt from a statement of these signers; null where one of them is in use, or none is known. What was kept
 * was seen while its key was in use.
 */
export function endedFault({ state, now }: Round, signers: readonly string[]): string | null {
  const { keys } = trustOf(state);
  const lists = keys === undefined ? [] : [keys];
  const ends = signers.map((did) => ({ did, until: endOf(did, lists, now) }));
  const [first] = ends;
  if (first === undefined || ends.some(({ until }) => until === null)) return null;
  return `signed by ${first.did}, which was in use until ${first.until}: ${WHOEVER_HAS_IT}`;
}

/** The same of several statements, each of one signer: null where every one of them is in use. */
export function anyEnded(round: Round, signers: readonly string[]): string | null {
  return signers.flatMap((did) => endedFault(round, [did]) ?? [])[0] ?? null;
}
