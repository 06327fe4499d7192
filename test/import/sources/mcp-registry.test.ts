import { describe, expect, it } from 'vitest';
import type { Imported } from '../../../compiler/import/payload.ts';
import { mcpRegistry } from '../../../compiler/import/sources/mcp-registry/mcp-registry.ts';
import { PAYLOADS, readAs } from '../recorded.ts';
import { registryPage, server } from '../registry-pages.ts';

const API = 'https://registry.modelcontextprotocol.io/v0/servers';
const AT = { url: `${API}?limit=100`, fetched_at: '2026-11-20T11:05:00Z' };
const read = (payload: unknown, url = AT.url) => readAs('mcp-registry', payload, { ...AT, url });
const rowsOf = ({ rows }: Imported) =>
  [...(rows?.get('mcp.server') ?? [])] as Readonly<Record<string, unknown>>[];
const idsOf = (imported: Imported) => rowsOf(imported).map(({ server_id }) => server_id);
const nextPage = (payload: unknown, url = AT.url) =>
  mcpRegistry.fetch?.nextPage?.({
    bytes: Buffer.from(JSON.stringify(payload)),
    note: { ...AT, url, http_status: 200 },
    subject: 'page',
  });

describe('mcp-registry, pages', () => {
  it('gives a row of each server in its latest version, by name', () => {
    const imported = read(
      registryPage([
        server('io.github.b/two', { status: 'deprecated' }),
        server('io.github.b/two', { isLatest: false }),
        server('com.example/one', {}, { title: 'One' }),
      ]),
    );
    expect(rowsOf(imported)).toMatchObject([
      {
        server_id: 'com.example/one',
        name: 'One',
        status: 'active',
        capture_date: '2026-11-20',
        observed_at: AT.fetched_at,
        source_ref: API,
      },
      { server_id: 'io.github.b/two', status: 'deprecated' },
    ]);
    expect(imported.readings.size).toBe(0);
    expect(imported.isPart).toBeUndefined();
    expect(imported.skipped).toMatchObject([{ subject: 'versions', count: 1 }]);
  });

  it('drops empty names and names that are no id, with a count', () => {
    const imported = read(
      registryPage([server(''), server(' '), server('n/a'), server('one two'), server('a.b/c')]),
    );
    expect(idsOf(imported)).toEqual(['a.b/c']);
    expect(imported.skipped).toEqual([
      { subject: 'n/a', reason: 'a name that is no id', count: 1 },
      { subject: 'one two', reason: 'a name that is no id', count: 1 },
      { subject: 'rows', reason: 'without a name', count: 2 },
    ]);
  });

  it.each([
    ['Buy now', '"Buy" forecasts'],
    ['Bank\u202eknaB', 'U+202E is hidden'],
    ['Two\nlines', 'U+000A is hidden'],
  ])('I63: leaves out the title %j with its reason, and no server', (title, why) => {
    const list = [server('a.b/c', {}, { title }), server('a.b/d', {}, { title: 'Bank' })];
    const imported = read(registryPage(list));
    expect(rowsOf(imported).map(({ server_id, name }) => [server_id, name])).toEqual([
      ['a.b/c', undefined],
      ['a.b/d', 'Bank'],
    ]);
    const [skipped] = imported.skipped;
    expect(skipped?.subject).toBe('a.b/c');
    expect(skipped?.reason).toContain(`its title is left out: ${why}`);
  });

  it('says of a page that it is a part, and where the next one is', () => {
    const first = registryPage([server('a.b/c')], 'a.b/c:1.0&x');
    const last = registryPage([server('a.b/d')]);
    const second = `${API}?limit=100&cursor=a.b%2Fc%3A1.0%26x`;
    expect(read(first).isPart).toBe(true);
    expect(nextPage(first)).toBe(second);
    expect(read(last, second).isPart).toBe(true);
    expect(nextPage(last, second)).toBeNull();
    expect(() => nextPage(first, second)).toThrow('its next page is itself');
    expect(mcpRegistry.fetch?.isWhole).toBe(true);
    expect(mcpRegistry.fetch?.addresses({ entities: [], now: 0 })).toEqual([AT.url]);
  });

  it.each([
    [
      'that counts another number',
      { ...registryPage([server('a.b/c')]), metadata: { count: 2 } },
      'counts 2 servers and holds 1',
    ],
    [
      'with a latest version twice',
      registryPage([server('a.b/c'), server('a.b/c')]),
      'holds "a.b/c" twice',
    ],
    ['without metadata', { servers: [server('a.b/c')] }, 'metadata'],
    ['with an empty cursor', registryPage([server('a.b/c')], ''), 'metadata.nextCursor'],
    [
      'with a cursor too long for an address',
      registryPage([server('a.b/c')], 'a'.repeat(1001)),
      'metadata.nextCursor',
    ],
    [
      'with a server of no status',
      registryPage([server('a.b/c', { status: undefined })]),
      'status',
    ],
    [
      'with a status in other words',
      registryPage([server('a.b/c', { status: 'In Use!' })]),
      'status',
    ],
    [
      'with a version of unknown age',
      registryPage([server('a.b/c', { isLatest: 'yes' })]),
      'isLatest',
    ],
    ['that is an error', { error: 'x' }, 'not a page of the registry'],
  ])('refuses a page %s', (_name, payload, message) => {
    expect(() => read(payload)).toThrow(message);
  });
});

