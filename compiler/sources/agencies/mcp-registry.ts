import { z } from 'zod';
import { neutralFault } from '../../catalog/neutral-text.ts';
import { grouped } from '../../format/lists.ts';
import { type McpServerRow, rowId } from '../../readings/roster-rows.ts';
import {
  ImportError,
  type Imported,
  type Payload,
  parsePayload,
  SkipCount,
  shaped,
} from '../kit/payload.ts';
import { measuredBy } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';

const COLLECTION = 'mcp.server';
const REGISTRY = 'Model Context Protocol registry';
/** A domain written backwards, and a name in it. */
const NAME = /^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\/[A-Za-z0-9._-]+$/;
const SCOPE =
  'servers that the registry lists and has not deleted, in their latest version; a list without states says "listed"';

function read(payload: Payload): Imported {
  const { note } = payload;
  const { servers, nextCursor } = registryList(payload);
  const skips = new SkipCount();
  // The same without a title that is not stored: a server that the list left out would count as gone.
  const usable = servers
    .filter((server) => isUsable(server, skips))
    .map((server) => {
      const fault = server.title === null ? null : neutralFault(server.title);
      if (fault === null) return server;
      skips.add(server.name, `its title is left out: ${fault}`);
      return { ...server, title: null };
    });
  const named = [...grouped(usable, ({ name }) => name).values()].map(([server, ...others]) => {
    if (others.length === 0) return server;
    skips.unread(server.name, 'it is listed twice, so its state is not known');
    return { ...server, title: null, status: 'unknown' };
  });
  const isPart = nextCursor !== null || cursorOf(note.url) !== null;
  return {
    readings: new Map(),
    rows: new Map([[COLLECTION, named.map((server) => rowOf(server, payload)).sort(byId)]]),
    ...(isPart ? { isPart } : {}),
    skipped: skips.list(),
    remarks: [],
  };
}

function isUsable({ name, status, isLatest }: ListedServer, skips: SkipCount): boolean {
  if (name === '') skips.add('rows', 'without a name');
  // The registry itself says that it is gone, so the capture is one without it.
  else if (status === 'deleted') skips.add('servers', 'deleted from the registry');
  else if (!(NAME.test(name) && rowId.safeParse(name).success))
    skips.add(name.slice(0, 60), 'a name that is no id');
  else if (!isLatest) skips.add('versions', 'not the latest of their server');
  else return true;
  return false;
}

function rowOf({ name, title, status }: ListedServer, { note }: Payload): McpServerRow {
  const observed_at = note.fetched_at;
  return {
    server_id: name,
    ...(title === null ? {} : { name: title }),
    status,
    capture_date: observed_at.slice(0, 10),
    observed_at,
    collected_at: observed_at,
    sources: measuredBy(REGISTRY, null, observed_at),
    source_ref: note.url.replace(/\?.*$/, ''),
    source_tier: 'T1',
    scope: SCOPE,
    validation_status: 'as listed by the registry',
    uncertainty:
      'a list of names that publishers register; it does not say whether a server answers',
  };
}

function byId(a: McpServerRow, b: McpServerRow): number {
  return a.server_id < b.server_id ? -1 : 1;
}

/** Servers by name, page by page: https://registry.modelcontextprotocol.io/docs */
export const mcpRegistry: Source = {
  ...registered('mcp-registry'),
  version: 2,
  read,
  nextCursor: (payload) => registryList(payload).nextCursor,
};

const CURSOR_CHARS_MAX = 1000;
const OFFICIAL = 'io.modelcontextprotocol.registry/official';

/** One version of one server; the name is empty where the list has an empty row. */
interface ListedServer {
  readonly name: string;
  readonly title: string | null;
  readonly status: string;
  readonly isLatest: boolean;
}
interface RegistryList {
  readonly servers: readonly ListedServer[];
  /** Of the page behind this one; null behind the last, and for a list of one page. */
  readonly nextCursor: string | null;
}

/** An answer of `v0.1/servers`, and of `v0/servers` before it. */
const pageSchema = z.looseObject({
  servers: z.array(
    z.looseObject({
      server: z.looseObject({ name: z.string(), title: z.string().nullish() }),
      _meta: z.looseObject({
        [OFFICIAL]: z.looseObject({
          // A server of which only this cannot be read is listed all the same.
          status: z
            .string()
            .regex(/^[a-z][a-z_-]{0,39}$/)
            .catch('unknown'),
          // A list of the latest versions has no other, and one of all would hold the server twice.
          isLatest: z.boolean().catch(true),
        }),
      }),
    }),
  ),
  metadata: z.looseObject({
    // It becomes part of an address.
    nextCursor: z.string().min(1).max(CURSOR_CHARS_MAX).nullish(),
    count: z.int().min(0).optional(),
  }),
});

/** Lists of before the registry had an interface, in two shapes; they name no status. */
const seedSchema = z
  .array(
    z.looseObject({
      name: z.string(),
      repository: z.looseObject({ url: z.string() }),
      version_detail: z.looseObject({ is_latest: z.boolean() }).optional(),
    }),
  )
  .min(1);

/** Throws an ImportError for a payload that is neither, and for a page that holds another number than it counts. */
function registryList({ bytes, subject, note }: Payload): RegistryList {
  const value = parsePayload(bytes, subject);
  if (Array.isArray(value)) return seedList(value, subject);
  const page = shaped(pageSchema, value, { subject, is: 'a page of the registry' });
  const { nextCursor = null, count = page.servers.length } = page.metadata;
  if (count !== page.servers.length) {
    const state = `it counts ${count} servers and holds ${page.servers.length}; fetch it again`;
    throw new ImportError({ subject, state });
  }
  if (nextCursor !== null && nextCursor === cursorOf(note.url)) {
    throw new ImportError({ subject, state: 'its next page is itself; fetch the list again' });
  }
  const servers = page.servers.map(({ server, _meta }): ListedServer => {
    const official = _meta[OFFICIAL];
    const title = server.title?.trim() ?? '';
    return { name: server.name.trim(), title: title === '' ? null : title, ...official };
  });
  return { servers, nextCursor };
}

function seedList(value: unknown, subject: string): RegistryList {
  const rows = shaped(seedSchema, value, { subject, is: 'a list of servers' });
  const servers = rows.map(({ name, version_detail }) => ({
    name: name.trim(),
    title: null,
    status: 'listed',
    isLatest: name.trim() === '' || (version_detail?.is_latest ?? true),
  }));
  return { servers, nextCursor: null };
}

function cursorOf(address: string): string | null {
  return new URL(address).searchParams.get('cursor');
}
