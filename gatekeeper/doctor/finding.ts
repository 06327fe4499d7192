/** How a check ended; `skipped` when the settings leave nothing to check. */
export type State = 'ok' | 'warning' | 'failed' | 'skipped';

/** One thing that a check found. */
export interface Finding {
  readonly state: State;
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
