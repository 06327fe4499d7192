import { describe, expect, it } from 'vitest';
import { builtinLine } from '../../../compiler/contract/catalog/builtin.ts';
import { cbpBwt } from '../../../compiler/import/sources/cbp-bwt/cbp-bwt.ts';
import { CROSSINGS } from '../../../compiler/import/sources/cbp-bwt/crossings.ts';
import { lastInstant } from '../../../compiler/import/sources/cbp-bwt/port-lanes.ts';
import { CLOSED, graph, LISTED, lane, NONE, PENDING, port } from '../border-ports.ts';
import { PAYLOADS, readAs, valuesOf } from '../recorded.ts';

const BORDER_CROSSINGS = builtinLine('border-wait').entities;

const WAIT = 'border-wait.lane-wait';
const FREIGHT = 'border-wait.commercial-delay';
const UPSTREAM = 'border-wait.upstream-pressure';
const NOON = lane('At Noon CST', 'delay', ['45', '10']);
const read = (payload: unknown, url = LISTED.url) => readAs('cbp-bwt', payload, { ...LISTED, url });

describe('cbp-bwt, lists of ports', () => {
  it('reads the lanes that each crossing is followed by', () => {
    const freight = port('230404', {
      commercial: [NOON, lane('At Noon CST', 'no delay', ['3', '4'])],
    });
    const cars = port('230501', { passenger: [NOON, CLOSED, PENDING] });
    const other = port('l24501', { commercial: [NOON, NONE] });
    const imported = read([freight, cars, other]);
    expect(valuesOf(imported, WAIT)).toEqual([
      [
        'hidalgo',
        '2026-11-20T18:00:00Z',
        {
          wait_standard_min: 45,
          lanes_open_count: 10,
          wait_nexus_sentri_min: null,
          wait_ready_min: null,
          status: 'open',
        },
      ],
      [
        'laredo-world-trade',
        '2026-11-20T18:00:00Z',
        {
          wait_standard_min: 45,
          lanes_open_count: 10,
          lanes_max_count: 15,
          wait_fast_min: 3,
          status: 'open',
        },
      ],
    ]);
    expect(valuesOf(imported, FREIGHT)).toMatchObject([
      ['laredo-world-trade', '2026-11-20T18:00:00Z', { wait_commercial_min: 45, wait_fast_min: 3 }],
    ]);
  });

  it('I55: has no wait for closed lanes and none for a pending update', () => {
    const cars: readonly [object, object, object] = [NOON, NONE, NONE];
    const closed = read([port('230404', { commercial: [CLOSED, NONE], passenger: cars })]);
    expect(valuesOf(closed, WAIT)).toEqual([
      [
        'laredo-world-trade',
        '2026-11-20T18:00:00Z',
        { wait_standard_min: null, lanes_open_count: null, lanes_max_count: 15, status: 'closed' },
      ],
    ]);
    const pending = read([port('230404', { commercial: [PENDING, NONE], passenger: cars })]);
    expect(valuesOf(pending, WAIT)[0]?.[2]).toMatchObject({
      wait_standard_min: null,
      status: 'pending',
    });
    const calm = read([
      port('230404', { commercial: [lane('At Noon CST', 'no delay', ['0', '2']), NONE] }),
    ]);
    expect(valuesOf(calm, WAIT)[0]?.[2]).toMatchObject({ wait_standard_min: 0, status: 'open' });
  });

  it('takes the newest lane for the time and names those that are older', () => {
    const older = lane('At 8:00 am PST', 'delay', ['20', '1']);
    const [reading] =
      read([port('230404', { commercial: [NOON, older] })]).readings.get(WAIT) ?? [];
    expect(reading).toMatchObject({
      observed_at: '2026-11-20T18:00:00Z',
      qualifiers: ['fast lanes updated 2026-11-20T16:00:00Z'],
    });
  });

  it.each([
    ['another word', lane('At Noon CST', 'some delay', ['45', '10'])],
    ['minutes in words', lane('At Noon CST', 'delay', ['45 min', '10'])],
    ['no minutes', lane('At Noon CST', 'delay', ['', '10'])],
    ['no lanes', lane('At Noon CST', 'delay', ['45', ''])],
    ['a number', { ...NOON, delay_minutes: 45 }],
    ['minutes of closed lanes', lane('', 'Lanes Closed', ['0', ''])],
    ['no time', lane('', 'delay', ['45', '10'])],
    ['a zone that is not known', lane('At Noon XST', 'delay', ['45', '10'])],
    ['hour 13', lane('At 13:00 pm CST', 'delay', ['45', '10'])],
    ['a time just after the fetch', lane('At 12:26 pm CST', 'delay', ['45', '10'])],
    ['closed lanes only', CLOSED],
  ])('I55: uses nothing of a crossing with %s', (_name, standard) => {
    const good = port('230501', { passenger: [NOON, NONE, NONE] });
    const imported = read([port('230404', { commercial: [standard, NONE] }), good]);
    expect(valuesOf(imported, WAIT).map(([entity]) => entity)).toEqual(['hidalgo']);
    expect(imported.readings.has(FREIGHT)).toBe(false);
    expect(imported.skipped.map(({ subject }) => subject)).toEqual(['laredo-world-trade']);
  });

  it.each([
    ['of yesterday', { date: '11/19/2026' }],
    ['of tomorrow', { date: '11/21/2026' }],
    ['in another order', { date: '20/11/2026' }],
    ['of a closed port', { port_status: 'Closed' }],
    ['without lanes of cars', { passenger_vehicle_lanes: undefined }],
  ])('I55: uses nothing of a port %s', (_name, over) => {
    const payload = [port('230404', { commercial: [NOON, NONE] }, over)];
    expect(() => read(payload)).toThrow('laredo-world-trade');
  });

  it('takes one port as well, if it is the one of its address', () => {
    const one = port('230404', { commercial: [NOON, NONE] });
    expect(valuesOf(read(one, `${LISTED.url}/230404`), WAIT)).toHaveLength(1);
    expect(() => read(one, `${LISTED.url}/230403`)).toThrow('not about port 230403');
    expect(() => read([one, one])).toThrow('holds port 230404 twice');
    expect(() => read([port('999999', { commercial: [NOON, NONE] })])).toThrow('it is empty');
  });

  it('refuses a list of crossings by name, and other shapes', () => {
    expect(() => read({ portCrossings: [{ bwtId: '07230404' }] })).toThrow('no waiting times');
    expect(() => read([])).toThrow('not a list of border waiting times');
    expect(() => read([{ port_number: '' }])).toThrow('not a list of border waiting times');
  });
});

