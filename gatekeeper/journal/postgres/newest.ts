/**
 * The newest time that counts among the last rows, in milliseconds since the epoch; 0 when there is none. What stands
 * before an accepted clock was noted by a wrong one.
 */
export const NEWEST_OF = newestAmong('$1');

/** The same as an expression, for a fixed number of rows. */
export function newestAmong(rows: string): string {
  return `
WITH accepted AS (SELECT at, payment_id FROM signalpress.accepted_clock ORDER BY id DESC LIMIT 1)
SELECT greatest(coalesce((SELECT at FROM accepted), 0), coalesce(max(created_at), 0), coalesce(max(settled_at), 0)) AS ms
FROM (SELECT created_at, settled_at FROM signalpress.payment
  WHERE id > coalesce((SELECT payment_id FROM accepted), 0) ORDER BY id DESC LIMIT ${rows}) AS last`;
}
