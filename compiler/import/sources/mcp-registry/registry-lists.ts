import { z } from 'zod';
import { ImportError } from '../../import-error.ts';
import { type Payload, parsePayload } from '../../payload.ts';
import { shaped } from '../../shape.ts';

const CURSOR_CHARS_MAX = 1000;
const OFFICIAL = 'io.modelcontextprotocol.registry/official';

/** One version of one server; the name is empty where the list has an empty row. */
export interface ListedServer {
  readonly name: string;
  readonly title: string | null;
  readonly status: string;
  readonly isLatest: boolean;
}
export interface RegistryList {
  readonly servers: readonly ListedServer[];
  /** Of the page behind this one; null behind the last, and for a list of one page. */
  readonly nextCursor: string | null;
}

/** An answer of `v0/servers`. */
const pageSchema = z.looseObject({
  servers: z.array(
    z.looseObject({
      server: z.looseObject({ name: z.string(), title: z.string().nullish() }),
      _meta: z.looseObject({
        [OFFICIAL]: z.looseObject({
          status: z.string().regex(/^[a-z][a-z_-]{0,39}$/),
          isLatest: z.boolean(),
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
export function registryList({ bytes, subject, note }: Payload): RegistryList {
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

/** The page that an address asks for; null for the first one. */
export function cursorOf(address: string): string | null {
  return new URL(address).searchParams.get('cursor');
}
