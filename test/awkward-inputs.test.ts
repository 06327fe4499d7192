import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../compiler/catalog/builtin.ts';
import { listSnapshots } from '../compiler/readings/list-snapshots.ts';
import { faultText, type InputFault } from '../compiler/system/compile-error.ts';
import { serverRow } from './roster-rows.ts';
import {
  compileFaults,
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from './snapshot-folder.ts';

// What people hand in by mistake, and all that they are told: where it is, what it is, and what to do.

afterAll(removeFolders);
const GOOD = reading('btc', { price_usd: 1 });
const US = reading('us', { unemployment_pct: 4 });
const MANY = Array.from({ length: 300 }, (_, at) => reading(`coin-${at}`, { price_usd: at }));
const { collected_at, sources, source_ref, source_tier, ...OWN } = GOOD;
const HEADER = { collected_at, sources, source_ref, source_tier };
const SHORT = Array.from({ length: 300 }, (_, at) => ({ ...OWN, entity: `coin-${at}` }));
const SERVERS = Array.from({ length: 300 }, (_, at) => {
  const { capture_date, ...row } = serverRow(`server-${at}`, '2026-11-20');
  return row;
});
const SPOT = '2026-11-20/crypto.spot.ndjson';
const MCP = '2026-11-20/mcp.server.ndjson';
const AFTER = 'the lines after it were not read';
const headed = (header: unknown, rows: readonly object[] = SHORT): string =>
  `${JSON.stringify(header)}\n${ndjson(rows)}`;
const spot = (text: string | Uint8Array): SnapshotFiles => ({ [SPOT]: text });
const row = (change: object, path = SPOT): SnapshotFiles => ({
  [path]: ndjson([GOOD, { ...GOOD, ...change }]),
});
const utf16 = (text: string): Uint8Array => Buffer.from(`\ufeff${text}`, 'utf16le');

const TABLE: readonly [string, SnapshotFiles, string][] = [
  [
    'a header with a bad member',
    spot(headed({ header: { ...HEADER, source_tier: 'T9' } })),
    `${SPOT}:1 header.source_tier: T1, T2, T2-<subtype>, screen-viewpoint or null; ${AFTER}`,
  ],
  [
    'a header with a misspelt member',
    spot(headed({ header: { ...HEADER, source_teir: 'T1' } })),
    `${SPOT}:1 header: unknown member "source_teir"; did you mean "source_tier"? ${AFTER}`,
  ],
  [
    'a misspelt header',
    spot(headed({ headers: HEADER })),
    `${SPOT}:1 header: unknown member "headers"; did you mean "header"? ${AFTER}`,
  ],
  [
    'a header with a reading beside it',
    spot(headed({ header: HEADER, entity: 'btc' })),
    `${SPOT}:1 header: a header must be alone on its line; move "entity" into it, or into the lines below; ${AFTER}`,
  ],
  [
    'a header that is no object',
    spot(headed({ header: [HEADER] })),
    `${SPOT}:1 header: not an object; write {"header":{…}}; ${AFTER}`,
  ],
  [
    'a header that is cut off',
    spot(headed({ header: HEADER }).replace('}]', ']')),
    `${SPOT}:1 header.sources.0.independent: Cannot parse JSON "header.sources.0.independent" at character`,
  ],
  [
    'a header with an entity that is none, which all lines inherit',
    {
      '2026-11-20/airquality.aqi.ndjson': headed(
        { header: { ...HEADER, entity: 'us-denvr' } },
        SHORT.map(({ entity: _, ...own }) => ({ ...own, current: { aqi_index: 1 } })),
      ),
    },
    '2026-11-20/airquality.aqi.ndjson:1 header.entity: "us-denvr" is not an entity of this signal; did you mean "us-denver"? ' +
      '"signalpress lines airquality.aqi" lists them',
  ],
  [
    'a header of another day',
    spot(
      headed(
        { header: { ...HEADER, collected_at: '2026-11-18T11:00:00Z' } },
        SHORT.map((own) => ({ ...own, observed_at: '2026-11-18T10:00:00Z' })),
      ),
    ),
    `${SPOT}:1 header.collected_at: "2026-11-18T11:00:00Z" is outside the day of its batch "2026-11-20"; ` +
      'correct it, or store the line in the batch of its day',
  ],
  [
    'a header of rows with a bad member',
    { [MCP]: headed({ header: { capture_date: '2026-02-30' } }, SERVERS) },
    `${MCP}:1 header.capture_date: there is no day 2026-02-30; correct it; ${AFTER}`,
  ],
  [
    'a header of rows with a member that rows do not have',
    { [MCP]: headed({ header: { capture_dat: '2026-11-20' } }, SERVERS) },
    `${MCP}:1 header: unknown member "capture_dat"; did you mean "capture_date"? ${AFTER}`,
  ],
  [
    'a second header',
    spot(ndjson([GOOD, { header: HEADER }, ...SHORT])),
    `${SPOT}:2 header: a header may only be the first line; start another file; ${AFTER}`,
  ],
  [
    'a pretty-printed file',
    spot(`${JSON.stringify(GOOD, null, 2)}\n`.repeat(20)),
    `${SPOT}:1 line: a pretty-printed JSON file; write each object on one line, for example with jq -c .; ${AFTER}`,
  ],
  [
    'a pretty-printed list',
    spot(JSON.stringify(MANY, null, 2)),
    `${SPOT}:1 line: a JSON array over several lines; write one object per line, for example with jq -c '.[]'; ${AFTER}`,
  ],
  [
    'a list with an object a line',
    spot(`[${MANY.map((each) => JSON.stringify(each)).join(',\n')}]`),
    `${SPOT}:1 line: a JSON array over several lines; write one object per line, for example with jq -c '.[]'; ${AFTER}`,
  ],
  [
    'a list in one line',
    spot(JSON.stringify(MANY)),
    `${SPOT}:1 line: a JSON array; write one object per line, for example with jq -c '.[]'; ${AFTER}`,
  ],
  [
    'a CSV',
    spot(`entity,observed_at,price_usd\n${'btc,2026-11-20T10:00:00Z,1\n'.repeat(300)}`),
    `${SPOT}:1 line: a CSV file; write each row as one JSON object per line, with its columns as members; ${AFTER}`,
  ],
  [
    'a CSV of rows, with semicolons and quotes',
    { [MCP]: `"server_id";"status"\n${'"a";"active"\n'.repeat(300)}` },
    `${MCP}:1 line: a CSV file; write each row as one JSON object per line, with its columns as members; ${AFTER}`,
  ],
  [
    'a compressed file',
    spot(gzipSync(ndjson(MANY))),
    `${SPOT}:1 line: a compressed file; unpack it, for example with gunzip; ${AFTER}`,
  ],
  [
    'text of UTF-16',
    spot(utf16(ndjson(MANY))),
    `${SPOT}:1 line: UTF-16 text; save it as UTF-8; ${AFTER}`,
  ],
  [
    'a misspelt member',
    row({ entity: undefined, entitty: 'btc' }),
    `${SPOT}:2 line: unknown member "entitty"; did you mean "entity"?`,
  ],
  [
    'a misspelt metric',
    row({ current: { price_used: 1 } }),
    `${SPOT}:2 current.price_usd: main metric missing; is it your "price_used"? store it, or null if the source gives none`,
  ],
  [
    'a misspelt signal',
    { '2026-11-20/crypto.spott.ndjson': ndjson([GOOD]) },
    '2026-11-20/crypto.spott.ndjson not a snapshot file: no signal or collection of that name; did you mean crypto.spot.ndjson? ' +
      '"signalpress lines" lists the names',
  ],
  [
    'a name with another ending',
    { '2026-11-20/crypto.spot.csv': '' },
    '2026-11-20/crypto.spot.csv not a snapshot file: its name does not end in .ndjson; write one JSON object per line and name it crypto.spot.ndjson',
  ],
  [
    'a batch of the future',
    { '2026-11-21/crypto.spot.ndjson': ndjson([GOOD]) },
    '2026-11-21 the batch is in the future: this compile is as of 2026-11-20T12:00:00Z; name the folder after the time of its fetch, ' +
      'or correct the clock or --as-of',
  ],
  [
    'a batch named by its local hour',
    { '2026-11-20T06Z/crypto.spot.ndjson': ndjson([GOOD]) },
    '2026-11-20T06Z/crypto.spot.ndjson:1 collected_at: "2026-11-20T11:00:00Z" is outside the hour of its batch "2026-11-20T06Z"; ' +
      'correct it, or store the line in the batch of its hour',
  ],
];

/** Bad lines that nothing else rests on, and how many of a million they are. */
const MAY_BE_LEFT_OUT: ReadonlyMap<string, number> = new Map([
  ['a misspelt member', 500_000],
  ['a misspelt metric', 500_000],
  ['a batch named by its local hour', 1_000_000],
]);
/** What is added to a fault that no share of bad lines covers. */
const WHY_IT_STOPS =
  /; a first line and a header are never left out, because the other lines depend on them$/;

describe('what is said of awkward inputs', () => {
  it.each(TABLE)('%s', async (_, files, expected) => {
    const faults = await compileFaults(files);
    expect(faults).toHaveLength(1);
    const [text = ''] = faults.map((fault: InputFault) => faultText(fault));
    expect(text.slice(0, expected.length)).toBe(expected);
    expect(text).not.toMatch(/\.ts\b/);
  });

  it('is nothing of the same where it is right', async () => {
    const edges = ['2026-11-19T23:55:00Z', '2026-11-20T12:05:00Z'].map((time, at) => ({
      ...GOOD,
      entity: `edge-${at}`,
      observed_at: '2026-11-19T10:00:00Z',
      collected_at: time,
    }));
    const right: SnapshotFiles = {
      [SPOT]: headed({ header: HEADER }, [...SHORT, ...edges]),
      [MCP]: headed({ header: { capture_date: '2026-11-20' } }, SERVERS),
      '2026-11-20T11Z/macro.unemployment.ndjson': ndjson([US]),
    };
    expect(await compileFaults(right)).toEqual([]);
  });

  it.each(TABLE.filter(([name]) => !MAY_BE_LEFT_OUT.has(name)))(
    '%s: is the same whatever share of bad lines may be left out',
    async (_, files) => {
      const reported = await compileFaults(files, { maxRejectsPpm: 1_000_000 });
      const bare = reported.map(({ message, ...place }) => {
        return { ...place, message: message.replace(WHY_IT_STOPS, '') };
      });
      expect(bare).toEqual(await compileFaults(files));
    },
  );

  it.each([...MAY_BE_LEFT_OUT])('%s: is the same until it may be left out', async (name, ppm) => {
    const [, files = {}] = TABLE.find(([each]) => each === name) ?? [];
    const more = { ...files, '2026-11-20/macro.unemployment.ndjson': ndjson([US]) };
    const [tooMany, ...reported] = await compileFaults(more, { maxRejectsPpm: ppm - 1 });
    expect(tooMany?.code).toBe('too_many_rejects');
    expect(reported).toHaveLength(1);
    expect(reported).toEqual(await compileFaults(more));
    expect(await compileFaults(more, { maxRejectsPpm: ppm })).toEqual([]);
  });
});

describe('what is no snapshot', () => {
  const LITTER = [
    '.DS_Store',
    'Thumbs.db',
    'desktop.ini',
    '._crypto.spot.ndjson',
    'crypto.spot.ndjson~',
    '.crypto.spot.ndjson.swp',
    '#crypto.spot.ndjson#',
  ];

  it('is left alone where a desktop or an editor put it', async () => {
    const files = Object.fromEntries(
      LITTER.flatMap((name) => [
        [name, 'x'],
        [`2026-11-20/${name}`, 'x'],
      ]),
    );
    const root = writeSnapshots({ ...files, [SPOT]: ndjson([GOOD]) });
    symlinkSync('somebody@host.1:2', join(root, '2026-11-20/.#crypto.spot.ndjson'));
    expect((await compileFolder(root)).release.counts.readings).toBe(1);
  });

  it.each(['notes.txt', '.hidden', 'crypto.spot.ndjson.bak', 'crypto.spot'])(
    'is refused by name where it is %s',
    async (name) => {
      const faults = await compileFaults({
        [SPOT]: ndjson([GOOD]),
        [`2026-11-20/${name}`]: '',
      });
      expect(faults).toMatchObject([{ code: 'bad_name', file: `2026-11-20/${name}` }]);
    },
  );

  it('is told from a file that is a pipe, a link or a folder under the name of one', () => {
    const root = writeSnapshots({ [SPOT]: ndjson([GOOD]) });
    const at = (id: string) => join(root, `2026-11-20/${id}.ndjson`);
    execFileSync('mkfifo', [at('macro.unemployment')]);
    symlinkSync(at('crypto.spot'), at('airquality.aqi'));
    execFileSync('mkdir', [at('airquality.pm25')]);
    for (const stated of [
      'aqi.ndjson not a plain file: a link',
      'pm25.ndjson not a plain file: a folder',
      'unemployment.ndjson not a plain file: a pipe',
    ]) {
      expect(() => listSnapshots(root, BUILTIN)).toThrow(stated);
    }
  });
});

describe('messages', () => {
  const ROOT = join(import.meta.dirname, '..');
  const PROGRAM_FILE = /\.ts\b(?!')/;
  const isText = (line: string): boolean =>
    /['"`]/.test(line) && !/^\s*(\/\/|\/?\*|import\b|\} from)/.test(line);

  it('name a command and never a source file', () => {
    const named = ['compiler', 'gatekeeper'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts'))
        .flatMap((path) => readFileSync(join(ROOT, folder, path), 'utf8').split('\n'))
        .filter((line) => isText(line) && PROGRAM_FILE.test(line.replace(/\/\/.*$/, ''))),
    );
    expect(named).toEqual([]);
    expect(PROGRAM_FILE.test('`not a signal of lines.ts; correct it`')).toBe(true);
  });
});
