import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { replay } from '../../../compiler/publish/evidence/replay.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { registryPage, server } from '../kit/small-payloads.ts';
import { Agency, type Reply } from './agency.ts';
import { gaugeAnswer } from './agency-payloads.ts';
import { PlayedShop } from './played-shop.ts';

const agency = new Agency();
let shop: PlayedShop;
beforeAll(() => agency.open());
afterAll(() => agency.close());
afterAll(removeFolders);
afterEach(() => shop.close());

const json = (body: unknown): Reply => ({ body: JSON.stringify(body), type: 'application/json' });
const publish = async (): Promise<number> => 1;
const at = (time: string): number => Date.parse(`2026-11-20T${time}Z`);

/** Rows of a file of a batch, with what its head says of all. */
function rowsOf(path: string): Record<string, unknown>[] {
  const lines = readFileSync(join(shop.snapshots, path), 'utf8').trimEnd().split('\n');
  const [head = {}, ...rows] = lines.map((line) => JSON.parse(line));
  return rows.map((row) => ({ ...head.header, ...row }));
}

describe('a step over the turn of an hour', () => {
  const [FIRST, SECOND] = ['07010000', '07020500'];
  const NWIS = 'https://waterservices.usgs.gov/nwis/iv/?format=json&sites=';
  const RIVERS = '2026-11-20T12Z/hydrology.river-level.ndjson';

  /** Stage of the first river at 10:45, as each step is told it; the second is asked five seconds later. */
  async function reported(stages: readonly (readonly [time: string, stage: number])[]) {
    shop = new PlayedShop(agency, {
      start: '2026-11-20T11:05:00Z',
      ids: ['usgs-nwis'],
      addresses: [FIRST, SECOND].map((site) => `${NWIS}${site}`),
      by: { publish },
    });
    const settled: string[] = [];
    for (const [time, stage] of stages) {
      shop.clock.ms = at(time);
      agency.serve('waterservices.usgs.gov', (path) => {
        const own = path.endsWith(FIRST) ? { [FIRST]: { '10:45': stage } } : null;
        const body = gaugeAnswer(own ?? { [SECOND]: { '10:45': 7, '11:45': shop.clock.ms % 9 } });
        return { body, type: 'application/json' };
      });
      settled.push((await shop.step({ isForced: true })).log);
    }
    const { archive, snapshots } = shop;
    return { log: settled.at(-1), replayed: replay({ snapshots, archive }) };
  }

  it('stores nothing that the agency took back before that hour, as a replay does', async () => {
    const { log, replayed } = await reported([
      ['11:05:00', 2],
      ['11:40:00', 3],
      ['11:59:58', 2],
    ]);
    expect(shop.clock.ms).toBe(at('12:00:03'));
    expect(rowsOf(RIVERS).map(({ entity }) => entity)).not.toContain(FIRST);
    expect(log).not.toContain('waited for this hour');
    expect(replayed).toMatchObject({ differs: [], unshown: [], waiting: [] });
  });

  it('stores and tells what the agency stood by', async () => {
    const { log, replayed } = await reported([
      ['11:05:00', 2],
      ['11:40:00', 3],
      ['11:59:58', 3],
    ]);
    const first = rowsOf(RIVERS).filter(({ entity }) => entity === FIRST);
    expect(first).toMatchObject([{ current: { stage_ft: 3 } }]);
    expect(log).toContain('1 revised readings that waited for this hour are stored');
    expect(replayed).toMatchObject({ differs: [], unshown: [], waiting: [] });
  });
});

describe('a list in pages over midnight', () => {
  it('is one capture of the day on which it began, and invents no absence', async () => {
    shop = new PlayedShop(agency, {
      start: '2026-11-20T23:59:59Z',
      ids: ['mcp-registry'],
      by: { publish },
    });
    agency.serve('registry.modelcontextprotocol.io', (path) =>
      path.includes('cursor=')
        ? json(registryPage([server('com.example/two')]))
        : json(registryPage([server('com.example/one')], 'com.example/one:1.0.0')),
    );
    expect(await shop.once()).toMatchObject({ exit: 0 });
    expect(shop.clock.ms).toBe(Date.parse('2026-11-21T00:00:00Z'));
    const notes = shop.archive.fetches();
    expect(notes.map(({ fetched_at }) => fetched_at)).toEqual(
      Array.from({ length: 2 }, () => '2026-11-20T23:59:59Z'),
    );
    // The agency's own clock is told as it was.
    expect(notes.map(({ http_date }) => http_date).sort()).toEqual([
      'Fri, 20 Nov 2026 23:59:59 GMT',
      'Sat, 21 Nov 2026 00:00:00 GMT',
    ]);
    const rows = rowsOf('2026-11-20T23Z/mcp.server.ndjson');
    const captures = rows.map(({ server_id, capture_date }) => [server_id, capture_date]);
    expect(captures.sort()).toEqual([
      ['com.example/one', '2026-11-20'],
      ['com.example/two', '2026-11-20'],
    ]);
  });
});
