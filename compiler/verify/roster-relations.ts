import { type EndpointPath, endpointAt } from '../contract/endpoints.ts';
import { filePath } from '../contract/path.ts';
import type { JsonValue } from '../contract/strict-json.ts';
import { isObject, type JsonObject } from './object-nodes.ts';
import { differing, isSame, type Related, rowsOf } from './relation.ts';

/** Which operation answers for a subject of a roster, and how a row names it. */
const SUBJECTS: readonly {
  readonly folder: string;
  readonly path: EndpointPath;
  readonly param: string;
  readonly named: (row: JsonObject) => JsonValue | undefined;
  /** Member of the subject that repeats the entity of the row; several coins may share a symbol. */
  readonly identity: string;
}[] = [
  {
    folder: 'roster/trust/',
    path: '/trust/precheck',
    param: 'service',
    named: ({ service, entity }) => service ?? entity,
    identity: 'service_id',
  },
  {
    folder: 'roster/mcp/',
    path: '/mcp/server',
    param: 'name',
    named: ({ entity }) => entity,
    identity: 'server_id',
  },
  {
    folder: 'roster/stable/',
    path: '/stable/coin',
    param: 'symbol',
    named: ({ symbol }) => symbol,
    identity: 'coin_id',
  },
];
/** A row and its subject count absences and describe a life each in their own words. */
const OWN = new Set(['lifecycle', 'nature', 'observed_at', '_citation']);

/** Compares every row of a roster with the subject's own body. */
export function checkRoster(roster: Related): void {
  const kind = SUBJECTS.find(({ folder }) => roster.path.startsWith(folder));
  if (kind === undefined) return;
  for (const member of ['rows', 'deaths', 'records']) {
    for (const [at, row] of rowsOf(roster.body[member]).entries()) {
      const subject = subjectOf(roster, kind, row);
      if (subject === 'absent') roster.fault(`${member}.${at}`, 'has no body of its subject');
      else if (subject !== null) compare(roster, { where: `${member}.${at}.`, row, subject });
    }
  }
}

function subjectOf(
  { bodies }: Related,
  { path, param, named, identity }: (typeof SUBJECTS)[number],
  row: JsonObject,
): JsonObject | 'absent' | null {
  const name = named(row);
  if (typeof name !== 'string') return null;
  const subject = bodies.get(filePath(endpointAt(path), { [param]: name }) ?? '');
  if (typeof subject === 'string') return subject === 'absent' ? subject : null;
  return subject[identity] === (row.service ?? row.entity) ? subject : null;
}

interface Pair {
  readonly where: string;
  readonly row: JsonObject;
  readonly subject: JsonObject;
}

function compare(roster: Related, { where, row, subject }: Pair): void {
  for (const name of differing(row, subject, OWN)) {
    roster.fault(where + name, 'differs from the body of its subject');
  }
  const inner = [
    ['lifecycle', row.lifecycle, subject.lifecycle],
    ['current', row, subject.current],
    ['lifecycle', pick(row, ['first_seen', 'last_seen']), subject.lifecycle],
  ] as const;
  for (const [name, own, whole] of inner) {
    if (!isObject(own) || !isObject(whole)) continue;
    for (const off of differing(own, whole, new Set())) {
      roster.fault(where + off, `differs from "${name}.${off}" of its subject`);
    }
  }
  if (!isSame(row.record_hash, subject.record_hash)) {
    roster.fault(`${where}record_hash`, 'is not that of its subject');
  }
  roster.count('roster_rows');
}

function pick(row: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]])),
  ) as JsonObject;
}
