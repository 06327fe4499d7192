/** How far the clock may stand before the newest time in the journal: more than any correction of a running clock. */
const CLOCK_BACK_MS_MAX = 5000;

/**
 * True when the clock was set back: windows of payments would be judged by a wrong time, so no new one is
 * taken until the clock has caught up or the operator accepts it. Free answers and what is paid already go on.
 */
export function clockIsBehind(nowMs: number, newestMs: number): boolean {
  return nowMs < newestMs - CLOCK_BACK_MS_MAX;
}

/** What the operator is told about such a clock; null for any other clock. */
export function clockFailure(nowMs: number, newestMs: number): Error | null {
  if (!clockIsBehind(nowMs, newestMs)) return null;
  const [now, newest] = [new Date(nowMs).toISOString(), new Date(newestMs).toISOString()];
  return new Error(
    `Cannot take payments at "${now}": the newest time in the payment journal is ${newest}; correct the clock, ` +
      'or, if it is right now and once ran ahead, run signalpress-gate ledger accept-clock',
  );
}
