import { z } from 'zod';
import { DAY_MS } from '../../format/iso-time.ts';
import { originOf, readableEntries } from '../kit/entries.ts';
import { type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import { ReadingList, statedReading } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';
import { stateReading } from '../kit/subjects.ts';

// Servers of the MCP registry, each as a tool with a state. https://github.com/modelcontextprotocol/registry/tree/main/docs
// (openapi.yaml, and examples of its answers). The roster of servers is another source.

const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const STATES = { active: 'operating', deprecated: 'deprecated', deleted: 'withdrawn' } as const;
const ORIGIN = originOf(
  'Model Context Protocol registry',
  'https://registry.modelcontextprotocol.io/',
  { status: 'as its publishers entered it' },
);

const instant = z.iso.datetime({ offset: true });
const entrySchema = z.looseObject({
  server: z.looseObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+\/[A-Za-z0-9._-]+$/)
      .max(110),
    version: z.string().min(1),
  }),
  _meta: z.looseObject({
    [OFFICIAL]: z.looseObject({
      status: z.enum(['active', 'deprecated', 'deleted']),
      publishedAt: instant,
      statusChangedAt: instant.optional(),
      isLatest: z.literal(true),
    }),
  }),
});
const pageSchema = z.looseObject({
  servers: z.array(z.unknown()),
  metadata: z.looseObject({ nextCursor: z.string().nullish() }).optional(),
});

function read(payload: Payload): Imported {
  const { servers } = jsonOf(payload, pageSchema, 'a page of the registry');
  const list = new ReadingList();
  const { read: entries } = readableEntries(servers, entrySchema, { list, of: nameOf });
  const at = Date.parse(payload.note.fetched_at);
  const scope = 'newest version of a server in the registry; whether it answers is not tried';
  for (const { server, _meta } of entries) {
    const { status, publishedAt, statusChangedAt } = _meta[OFFICIAL];
    const released = Date.parse(publishedAt);
    const changed = statusChangedAt === undefined ? null : Date.parse(statusChangedAt);
    if (released > at || (changed ?? 0) > at) {
      list.skips.add(server.name, 'a time after the fetch');
      continue;
    }
    const subject = {
      entity: server.name,
      state: STATES[status],
      // Of the first version nothing is said.
      birth: null,
      end: status === 'deleted' ? changed : null,
      context: { version: server.version.slice(0, 60) },
    };
    list.add('ai-tool.lifecycle', stateReading(subject, { origin: ORIGIN, payload, at, scope }));
    if (status !== 'active') continue;
    const current = { since_last_release_days: Math.floor((at - released) / DAY_MS) };
    const stated = { entity: server.name, at, current, scope };
    list.add('ai-tool.zombie', statedReading(ORIGIN, payload, stated));
  }
  return servers.length === 0 ? list.imported() : list.someOf(payload);
}

function nameOf(entry: unknown, at: number): string {
  const shape = z.looseObject({ server: z.looseObject({ name: z.string() }) });
  return shape.safeParse(entry).data?.server.name ?? `entry ${at + 1}`;
}

export const aiTools: Source = {
  ...registered('ai-tools'),
  version: 1,
  read,
  nextCursor: (payload) => {
    const { metadata } = jsonOf(payload, pageSchema, 'a page of the registry');
    return metadata?.nextCursor || null;
  },
};
