import { isStale } from '../../compiler/format/release.ts';
import type { Service } from '../heart/answers/service.ts';
import { subscriptionWarnings } from '../heart/release/release-source.ts';
import type { Listed } from '../settle/facilitator/remote-facilitator.ts';
import { jsonReply, NO_STORE, type Reply } from '../wire/reply.ts';
import { REASONS, reasonsOf, type Standing, type StateName } from '../wire/service-state.ts';

/**
 * `/healthz`: whether the service serves, sells and publishes, and if not, why. A balancer goes by the status, which is
 * 200 as long as it serves. Computed, because it tells of this moment. `standing` keeps it from serving, selling or
 * publishing now; `warnings` are what the operator should know although it works,
 * and `listings` what directories made of what it sells.
 */
export function healthReport(
  { release, operator, clock }: Service,
  {
    standing,
    warnings: known,
    listings,
  }: {
    standing: readonly Standing[];
    warnings: readonly string[];
    listings: readonly Listed[];
  },
): Reply {
  const { sequence, as_of, valid_until } = release.head;
  const { settlement } = operator;
  const why = sentences(standing.filter((one) => !isWarning(one)));
  const warnings = [
    ...known,
    ...subscriptionWarnings(release.offers, operator.tokens !== null),
    ...sentences(standing.filter(isWarning)),
  ];
  const stale = { valid_until, stale: isStale(release.head, clock()) };
  const serves = stateOf('serves', standing);
  const body = {
    ...(why.length === 0 ? { status: 'ready' } : { status: 'not_ready', why }),
    serves,
    sells: stateOf('sells', standing),
    publishes: stateOf('publishes', standing),
    release: {
      sequence,
      as_of,
      age_s: Math.max(0, Math.round((clock() - Date.parse(as_of)) / 1000)),
      ...(valid_until === undefined ? {} : stale),
    },
    files: release.files.size,
    settlement,
    ...(settlement === 'test' ? { facilitator: 'local test facilitator, no money moves' } : {}),
    ...(listings.length === 0 ? {} : { listings }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
  return serves.ok ? jsonReply(200, body, [NO_STORE]) : jsonReply(503, body);
}

function isWarning({ reason }: Standing): boolean {
  return 'warns' in REASONS[reason];
}

/** Once each: several facilitators may be slow. */
function sentences(standing: readonly Standing[]): readonly string[] {
  return [...new Set(standing.map(({ why }) => why))];
}

function stateOf(state: StateName, standing: readonly Standing[]) {
  const reasons = reasonsOf(state, standing).map(({ of, ...one }) =>
    of === '' ? one : { ...one, of },
  );
  return reasons.length === 0 ? { ok: true } : { ok: false, reasons };
}