describe('lastInstant()', () => {
  const at = (text: string, fetched = '2022-06-29T17:25:15Z') =>
    new Date(lastInstant(text, Date.parse(fetched))).toISOString().slice(0, 16);

  it('reads the clock of the zone that is named', () => {
    expect(at('At Noon CDT')).toBe('2022-06-29T17:00');
    expect(at('At 8:00 am PST')).toBe('2022-06-29T16:00');
    expect(at('At 10:00 am MST')).toBe('2022-06-29T17:00');
    expect(at('At 1:22 pm EDT')).toBe('2022-06-29T17:22');
    expect(at('At 12:05 am EDT')).toBe('2022-06-29T04:05');
    expect(at('At Midnight EDT')).toBe('2022-06-29T04:00');
  });

  it('takes what is later today for yesterday', () => {
    expect(at('At 2:00 pm EDT')).toBe('2022-06-28T18:00');
    expect(at('At 10:00 pm PDT', '2022-07-01T00:31:59Z')).toBe('2022-06-30T05:00');
    expect(at('At 5:00 pm PDT', '2022-07-01T00:31:59Z')).toBe('2022-07-01T00:00');
  });
});

describe('cbp-bwt, graphs', () => {
  const address = 'https://bwt.cbp.gov/api/bwtwaittimegraph/07230404/2026-11-20';

  it('gives today against the average of the same hour, in the time of the crossing', () => {
    const waits = { 6: ['20', '10'], 7: ['5', '40'], 11: ['0', '10'], 12: ['7', '0'] } as const;
    const imported = read(graph('230404', waits), address);
    expect(valuesOf(imported, UPSTREAM)).toEqual([
      [
        'laredo-world-trade',
        '2026-11-20T12:00:00Z',
        { wait_vs_average_pct: 200, wait_today_min: 20, wait_average_min: 10 },
      ],
      [
        'laredo-world-trade',
        '2026-11-20T13:00:00Z',
        { wait_vs_average_pct: 13, wait_today_min: 5, wait_average_min: 40 },
      ],
    ]);
    // 0 minutes are drawn for closed lanes as well.
    expect(imported.skipped).toMatchObject([{ subject: 'laredo-world-trade', count: 2 }]);
  });

  it('says nothing yet before the first wait of a day, and nothing of other crossings', () => {
    expect(read(graph('230404', {}), address).readings.size).toBe(0);
    const other = read(graph('070801', { 6: ['20', '10'] }), 'https://bwt.cbp.gov/x');
    expect(other).toMatchObject({ skipped: [{ subject: '070801' }] });
    expect(other.readings.size).toBe(0);
  });

  it.each([
    ['of another port', graph('230403', { 6: ['20', '10'] }), 'its address does not ask for'],
    ['of another day', graph('230404', { 6: ['20', '10'] }, '2026-11-19'), 'does not ask for'],
    ['with an hour that has not come', graph('230404', { 13: ['20', '10'] }), 'after its fetch'],
    ['with a wait in words', graph('230404', { 6: ['20 min', '10'] }), 'not a graph'],
  ])('refuses a graph %s', (_name, payload, message) => {
    expect(() => read(payload, address)).toThrow(message);
  });

  it('refuses a graph with an hour too few, twice or out of order', () => {
    const [whole] = graph('230404', { 6: ['20', '10'] });
    const slots = whole?.commercial_time_slots.commercial_slot ?? [];
    for (const other of [slots.slice(1), [...slots.slice(0, 23), slots[0]], slots.toReversed()]) {
      const payload = [{ ...whole, commercial_time_slots: { commercial_slot: other } }];
      expect(() => read(payload, address)).toThrow('not a graph');
    }
  });
});

