import { describe, expect, it } from 'vitest';
import { builtinLine } from '../../../compiler/contract/catalog/builtin.ts';
import {
  minutesOf,
  noticeOf,
  updateTime,
} from '../../../compiler/import/sources/faa-nas/faa-nas.ts';
import { PAYLOADS, readAs } from '../recorded.ts';

const AIRPORTS = builtinLine('nas').entities;

const AT = {
  url: 'https://nasstatus.faa.gov/api/airport-status-information',
  fetched_at: '2026-11-20T11:05:00Z',
};
const UPDATED = 'Fri Nov 20 11:04:30 2026 GMT';
const NOTICE = '!BOS 11/012 BOS AD AP CLSD 2611200900-2611201500';

const document = (lists: readonly string[], updated = UPDATED) =>
  [
    '<AIRPORT_STATUS_INFORMATION>',
    `<Update_Time>${updated}</Update_Time>`,
    ...lists.map((list) => `<Delay_type><Name>x</Name>${list}</Delay_type>`),
    '</AIRPORT_STATUS_INFORMATION>',
  ].join('');
const delay = (arpt: string, type: string, [min, max]: readonly [string, string]) =>
  `<Delay><ARPT>${arpt}</ARPT><Reason>WX:Wind</Reason><Arrival_Departure Type="${type}"><Min>${min}</Min><Max>${max}</Max><Trend>Increasing</Trend></Arrival_Departure></Delay>`;
const delays = (...items: readonly string[]) =>
  `<Arrival_Departure_Delay_List>${items.join('')}</Arrival_Departure_Delay_List>`;
const gdp = (arpt: string, avg: string, max = '2 hours') =>
  `<Ground_Delay_List><Ground_Delay><ARPT>${arpt}</ARPT><Reason>snow &amp; ice</Reason><Avg>${avg}</Avg><Max>${max}</Max></Ground_Delay></Ground_Delay_List>`;
const stop = (arpt: string, reason = 'thunderstorms') =>
  `<Ground_Stop_List><Program><ARPT>${arpt}</ARPT><Reason>${reason}</Reason><End_Time>1:15 pm EST</End_Time></Program></Ground_Stop_List>`;
const closure = (arpt: string, reason: string) =>
  `<Airport_Closure_List><Airport><ARPT>${arpt}</ARPT><Reason>${reason}</Reason><Start>Nov 20 at 09:00 UTC.</Start><Reopen>Nov 20 at 15:00 UTC.</Reopen></Airport></Airport_Closure_List>`;

const read = (...lists: readonly string[]) => readAs('faa-nas', document(lists), AT);
const of = (imported: ReturnType<typeof read>, airport: string) =>
  imported.readings.get('nas.ground_ops')?.find(({ entity }) => entity === airport);

