import { endpointAt } from '../../../contract/endpoints.ts';
import { filePath } from '../../../contract/path.ts';
import { absentRow, serverRow } from '../../../contract/roster-views.ts';
import { NATURE } from '../../../contract/words.ts';
import { hoursBetween } from '../../derive/age.ts';
import { type McpServerRow, mcpServerRowSchema } from '../../intake/mcp-server-row.ts';
import type { Press } from '../../publish/press.ts';
import {
  absentSubjects,
  captureCounts,
  capturePart,
  presenceOf,
  type Subject,
  shownSubjects,
} from './capture-roster.ts';
import { disclosureOf, putRoster } from './put-roster.ts';
import { putPreview } from './roster-preview.ts';
import { measurers, rowProvenance } from './roster-provenance.ts';

const SIGNAL = 'mcp.server';
const ABOUT = { signal: SIGNAL, dimension: 'mcp-servers', cadence: 'daily' } as const;
/** Members that clients know and that nothing is stored of. */
const UNAVAILABLE = ['prominence', 'maturity', 'stars', 'downloads'];
const UNAVAILABLE_REASON = 'no source of these is stored; they are left out, not guessed';

type Server = Subject<McpServerRow>;

/** Everything about MCP servers: server, census, graveyard and their preview. */
export const mcpPart = capturePart<McpServerRow>({
  kind: SIGNAL,
  schema: mcpServerRowSchema,
  idOf: ({ server_id }) => server_id,
  factsOf,
  write(press, roster) {
    const { subjects, days } = roster;
    for (const server of subjects) putServer(press, server);
    // Every server ever captured; `missing_streak` counts the captures since it was last found.
    putRoster(press, {
      path: '/mcp/census',
      member: 'rows',
      about: ABOUT,
      claim: `MCP servers captured up to ${days.at(-1)}`,
      rows: shownSubjects(subjects, (server) => serverRow(serverBody(server))),
    });
    putRoster(press, {
      path: '/mcp/graveyard',
      member: 'deaths',
      about: ABOUT,
      claim: `MCP servers that a capture up to ${days.at(-1)} no longer found`,
      rows: shownSubjects(subjects, (server) => absentRow(server.id, serverBody(server))),
    });
    const absent = absentSubjects(roster).length;
    putPreview(press, '/mcp/preview', {
      kind: SIGNAL,
      counts: { servers: subjects.length, absent, ...captureCounts(roster) },
      paths: ['/mcp/server', '/mcp/census', '/mcp/graveyard'],
      values: subjects.map(({ id }) => id),
    });
    return ({ id }) => filePath(endpointAt('/mcp/server'), { name: id });
  },
});

function factsOf(row: McpServerRow) {
  const { server_id, capture_date, status, observed_at, source_ref, source_tier } = row;
  const name = row.name ?? null;
  return { server_id, name, capture_date, status, observed_at, source_ref, source_tier };
}

function serverBody(server: Server) {
  const { newest } = server;
  const { row, record_hash } = newest;
  return {
    nature: NATURE,
    ...factsOf(row),
    missing_streak: server.absences.length,
    lifecycle: presenceOf(server),
    data_age_hours: hoursBetween(row.observed_at, row.collected_at),
    record_hash,
    hash_core_version: record_hash === null ? null : 3,
    unavailable_fields: UNAVAILABLE,
    unavailable_reason: UNAVAILABLE_REASON,
    source_note: row.source_note ?? `captured on ${row.capture_date} by ${measurers(row)}`,
    provenance: rowProvenance(ABOUT, newest),
    ...disclosureOf(row),
  };
}

function putServer(press: Press, server: Server): void {
  const { id } = server;
  const { row } = server.newest;
  const statement = {
    claim: `registry record of the MCP server ${id}`,
    fact: `${id} as captured on ${row.capture_date}: status ${row.status}`,
    target: `/mcp/server?name=${encodeURIComponent(id)}`,
    observed_at: row.observed_at,
    retrieved_at: row.collected_at,
  };
  press.put('/mcp/server', { name: id }, press.sealer.seal(serverBody(server), statement));
}