describe('the crossings', () => {
  it('are those of the line, in its order, each with its own port', () => {
    expect(CROSSINGS.map(({ entity }) => entity)).toEqual([...BORDER_CROSSINGS]);
    expect(new Set(CROSSINGS.map(({ port: number }) => number)).size).toBe(20);
  });

  it('are asked for in one list and by graphs of their own day', () => {
    const now = Date.parse('2026-11-21T06:30:00Z');
    const entities = ['laredo-world-trade', 'san-ysidro'];
    expect(cbpBwt.fetch?.addresses({ entities, now })).toEqual([
      'https://bwt.cbp.gov/api/bwtpublicmod',
      'https://bwt.cbp.gov/api/bwtwaittimegraph/07230404/2026-11-21',
      'https://bwt.cbp.gov/api/bwtwaittimegraph/09250401/2026-11-20',
    ]);
    expect(cbpBwt.fetch?.addresses({ entities: [], now })).toHaveLength(21);
  });
});

describe.each(PAYLOADS)('recorded answers: $name', ({ isWhole, recorded }) => {
  const API = 'https://bwt.cbp.gov/api/';
  const of = (file: string, path: string, fetched_at: string) =>
    readAs('cbp-bwt', recorded(`cbp-bwt/${file}`), { url: API + path, fetched_at });
  /** Minutes and open lanes of the standard lanes; null for closed ones. */
  const ALL: Readonly<Record<string, readonly [june: string, july: string]>> = {
    'laredo-world-trade': ['45 (10)', '0 (10)'],
    'laredo-colombia': ['10 (4)', '0 (3)'],
    'laredo-bridge1': ['closed', 'closed'],
    'otay-mesa-commercial': ['45 (6)', '90 (6)'],
    'san-ysidro': ['140 (5)', '110 (6)'],
    'el-paso-ysleta': ['30 (6)', '15 (6)'],
    'el-paso-bota': ['25 (2)', 'closed'],
    pharr: ['15 (6)', '5 (4)'],
    hidalgo: ['20 (2)', '50 (2)'],
    'nogales-mariposa': ['0 (4)', '0 (2)'],
    'calexico-east': ['20 (2)', '50 (2)'],
    'brownsville-veterans': ['5 (2)', 'closed'],
    'detroit-ambassador': ['30 (8)', '10 (6)'],
    'detroit-windsor-tunnel': ['0 (1)', 'closed'],
    'buffalo-peace-bridge': ['2 (7)', '5 (6)'],
    'port-huron-bluewater': ['15 (7)', '0 (2)'],
    'blaine-pacific-hwy': ['5 (3)', '20 (2)'],
    'blaine-peace-arch': ['40 (3)', '30 (4)'],
    champlain: ['5 (3)', '0 (2)'],
    pembina: ['25 (2)', '0 (1)'],
  };

  /** Our own payloads hold these of them. */
  const SOME = [
    'laredo-world-trade',
    'laredo-bridge1',
    'otay-mesa-commercial',
    'san-ysidro',
    'brownsville-veterans',
    'nogales-mariposa',
    'buffalo-peace-bridge',
    'blaine-pacific-hwy',
    'blaine-peace-arch',
  ];

  it.each([
    ['bwtnew_2022-06-29T1725Z.json', 'bwtnew', '2022-06-29T17:25:15Z', 0],
    ['bwtpublicmod_2022-07-01T0031Z.json', 'bwtpublicmod', '2022-07-01T00:31:59Z', 1],
  ] as const)('gives the worked values of all crossings in %s', (...[file, path, at, column]) => {
    const imported = of(file, path, at);
    const found = (imported.readings.get(WAIT) ?? []).map(({ entity, current }) => {
      const { status, wait_standard_min, lanes_open_count } = current;
      const text = `${String(wait_standard_min)} (${String(lanes_open_count)})`;
      return [entity, status === 'closed' ? 'closed' : text];
    });
    const worked = Object.entries(ALL)
      .filter(([entity]) => isWhole || SOME.includes(entity))
      .map(([entity, texts]) => [entity, texts[column]]);
    expect(worked).toHaveLength(isWhole ? 20 : 9);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(worked));
    expect(imported.skipped).toEqual([]);
  });

  it('reads times by the zone that the text names, hours old ones too', () => {
    const imported = of(
      'bwtpublicmod_2022-07-01T0031Z.json',
      'bwtpublicmod',
      '2022-07-01T00:31:59Z',
    );
    const times = new Map(valuesOf(imported, WAIT).map(([entity, time]) => [entity, time]));
    expect(times.get('san-ysidro')).toBe('2022-06-30T22:00:00Z');
    expect(times.get('nogales-mariposa')).toBe('2022-07-01T00:00:00Z');
    expect(times.get('buffalo-peace-bridge')).toBe('2022-07-01T00:27:00Z');
  });

  it('reads one port and its graph, which agree', () => {
    const path = 'bwtpublicmod/300401';
    const one = of('bwtpublicmod_300401_2022-07-01T0042Z.json', path, '2022-07-01T00:42:14Z');
    expect(valuesOf(one, FREIGHT)).toMatchObject([
      ['blaine-pacific-hwy', '2022-07-01T00:00:00Z', { wait_commercial_min: 20 }],
    ]);
    const drawn = of(
      'bwtwaittimegraph_02300401_2022-06-30.json',
      'bwtwaittimegraph/02300401/2022-06-30',
      '2022-07-01T00:43:37Z',
    );
    expect(valuesOf(drawn, UPSTREAM).at(-1)).toEqual([
      'blaine-pacific-hwy',
      '2022-07-01T00:00:00Z',
      { wait_vs_average_pct: 118, wait_today_min: 20, wait_average_min: 17 },
    ]);
    expect(valuesOf(drawn, UPSTREAM)).toHaveLength(10);
  });

  it('refuses the list of crossings by name', () => {
    const file = 'bwtmodern_crossingslist_2022-07-01.json';
    const read = () => of(file, 'bwtmodern/crossingslist', '2022-07-01T00:36:04Z');
    expect(read).toThrow('a list of crossings, which holds no waiting times');
  });
});
