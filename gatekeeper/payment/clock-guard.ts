/** How far the clock may stand before the newest time in the journal: more than any correction of a running clock. */
export const CLOCK_BACK_MS_MAX = 5000;

/**
 * True when the clock was set back: windows of payments would be judged by a wrong time, so no new one is
 * taken until the clock has caught up. Free answers and what is paid already go on.
 */
export function clockIsBehind(nowMs: number, newestMs: number): boolean {
  return nowMs < newestMs - CLOCK_BACK_MS_MAX;
}
