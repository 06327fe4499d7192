import { ImportError } from '../../import-error.ts';
import type { Payload } from '../../payload.ts';

/** Names of the events that are read. */
export const EVENTS: readonly string[] = [
  'Tornado Warning',
  'Severe Thunderstorm Warning',
  'Tornado Watch',
  'Severe Thunderstorm Watch',
];
/** Parameters of an address that leave the four events of the asked states whole, with what they must name. */
const WHOLE: ReadonlyMap<string, readonly string[]> = new Map([
  ['area', []],
  ['event', EVENTS],
  ['status', ['actual']],
  ['message_type', ['alert', 'update']],
]);
const PATH = /^\/alerts\/active(?:\/area\/([A-Z]{2}))?$/;

/** The states that an address asks for; null for all. Throws an ImportError where it leaves out some of them. */
export function askedStates({ note, subject }: Payload): readonly string[] | null {
  const { pathname, searchParams } = new URL(note.url);
  const path = PATH.exec(pathname);
  const named = [...searchParams].map(([name, value]) => ({ name, values: value.split(',') }));
  const narrow = named.find(({ name, values }) => {
    const needed = WHOLE.get(name);
    return needed === undefined || !needed.every((word) => values.includes(word));
  });
  if (path === null || narrow !== undefined) {
    const what = path === null ? pathname : `"${narrow?.name}"`;
    const state = `its address does not ask for all alerts (${what}); fetch /alerts/active, with "area" at most`;
    throw new ImportError({ subject, state });
  }
  const areas = named.flatMap(({ name, values }) => (name === 'area' ? values : []));
  const states = [...areas, ...(path[1] === undefined ? [] : [path[1]])];
  return states.length === 0 ? null : states;
}
