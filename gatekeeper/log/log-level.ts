import { REASONS } from '../state/service-state.ts';

/** How much an entry matters, the least first. */
export const LOG_LEVELS = ['info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Which requests are logged: none, those that failed on our side (status 500 and above), or all. */
export const LOGGED_REQUESTS = ['off', 'errors', 'all'] as const;
export type LoggedRequests = (typeof LOGGED_REQUESTS)[number];

/** Events that are news. Every other one needs a look: `warn`, unless it stands below. */
const NEWS: readonly string[] = [
  'started',
  'stopped',
  'release_fetched',
  'release_swapped',
  'payments_reconciled',
  // What strangers send, and connections that they leave.
  'bad_request',
  'write_failed',
];

/** Events that keep buyers from being served. */
const ERRORS: readonly string[] = [
  'crashed',
  'payment_failed',
  'reconcile_failed',
  'request_failed',
];

const LEVEL_OF = new Map<unknown, LogLevel>([
  ...Object.entries(REASONS).flatMap(([event, { level, over }]) => [
    [event, level] as const,
    [over, 'info'] as const,
  ]),
  ...NEWS.map((event) => [event, 'info'] as const),
  ...ERRORS.map((event) => [event, 'error'] as const),
]);

/** The level of an entry: by its event, or by its status where it tells of an answer. */
export function levelOf({ event, status }: Readonly<Record<string, unknown>>): LogLevel {
  if (event === undefined) return typeof status === 'number' && status >= 500 ? 'warn' : 'info';
  return LEVEL_OF.get(event) ?? 'warn';
}
