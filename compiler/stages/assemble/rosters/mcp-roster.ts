import { endpointAt } from '../../../contract/endpoints.ts';
import { filePath } from '../../../contract/path.ts';
import { absentRow, serverRow } from '../../../contract/roster-views.ts';
import { NATURE } from '../../../contract/words.ts';
import { hoursBetween } from '../../derive/age.ts';
import { type McpServerRow, mcpServerRowSchema } from '../../intake/mcp-server-row.ts';
import { readCollection } from '../../intake/read-collection.ts';
import type { Press } from '../../publish/press.ts';
import type { ReadPart } from '../part.ts';
import {
  absentSubjects,
  type CaptureRoster,
  captureCounts,
  capturedHashes,
  captureRoster,
  presenceOf,
  type Subject,
} from './capture-roster.ts';
import { disclosureOf, putHashes, putRoster } from './put-roster.ts';
import { previewHead, previewValues } from './roster-preview.ts';
import { measurers, rowProvenance } from './roster-provenance.ts';

const SIGNAL = 'mcp.server';
const ABOUT = { signal: SIGNAL, dimension: 'mcp-servers', cadence: 'daily' } as const;
/** Members that clients know and that nothing is stored of. */
const UNAVAILABLE = ['prominence', 'maturity', 'stars', 'downloads'];
const UNAVAILABLE_REASON = 'no source of these is stored; they are left out, not guessed';

type Server = Subject<McpServerRow>;
const idOf = ({ server_id }: McpServerRow): string => server_id;

/** Everything about MCP servers: server, census, graveyard and their preview. */
export const mcpPart: ReadPart = (collections, asOf) => {
  const { rows, problems } = readCollection(
    { files: collections[SIGNAL], asOf },
    mcpServerRowSchema,
  );
  const roster = captureRoster(rows, { kind: SIGNAL, idOf, factsOf });
  return {
    problems: [...problems, ...roster.problems],
    rows: rows.length,
    write(press) {
      for (const server of roster.subjects) putServer(press, server);
      putCensus(press, roster);
      putGraveyard(press, roster);
      putPreview(press, roster);
      putHashes(press, capturedHashes(roster, { signal: SIGNAL, idOf, fileOf }));
    },
  };
};

const fileOf = ({ id }: Server): string | null => filePath(endpointAt('/mcp/server'), { name: id });

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

/** Every server ever captured; `missing_streak` counts the captures since it was last found. */
function putCensus(press: Press, { subjects, days }: CaptureRoster<McpServerRow>): void {
  putRoster(press, {
    path: '/mcp/census',
    member: 'rows',
    about: ABOUT,
    claim: `MCP servers captured up to ${days.at(-1)}`,
    rows: subjects.map((server) => ({ shown: serverRow(serverBody(server)), from: server.newest })),
  });
}

function putGraveyard(press: Press, roster: CaptureRoster<McpServerRow>): void {
  putRoster(press, {
    path: '/mcp/graveyard',
    member: 'deaths',
    about: ABOUT,
    claim: `MCP servers that a capture up to ${roster.days.at(-1)} no longer found`,
    rows: roster.subjects.flatMap((server) => {
      const shown = absentRow(server.id, serverBody(server));
      return shown === null ? [] : [{ shown, from: server.newest }];
    }),
  });
}

function putPreview(press: Press, roster: CaptureRoster<McpServerRow>): void {
  const counts = {
    servers: roster.subjects.length,
    absent: absentSubjects(roster).length,
    ...captureCounts(roster),
  };
  const ids = roster.subjects.map(({ id }) => id);
  press.put(
    '/mcp/preview',
    {},
    {
      ...previewHead(press, {
        kind: SIGNAL,
        counts,
        paths: ['/mcp/server', '/mcp/census', '/mcp/graveyard'],
      }),
      ...previewValues('/mcp/server', ids),
    },
  );
}
