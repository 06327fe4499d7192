import { MCP_SERVERS } from '../../../contract/collections.ts';
import { type McpServerRow, mcpServerRowSchema } from '../../intake/roster-rows.ts';
import { absentSubjects, capturePart, unavailable } from './capture-roster.ts';
import { noteOf } from './roster-provenance.ts';

/** Members that clients know and that nothing is stored of. */
const UNAVAILABLE = ['prominence', 'maturity', 'stars', 'downloads'];

/** Everything about MCP servers: server, census, graveyard and their preview. */
export const mcpPart = capturePart<McpServerRow>({
  of: MCP_SERVERS,
  schema: mcpServerRowSchema,
  idOf: ({ server_id }) => server_id,
  factsOf(row) {
    const { server_id, capture_date, status, observed_at, source_ref, source_tier } = row;
    const name = row.name ?? null;
    return { server_id, name, capture_date, status, observed_at, source_ref, source_tier };
  },
  views: (roster) => ({
    membersOf: ({ absences, newest }) => [
      { missing_streak: absences.length },
      { ...unavailable(UNAVAILABLE), source_note: noteOf(newest.row) },
    ],
    textOf: ({ id, newest: { row } }) => ({
      claim: `registry record of the MCP server ${id}`,
      fact: `${id} as captured on ${row.capture_date}: status ${row.status}`,
    }),
    counts: { servers: roster.subjects.length, absent: absentSubjects(roster).length },
  }),
});
