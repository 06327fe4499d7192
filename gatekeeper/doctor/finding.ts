import { messageOf } from '../system/message-of.ts';

/** How a check ended; `skipped` when the settings leave nothing to check. */
export type FindingState = 'ok' | 'warning' | 'failed' | 'skipped';

/** One thing that a check found. */
export interface Finding {
  readonly state: FindingState;
  /** What was seen. */
  readonly detail: string;
  /** What to do about it; only warnings and failures have one. */
  readonly remedy?: string;
}

export function ok(detail: string): Finding {
  return { state: 'ok', detail };
}

export function warning(detail: string, remedy: string): Finding {
  return { state: 'warning', detail, remedy };
}

export function failed(detail: string, remedy: string): Finding {
  return { state: 'failed', detail, remedy };
}

export function skipped(detail: string): Finding {
  return { state: 'skipped', detail };
}

/** An error as a finding: behind the last semicolon of its message stands what to do. */
export function failure(error: unknown): Finding {
  const text = messageOf(error);
  const cut = text.lastIndexOf('; ');
  if (cut === -1) return failed(text, 'see gatekeeper/SIGNS.md');
  return failed(text.slice(0, cut), text.slice(cut + 2));
}