describe('faa-nas', () => {
  it('says normal of every airport that a fresh document does not list', () => {
    const { readings, skipped } = read();
    const all = readings.get('nas.ground_ops') ?? [];
    expect(all.map(({ entity }) => entity)).toEqual([...AIRPORTS].sort());
    expect(new Set(all.map(({ current }) => current.band))).toEqual(new Set(['normal']));
    expect(all[0]?.current).toMatchObject({ avg_delay_min: null, reason: null, programs: [] });
    expect(all[0]?.observed_at).toBe('2026-11-20T11:04:30Z');
    expect(skipped).toEqual([]);
  });

  it('takes the worst of several programmes of an airport and names all of them', () => {
    const imported = read(
      delays(delay('BOS', 'Departure', ['31 minutes', '45 minutes'])),
      gdp('BOS', '1 hour and 5 minutes'),
      stop('JFK'),
      delays(
        delay('EWR', 'Arrival', ['16 minutes', '30 minutes']),
        delay('EWR', 'Departure', ['46 minutes', '1 hour']),
      ),
    );
    expect(of(imported, 'bos')?.current).toEqual({
      avg_delay_min: 65,
      max_delay_min: 120,
      min_delay_min: null,
      band: 'gdp',
      trend: null,
      reason: 'snow & ice',
      programs: ['departure-delay', 'ground-delay'],
    });
    expect(of(imported, 'jfk')?.current).toMatchObject({
      band: 'ground_stop',
      avg_delay_min: null,
    });
    expect(of(imported, 'ewr')?.current).toMatchObject({
      band: 'minor_delay',
      min_delay_min: 46,
      max_delay_min: 60,
      trend: 'Increasing',
      programs: ['arrival-delay', 'departure-delay'],
    });
  });

  it('closes an airport only by a notice for all aircraft that is in force', () => {
    expect(of(read(closure('BOS', NOTICE)), 'bos')?.current.band).toBe('closure');
    const partial = NOTICE.replace('CLSD', 'CLSD TO NON SKED ACFT');
    const restricted = of(read(closure('BOS', partial)), 'bos')?.current;
    expect(restricted).toMatchObject({ band: 'normal', programs: ['restriction'] });
    const ended = NOTICE.replace('2611201500', '2611201000');
    expect(of(read(closure('BOS', ended)), 'bos')?.current).toMatchObject({
      band: 'normal',
      programs: [],
    });
  });

  it.each([
    [
      'a closure at some hours of the day',
      closure('BOS', NOTICE.replace('CLSD', 'CLSD DLY 0900-1500')),
    ],
    ['a closure of another airport', closure('BOS', NOTICE.replaceAll('BOS', 'LGA'))],
    ['a closure without its times', closure('BOS', '!BOS 11/012 BOS AD AP CLSD')],
    ['minutes in other words', gdp('BOS', '65')],
    ['seventy minutes of an hour', gdp('BOS', '1 hour and 70 minutes')],
    [
      'two ground stops',
      stop('BOS').replace('</Ground_Stop_List>', '') +
        stop('BOS').replace('<Ground_Stop_List>', ''),
    ],
  ])('I55: says nothing of an airport with %s', (_name, list) => {
    const imported = read(list);
    expect(of(imported, 'bos')).toBeUndefined();
    expect(imported.skipped.map(({ subject }) => subject)).toEqual(['bos']);
    expect(of(imported, 'jfk')?.current.band).toBe('normal');
  });

  it('leaves out a maximum below the average, and a reason that reads like advice', () => {
    expect(of(read(gdp('BOS', '46 minutes', '0 minutes')), 'bos')?.current).toMatchObject({
      avg_delay_min: 46,
      max_delay_min: null,
    });
    expect(of(read(stop('BOS', 'you should wait')), 'bos')?.current.reason).toBeNull();
  });

  it('names what it leaves out: other airports, and programmes for a part of the sky', () => {
    const flow =
      '<Airspace_Flow_List><Airspace_Flow><CTL_Element>FCA1</CTL_Element></Airspace_Flow></Airspace_Flow_List>';
    const { skipped, remarks } = read(flow, stop('YUL'));
    expect(skipped).toEqual([{ subject: 'yul', reason: 'not an airport of this line', count: 1 }]);
    expect(remarks).toEqual(['airspace flow programmes name no airport and are left out']);
  });

  it.each([
    ['a list of another kind', document(['<New_List><Item/></New_List>']), 'Unrecognized key'],
    ['a block without a list', document(['']), 'no list in it'],
    [
      'an entry without an airport',
      document([stop('BOS').replace('<ARPT>BOS</ARPT>', '')]),
      'ARPT',
    ],
    [
      'a day old',
      document([], 'Thu Nov 19 11:04:30 2026 GMT'),
      'more than an hour before the fetch',
    ],
    ['from after the fetch', document([], 'Fri Nov 20 11:05:01 2026 GMT'), 'after its fetch'],
    ['of another weekday', document([], 'Sat Nov 20 11:04:30 2026 GMT'), 'cannot be read'],
    ['of another zone', document([], 'Fri Nov 20 11:04:30 2026 EST'), 'cannot be read'],
    ['with a document type', `<!DOCTYPE x>${document([])}`, 'declares a document type'],
    ['a page of markup', '<html><body>x</body></html>', 'root element'],
    ['cut off', document([stop('BOS')]).slice(0, 150), 'not whole XML'],
  ])('refuses a document that is or has %s', (_name, text, message) => {
    expect(() => readAs('faa-nas', text, AT)).toThrow(message);
  });
});

