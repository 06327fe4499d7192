import type { Contradiction } from './evidence.ts';

/** What can be wrong with a log, or look so. */
export const FINDING_KINDS = [
  'fork',
  'release_fork',
  'key_fork',
  'leaf_missing',
  'rewritten',
  'rollback',
  'frozen',
  'silent',
  'unknown_key',
  'unwitnessed',
  'key_unlisted',
  'other_log',
  'unproven',
  'unreadable',
] as const;
type FindingKind = (typeof FINDING_KINDS)[number];

/** One thing that a round found. */
export interface Finding {
  readonly kind: FindingKind;
  /** What it is about, where one kind may be found about several things. */
  readonly about?: string;
  /** One sentence in plain words. */
  readonly detail: string;
  /** What proves it to a third person; without it only the monitor saw it. */
  readonly proof?: Contradiction;
  /** Signed checkpoint that could not be compared: whoever has its tiles may prove a fork by it later. */
  readonly note?: string;
}

/** A reading that is said twice may be a correction of its source: it is told, and is no alarm. */
export function isNotice({ kind }: Pick<Finding, 'kind'>): boolean {
  return kind === 'rewritten';
}