describe('mcp-registry, seed lists', () => {
  const seed = (name: string, version_detail?: object) => ({
    name,
    repository: { url: 'https://example.org' },
    ...(version_detail === undefined ? {} : { version_detail }),
  });

  it('reads both shapes as whole lists', () => {
    const first = read([seed('io.github.b/two'), seed('io.github.a/one')]);
    expect(idsOf(first)).toEqual(['io.github.a/one', 'io.github.b/two']);
    expect(rowsOf(first)[0]?.status).toBe('listed');
    const second = read([
      seed('io.github.a/one', { is_latest: true }),
      seed('', { is_latest: false }),
      seed('io.github.b/two', { is_latest: false }),
    ]);
    expect(idsOf(second)).toEqual(['io.github.a/one']);
    expect(second.skipped.map(({ reason }) => reason)).toEqual([
      'without a name',
      'not the latest of their server',
    ]);
    expect(second.isPart).toBeUndefined();
  });

  it.each([
    ['of nothing', []],
    ['of other things', [{ name: 'a.b/c' }]],
    ['with a name that is no text', [{ ...seed('a.b/c'), name: 7 }]],
  ])('refuses a list %s', (_name, payload) => {
    expect(() => read(payload)).toThrow('not a list of servers');
  });
});

describe.each(PAYLOADS)('recorded seed lists: $name', ({ isWhole, recorded }) => {
  const of = (file: string) => read(recorded(`mcp-registry/${file}`));

  it('tells April from May by their names, without the rows that have none', () => {
    const april = new Set(idsOf(of('seed_2025-04-24.json')));
    const listed = of('seed_2025-05-17.json');
    const may = new Set(idsOf(listed));
    expect([april.size, may.size]).toEqual(isWhole ? [373, 464] : [5, 6]);
    const count = isWhole ? 7 : 2;
    expect(listed.skipped).toEqual([{ subject: 'rows', reason: 'without a name', count }]);
    const gone = [...april].filter((id) => !may.has(id));
    expect(gone).toHaveLength(isWhole ? 7 : 1);
    expect(gone).toContain('io.github.bytebase/dbhub');
    // The mapping counts 99 new names; the files hold 98, since 373 - 7 + 98 = 464.
    expect([...may].filter((id) => !april.has(id))).toHaveLength(isWhole ? 98 : 2);
  });
});