describe('the words of the FAA', () => {
  it('reads durations', () => {
    const texts = [
      '16 minutes',
      '1 hour',
      '2 hours',
      '3 hours and 4 minutes',
      '1 hour and 1 minute',
    ];
    expect(texts.map(minutesOf)).toEqual([16, 60, 120, 184, 61]);
    const others = [
      '',
      '16',
      '16 min',
      '1.5 hours',
      '-1 minutes',
      '1 hour and 60 minutes',
      'an hour',
    ];
    expect(others.map(minutesOf)).toEqual(others.map(() => null));
  });

  it('reads times with days that are not padded, and none that does not exist', () => {
    expect(updateTime('Thu Oct 1 01:33:39 2026 GMT')).toBe(Date.parse('2026-10-01T01:33:39Z'));
    expect(updateTime('Wed Sep 31 01:33:39 2026 GMT')).toBeNull();
    expect(updateTime('Thu Oct 1 24:33:39 2026 GMT')).toBeNull();
    expect(updateTime('Thu Xyz 1 01:33:39 2026 GMT')).toBeNull();
  });

  it('reads notices over the turn of a year and without an end', () => {
    expect(noticeOf('!LAX 05/277 LAX AD AP CLSD TO GA ACFT 2605271826-2705281600', 'lax')).toEqual({
      isPartial: true,
      from: Date.parse('2026-05-27T18:26:00Z'),
      to: Date.parse('2027-05-28T16:00:00Z'),
    });
    expect(noticeOf('!LAX 05/277 LAX AD AP CLSD 2605271826-PERM', 'lax')?.to).toBe(Infinity);
    expect(noticeOf('!LAX 05/277 LAX AD AP CLSD 2613271826-2705281600', 'lax')).toBeNull();
    expect(noticeOf('!LAX 05/277 LAX AD AP CLSD 2705281600-2605271826', 'lax')).toBeNull();
  });
});

describe.each(PAYLOADS)('recorded documents: $name', ({ recorded }) => {
  const bands = (file: string, fetched_at: string) => {
    const imported = readAs('faa-nas', recorded(`faa-nas/${file}`), { ...AT, fetched_at });
    return { imported, at: (airport: string) => of(imported, airport)?.current };
  };

  it('gives the worked values of 1 October', () => {
    const { imported, at } = bands('airport_status_2026-10-01T0133Z.xml', '2026-10-01T01:34:00Z');
    expect(of(imported, 'ord')?.observed_at).toBe('2026-10-01T01:33:39Z');
    expect(at('ord')).toMatchObject({
      band: 'minor_delay',
      min_delay_min: 16,
      max_delay_min: 30,
      trend: 'Increasing',
      programs: ['departure-delay'],
    });
    for (const airport of ['lax', 'phl']) {
      expect(at(airport)).toMatchObject({ band: 'normal', programs: ['restriction'] });
    }
    expect(at('bos')).toMatchObject({ band: 'normal', programs: [] });
    expect(imported.skipped.map(({ subject }) => subject)).toEqual(['san']);
  });

  it('gives the worked values of 2 October', () => {
    const { at } = bands('airport_status_2026-10-02T1146Z.xml', '2026-10-02T11:50:00Z');
    expect(at('bos')).toMatchObject({
      band: 'gdp',
      avg_delay_min: 65,
      max_delay_min: 184,
      reason: 'runway construction',
    });
    expect(at('ord')).toMatchObject({ band: 'normal', programs: [] });
  });
});
