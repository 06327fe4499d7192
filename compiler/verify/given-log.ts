import { logOrigin } from '../contract/checkpoint.ts';
import type { KeyHistory } from '../contract/key-history.ts';
import type { Release } from '../contract/release.ts';
import type { LogTimes } from './log-times.ts';
import { isOfSigner } from './proven-catalog.ts';

/** A hash that a log has to hold, whose log that is, and who signed what it is the hash of. */
interface WantedLeaf {
  readonly hash: string;
  readonly origin: string;
  readonly signer: string;
}

/** Where an entry stands, in a log of so many. */
export interface LoggedPlace {
  readonly index: number;
  readonly size: number;
}

/** Looks an entry up in a log that its reader passed; null where it is none of it, or the log is of another issuer or service. */
export type GivenLog = (leaf: WantedLeaf) => LoggedPlace | null;

/** The log of a release whose head holds: its list of files signs each entry. */
export function givenLog(log: LogTimes, head: Release, keys: KeyHistory | undefined): GivenLog {
  return ({ hash, origin, signer }) => {
    if (logOrigin(head.base_url) !== origin || !isOfSigner(head, signer, keys)) return null;
    const index = log.positionOf(hash);
    return index === null ? null : { index, size: log.size() };
  };
}
