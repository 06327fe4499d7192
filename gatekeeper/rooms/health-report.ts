import { isStale } from '../../compiler/contract/release.ts';
import type { Service } from '../answers/service.ts';
import { jsonReply, NO_STORE, type Reply } from '../http/reply.ts';

/** State of the service, besides what it serves. */
interface Condition {
  /** What keeps it from working at this moment. */
  readonly why: readonly string[];
  /** What the operator should know although the service works. */
  readonly warnings: readonly string[];
}

/** `/healthz`: whether the service is ready, and if not, why. Computed, because it tells of this moment. */
export function healthReport(
  { release, operator, clock }: Service,
  { why, warnings }: Condition,
): Reply {
  const { sequence, as_of, valid_until } = release.head;
  const { settlement } = operator;
  const isReady = why.length === 0;
  const stale = { valid_until, stale: isStale(release.head, clock()) };
  const body = {
    ...(isReady ? { status: 'ready' } : { status: 'not_ready', why }),
    release: {
      sequence,
      as_of,
      age_s: Math.max(0, Math.round((clock() - Date.parse(as_of)) / 1000)),
      ...(valid_until === undefined ? {} : stale),
    },
    files: release.files.size,
    settlement,
    ...(settlement === 'test' ? { facilitator: 'local test facilitator, no money moves' } : {}),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
  return isReady ? jsonReply(200, body, [NO_STORE]) : jsonReply(503, body);
}
