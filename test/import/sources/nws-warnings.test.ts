import { describe, expect, it } from 'vitest';
import { ImportError, type Imported } from '../../../compiler/import/payload.ts';
import { nwsWarnings } from '../../../compiler/import/sources/nws-warnings/nws-warnings.ts';
import { type AlertOver, alert, alerts, reference } from '../alerts.ts';
import { PAYLOADS, readAs } from '../recorded.ts';
import { report, reports, reportText, type TextReport } from '../reports.ts';

const STATE = 'severe-convection.active-warning-state';
const REALIZED = 'severe-convection.realized-severe-reports';
const ACTIVE = 'https://api.weather.gov/alerts/active';
const LSR = 'https://mesonet.agron.iastate.edu/geojson/lsr.geojson';
const DAY = '?sts=2026-05-19T20:59Z&ets=2026-05-20T21:00Z';
const FETCHED = '2026-05-20T21:00:00Z';

const readAlerts = (list: unknown, query = '') =>
  readAs('nws-warnings', list, { url: `${ACTIVE}${query}`, fetched_at: FETCHED });
const readReports = (list: unknown, query = DAY) =>
  readAs('nws-warnings', list, { url: `${LSR}${query}`, fetched_at: FETCHED });
const readText = (text: string) =>
  readAs('nws-warnings', text, { url: 'https://api.weather.gov/products/1', fetched_at: FETCHED });
const of = ({ readings }: Imported, signal: string, entity: string) =>
  readings.get(signal)?.find((reading) => reading.entity === entity);
const illinois = (...features: readonly object[]) =>
  of(readAlerts(alerts(...features)), STATE, 'corn-belt-il')?.current;

describe('alerts of nws-warnings', () => {
  it('takes the worst event in force in the counties of a region, and none elsewhere', () => {
    const imported = readAlerts(
      alerts(alert('1', 'SV.W'), alert('2', 'TO.A', { number: '0201' }), alert('3', 'HT.Y')),
    );
    expect(of(imported, STATE, 'corn-belt-il')).toMatchObject({
      entity_name: 'Corn Belt, Illinois',
      observed_at: FETCHED,
      current: {
        active_alerts_count: 2,
        band: 'svr-warning',
        tornado_warnings_count: 0,
        severe_thunderstorm_warnings_count: 1,
        watches_count: 1,
      },
      source_tier: 'T1',
    });
    const none = { active_alerts_count: 0, band: 'none' };
    expect(of(imported, STATE, 'ohio-valley')?.current).toMatchObject(none);
    expect(imported.readings.get(STATE)).toHaveLength(16);
    expect(illinois()).toMatchObject(none);
  });

  it.each([
    ['SV.A', 'watch'],
    ['TO.A', 'watch'],
    ['SV.W', 'svr-warning'],
    ['TO.W', 'tornado-warning'],
  ])('puts %s in the band %s', (code, band) => {
    expect(illinois(alert('1', code))).toMatchObject({ active_alerts_count: 1, band });
  });

  it.each<[string, AlertOver]>([
    ['its words', { properties: { description: 'This is a PARTICULARLY DANGEROUS\nSITUATION.' } }],
    ['its headline', { parameters: { NWSheadline: ['TORNADO EMERGENCY FOR EXAMPLE'] } }],
    ['its tag', { parameters: { tornadoDamageThreat: ['CATASTROPHIC'] } }],
  ])('finds an emergency by %s', (_name, over) => {
    expect(illinois(alert('1', 'TO.W', over))).toMatchObject({ band: 'pds-emergency' });
  });

  it('counts an event once, however many alerts are out for it', () => {
    const watch = { number: '0201' };
    expect(
      illinois(
        alert('1', 'TO.A', { ...watch, office: 'KILX' }),
        alert('2', 'TO.A', { ...watch, office: 'KLOT' }),
      ),
    ).toMatchObject({ active_alerts_count: 1 });
    expect(
      illinois(alert('1', 'TO.W', { office: 'KILX' }), alert('2', 'TO.W', { office: 'KLOT' })),
    ).toMatchObject({ active_alerts_count: 2 });
  });

  it.each<[string, AlertOver]>([
    ['cancelled', { properties: { messageType: 'Cancel' } }],
    ['cancelled by its code', { action: 'CAN' }],
    ['expired by its code', { action: 'EXP' }],
    ['a test', { properties: { status: 'Test' } }],
    ['over', { properties: { ends: '2026-05-20T15:59:00-05:00' } }],
    [
      'over, where it names no end',
      { properties: { ends: null, expires: '2026-05-20T15:59:00-05:00' } },
    ],
    ['for another county', { counties: ['ILC031'] }],
  ])('leaves out an alert that is %s', (_name, over) => {
    expect(illinois(alert('1', 'TO.W', over))).toMatchObject({ band: 'none' });
  });

  it('takes the end of the event, not that of the message', () => {
    const over = { properties: { expires: '2026-05-20T15:45:00-05:00' } };
    expect(illinois(alert('1', 'TO.W', over))).toMatchObject({ band: 'tornado-warning' });
  });

  it('leaves out an alert that another one replaces', () => {
    const newer = alert('2', 'TO.W', {
      counties: ['ILC031'],
      properties: { messageType: 'Update', references: [reference('1')] },
    });
    expect(illinois(alert('1', 'TO.W'), newer)).toMatchObject({ band: 'none' });
  });

  it('says nothing of regions that were not asked for as a whole', () => {
    const imported = readAlerts(alerts(alert('1', 'TO.W')), '?area=IL');
    expect(imported.readings.get(STATE)?.map(({ entity }) => entity)).toEqual(['corn-belt-il']);
    expect(imported.skipped).toHaveLength(15);
    expect(() => readAlerts(alerts(), '?area=NV')).toThrow('it gives no reading (');
  });

  it('takes its own addresses, and refuses those that leave something out', () => {
    const [own = ''] =
      nwsWarnings.fetch?.addresses({ entities: [], now: Date.parse(FETCHED) }) ?? [];
    expect(readAs('nws-warnings', alerts(), { url: own, fetched_at: FETCHED }).readings.size).toBe(
      1,
    );
    for (const query of [
      '?event=Tornado%20Warning',
      '?limit=10',
      '?zone=ILC123',
      '?message_type=cancel',
    ]) {
      expect(() => readAlerts(alerts(), query)).toThrow('does not ask for all alerts');
    }
    expect(() => readAlerts(alerts(), '/zone/ILC123')).toThrow('does not ask for all alerts');
  });

  const over = (properties: Record<string, unknown>) => alerts(alert('1', 'TO.W', { properties }));
  it.each([
    [
      'an alert of another name than its code',
      over({ event: 'Heat Advisory' }),
      'its codes are TO.W',
    ],
    [
      'an alert without a code',
      alerts(alert('1', 'TO.W', { parameters: { VTEC: undefined } })),
      'its codes are missing',
    ],
    [
      'a code of another form',
      alerts(alert('1', 'TO.W', { parameters: { VTEC: ['TO.W'] } })),
      'VTEC.0',
    ],
    ['an alert without counties', over({ geocode: { SAME: [], UGC: [] } }), 'geocode.UGC'],
    [
      'two lists of counties',
      over({ geocode: { SAME: ['017031'], UGC: ['ILC123'] } }),
      'other counties in UGC than in SAME',
    ],
    ['an unknown status', over({ status: 'Real' }), 'status'],
    ['an end that is no day', over({ ends: '2026-02-30T16:15:00-05:00' }), 'ends'],
    ['an alert without words', over({ description: '' }), 'description'],
    [
      'an alert after the fetch',
      over({ sent: '2026-05-20T16:31:00-05:00' }),
      'was sent after the fetch',
    ],
    ['an alert twice', alerts(alert('1', 'TO.W'), alert('1', 'TO.W')), 'listed twice'],
    ['one page of several', { ...alerts(), pagination: { next: 'x' } }, 'only one page'],
    ['no list', { type: 'FeatureCollection' }, 'features'],
    ['a page of markup', '<html></html>', 'HTML'],
  ])('I55: refuses %s', (_name, list, message) => {
    expect(() => readAlerts(list)).toThrow(ImportError);
    expect(() => readAlerts(list)).toThrow(message);
  });

  it('I55: refuses an alert of another state than its address asks for', () => {
    expect(() => readAlerts(alerts(alert('1', 'TO.W')), '?area=FL')).toThrow('of another state');
  });
});

describe('relayed reports of nws-warnings', () => {
  const day = (...features: readonly object[]) =>
    of(readReports(reports(...features)), REALIZED, 'corn-belt-il')?.current;

  it('takes the worst report of a day, and none where there is none', () => {
    const imported = readReports(reports(report('TORNADO'), report('HAIL', { magf: 1.75 })));
    expect(of(imported, REALIZED, 'corn-belt-il')).toMatchObject({
      observed_at: FETCHED,
      current: {
        reports_24h_count: 2,
        band: 'tornado-confirmed',
        tornado_reports_count: 1,
        max_hail_in: 1.75,
        max_gust_mph: null,
      },
      source_tier: 'T2',
      sources: [{ independent: false, relay_of: 'NOAA National Weather Service' }],
    });
    expect(of(imported, REALIZED, 'mid-atlantic')?.current).toMatchObject({
      reports_24h_count: 0,
      band: 'none',
    });
  });

  it.each<[string, number | null, string, number]>([
    ['HAIL', 0.88, 'none', 0],
    ['HAIL', 1, 'marginal-severe', 1],
    ['HAIL', 2, 'significant-hail', 1],
    ['TSTM WND GST', 57, 'none', 0],
    ['TSTM WND GST', 58, 'marginal-severe', 1],
    ['TSTM WND GST', 75, 'significant-wind', 1],
    ['TSTM WND DMG', null, 'marginal-severe', 1],
    ['TORNADO', 3, 'tornado-confirmed', 1],
    ['TORNADO', 4, 'violent', 1],
    ['WATERSPOUT', null, 'none', 0],
    ['NON-TSTM WND GST', 90, 'none', 0],
    ['RAIN', 3, 'none', 0],
    ['TSTM WIND', 60, 'marginal-severe', 1],
    ['TREES DOWN', null, 'marginal-severe', 1],
    ['MRN TSTM WIND', 70, 'none', 0],
  ])('puts %s of %s in the band %s', (typetext, ...[magf, band, count]) => {
    expect(day(report(typetext, { magf }))).toMatchObject({ band, reports_24h_count: count });
  });

  it('knows neither number nor band where a report gives no size', () => {
    expect(day(report('HAIL'), report('TORNADO'))).toMatchObject({
      reports_24h_count: null,
      band: null,
      tornado_reports_count: 1,
    });
  });

  it('counts a report once that stands in several products', () => {
    const again = { product_id: '202605210400-KILX-NWUS53-LSRILX' };
    expect(day(report('TORNADO'), report('TORNADO', again))).toMatchObject({
      reports_24h_count: 1,
    });
    const later = { valid: '2026-05-20T20:40:00Z' };
    expect(day(report('TORNADO'), report('TORNADO', later))).toMatchObject({
      reports_24h_count: 2,
    });
  });

  const ISSUED = ['202605202042', '202605202050', '202605202055'].map((time) => `${time}-KILX`);
  const [FIRST = '', SECOND = '', THIRD = ''] = ISSUED;
  const ROGERS = 'Corrects previous tornado report from 3 SE Toluca. It was on the ground later.';
  const LATER = { valid: '2026-05-20T20:40:00Z', product_id: SECOND };
  const NORTH = { lat: 41.03, city: '3 E Toluca', product_id: SECOND };
  const storm = (typetext: string, over: Readonly<Record<string, unknown>> = {}) =>
    report(typetext, { product_id: FIRST, ...over });
  const told = (...features: readonly object[]) => {
    const current = day(...features);
    // Whatever the order of a list.
    expect(day(...[...features].reverse())).toEqual(current);
    return current;
  };
  const ONE = { reports_24h_count: 1, tornado_reports_count: 1, band: 'tornado-confirmed' };

  it.each([
    ['another time', { ...LATER, remark: ROGERS }],
    ['another time, in capitals', { ...LATER, remark: ROGERS.toUpperCase() }],
    ['another time, in the same product', { ...LATER, remark: ROGERS, product_id: FIRST }],
    [
      'another place',
      { ...NORTH, remark: 'Corrects location of previous tornado report from 3 SE Toluca.' },
    ],
    [
      'another width, twice',
      {
        ...LATER,
        remark:
          'Corrects previous tornado report for updated path width from 3 SE Toluca. Corrects previous tornado report from 3 SE Toluca.',
      },
    ],
    ['nothing but itself', { product_id: SECOND, remark: ROGERS }],
  ])('counts a report once that is corrected to %s', (_name, over) => {
    const correction = storm('TORNADO', over);
    expect(told(storm('TORNADO'), correction)).toMatchObject(ONE);
    const other = storm('TORNADO', { lat: 40.5, city: '3 SE Tolucaville' });
    expect(told(storm('TORNADO'), other, correction)).toMatchObject({ tornado_reports_count: 2 });
  });

  it('counts a report once that is corrected and corrected again, and sent once more', () => {
    const second = storm('TORNADO', { ...NORTH, remark: ROGERS });
    const remark = 'Corrects time of previous tornado report from 3 E Toluca.';
    const third = storm('TORNADO', { ...NORTH, ...LATER, remark, product_id: THIRD });
    const summary = (one: ReturnType<typeof storm>) => ({
      ...one,
      properties: { ...one.properties, product_id: '202605210400-KILX' },
    });
    expect(told(storm('TORNADO'), second, third)).toMatchObject(ONE);
    const all = [storm('TORNADO'), second, third];
    expect(told(...all, ...[storm('TORNADO'), third].map(summary))).toMatchObject(ONE);
  });

  it('takes the size and the kind of a correction, whatever was said before', () => {
    const remark = 'Corrects previous hail report from 3 SE Toluca.';
    const hail = (magf: number, over = {}) => storm('HAIL', { magf, ...over });
    const smaller = hail(1, { remark, product_id: SECOND });
    expect(told(hail(2.5), smaller)).toMatchObject({ reports_24h_count: 1, max_hail_in: 1 });
    const said = (kind: string) => ({
      ...LATER,
      remark: `Corrects previous ${kind} report from 3 SE Toluca.`,
    });
    const damage = storm('TSTM WND DMG');
    expect(told(damage, storm('TORNADO', said('tstm wnd dmg')))).toMatchObject(ONE);
    const funnel = storm('FUNNEL CLOUD', said('tornado'));
    expect(told(storm('TORNADO'), funnel)).toMatchObject({ reports_24h_count: 0, band: 'none' });
    const gust = storm('NON-TSTM WND GST', { magf: 60 });
    expect(told(gust, storm('TORNADO'), storm('TORNADO', said('non-tstm wnd gst')))).toMatchObject({
      tornado_reports_count: 2,
    });
  });

  it('I55: knows no number where a correction near by may be of one that is counted', () => {
    const remark = 'Corrected for time.';
    const unclear = storm('TORNADO', { ...LATER, remark });
    const nothing = { reports_24h_count: null, band: null, tornado_reports_count: null };
    expect(told(storm('TORNADO'), unclear)).toMatchObject(nothing);
    const elsewhere = { ...LATER, remark: ROGERS.replace('3 SE', '9 SE') };
    expect(told(storm('TORNADO'), storm('TORNADO', elsewhere))).toMatchObject(nothing);
    expect(told(unclear)).toMatchObject(ONE);
    const hail = storm('HAIL', { magf: 1 });
    const both = told(hail, storm('HAIL', { ...LATER, magf: 2, remark }), storm('TORNADO'));
    expect(both).toMatchObject({ ...nothing, tornado_reports_count: 1, max_hail_in: null });
    const far = storm('TORNADO', { lat: 39.5, city: '3 SE Toluca' });
    expect(told(far, storm('TORNADO', { ...LATER, remark: ROGERS }))).toMatchObject({
      tornado_reports_count: 2,
    });
    const uncorrected = { ...LATER, remark: 'Correct spelling of the town is Tolucca.' };
    expect(told(storm('TORNADO'), storm('TORNADO', uncorrected))).toMatchObject({
      tornado_reports_count: 2,
    });
  });

  it('takes 24 hours before the end that was asked for', () => {
    const before = { valid: '2026-05-19T20:59:30Z' };
    expect(day(report('TORNADO', before))).toMatchObject({ reports_24h_count: 0 });
    expect(day(report('TORNADO', { valid: '2026-05-19T21:01:00Z' }))).toMatchObject({
      reports_24h_count: 1,
    });
  });

  it.each(['?hours=24', '?sts=202605192000&ets=202605202100&states=IL,IN'])('reads %s', (query) => {
    expect(readReports(reports(report('TORNADO')), query).readings.size).toBe(1);
  });

  it.each(['', '?hours=23', '?sts=2026-05-20T00:00Z', '?hours=24&wfos=ILX', '?sts=yesterday'])(
    'refuses the address %s, which leaves something out',
    (query) => {
      expect(() => readReports(reports(), query)).toThrow(
        'does not ask for the reports of a whole day',
      );
    },
  );

  it('reads its own address', () => {
    const now = Date.parse(FETCHED);
    const [, own = ''] = nwsWarnings.fetch?.addresses({ entities: [], now }) ?? [];
    expect(
      readAs('nws-warnings', reports(), { url: own, fetched_at: FETCHED }).readings.get(REALIZED),
    ).toHaveLength(16);
  });

  const one = (over: Record<string, unknown>) => reports(report('HAIL', { magf: 1.75, ...over }));
  it.each([
    ['a kind of another code', one({ type: 'R' }), 'has the code R'],
    ['a code of another kind', one({ typetext: 'SNOW' }), 'has the code H'],
    ['hail in millimetres', one({ unit: 'mm' }), 'in "mm", not in INCH'],
    ['hail without a unit', one({ unit: null }), 'in "null", not in INCH'],
    ['two magnitudes', one({ magnitude: '2.75' }), 'gives two magnitudes'],
    ['a magnitude in words', one({ magf: 'large' }), 'magf'],
    ['a negative magnitude', one({ magf: -999 }), 'magf'],
    [
      'two places',
      reports({ ...report('TORNADO'), geometry: { type: 'Point', coordinates: [-80, 41] } }),
      'at two places',
    ],
    ['a time outside of the day', one({ valid: '2026-05-18T20:35:00Z' }), 'outside the time'],
    ['a time without a zone', one({ valid: '2026-05-20T20:35:00' }), 'valid'],
    ['a report twice', reports(report('TORNADO'), report('TORNADO')), 'listed twice'],
    ['a report of no product', one({ product_id: null }), 'product_id'],
    ['a report without its remark', one({ remark: undefined }), 'remark'],
    ['no list', { features: [] }, 'not a list of storm reports'],
  ])('I55: refuses %s', (_name, list, message) => {
    expect(() => readReports(list)).toThrow(ImportError);
    expect(() => readReports(list)).toThrow(message);
  });

  it('I55: refuses a report of another state than its address asks for', () => {
    expect(() => readReports(reports(report('TORNADO')), `${DAY}&states=FL`)).toThrow(
      'of IL, which',
    );
  });
});

const AMES = '41.95N 93.66W';
const HAIL = ['0837 PM', 'HAIL', AMES, '07/22/2013', 'E1.00 INCH'] as const;
const GUST = ['0838 PM', 'TSTM WND GST', '41.86N 93.92W', '07/22/2013', 'E65.00 MPH'] as const;

describe('report texts of nws-warnings', () => {
  it('takes what one product lists, and no number for the region', () => {
    const imported = readText(
      reportText(HAIL, GUST, ['1055 PM', 'NON-TSTM WND GST', AMES, '07/22/2013', 'M73.00 MPH']),
    );
    expect(imported.readings.get(REALIZED)?.map(({ entity }) => entity)).toEqual(['iowa-missouri']);
    expect(of(imported, REALIZED, 'iowa-missouri')).toMatchObject({
      observed_at: '2013-07-23T23:53:00Z',
      current: {
        reports_24h_count: null,
        band: 'marginal-severe',
        listed_reports_count: 2,
        max_hail_in: 1,
        max_gust_mph: 65,
      },
      source_tier: 'T1',
    });
  });

  it('reads ratings, measured sizes and mixed case', () => {
    const text = reportText(
      ['0100 AM', 'Tornado', AMES, '07/23/2013', 'EF4'],
      ['0215 PM', 'Hail', '41.10N 93.00W', '07/23/2013', 'M2.25 Inch'],
    );
    expect(of(readText(text), REALIZED, 'iowa-missouri')?.current).toMatchObject({
      band: 'violent',
      max_hail_in: 2.25,
      tornado_reports_count: 1,
    });
  });

  it('counts a report once that its product corrects', () => {
    const remark = 'CORRECTS PREVIOUS HAIL REPORT FROM 2 NW\nEXAMPLE. DELAYED REPORT.';
    const correction = ['0841 PM', 'HAIL', AMES, '07/22/2013', 'E1.75 INCH', remark] as const;
    const listed = (...rows: readonly TextReport[]) =>
      of(readText(reportText(...rows)), REALIZED, 'iowa-missouri')?.current;
    expect(listed(HAIL, correction)).toMatchObject({ listed_reports_count: 1, max_hail_in: 1.75 });
    const other = ['0841 PM', 'HAIL', AMES, '07/22/2013', 'E1.75 INCH'] as const;
    expect(listed(HAIL, other)).toMatchObject({ listed_reports_count: 2 });
    // What it corrects may stand in an earlier product.
    expect(listed(correction)).toMatchObject({ listed_reports_count: 1 });
  });

  it('leaves out a report that is dated after its issue, and says so', () => {
    const late = ['0541 PM', 'HAIL', AMES, '07/24/2013', 'E1.00 INCH'] as const;
    const imported = readText(reportText(HAIL, late));
    expect(imported.skipped).toEqual([
      { subject: 'LSRDMX', reason: 'dated after its issue', count: 1 },
    ]);
    expect(of(imported, REALIZED, 'iowa-missouri')?.current).toMatchObject({
      listed_reports_count: 1,
    });
    expect(() => readText(reportText(late))).toThrow('LSRDMX: dated after its issue');
  });

  it.each([
    [
      'only old reports',
      reportText(['0837 PM', 'HAIL', AMES, '07/21/2013', 'E1.00 INCH']),
      'older than a day',
    ],
    [
      'only small hail',
      reportText(['0837 PM', 'HAIL', AMES, '07/22/2013', 'E0.25 INCH']),
      'milder than severe',
    ],
    [
      'hail in another unit',
      reportText(HAIL).replace('E1.00 INCH', 'E2.50 CM  '),
      'no size of hail',
    ],
    [
      'a month that does not exist',
      reportText(HAIL).replace('07/22/2013', '13/22/2013'),
      'no such time',
    ],
    ['an hour that does not exist', reportText(HAIL).replace('0837 PM', '1437 PM'), 'no such time'],
    [
      'swapped columns',
      reportText(HAIL).replace('41.95N 93.66W', '93.66W 41.95N'),
      'not the two lines of a report',
    ],
    [
      'half a report',
      reportText(HAIL).replace(/^07\/22.*\n/m, ''),
      'not the two lines of a report',
    ],
    ['no end', reportText(HAIL).split('&&')[0] ?? '', 'it is cut off'],
    ['no time of issue', reportText(HAIL).replace('TUE JUL 23', 'WED JUL 23'), 'no time of issue'],
  ])('I55: refuses a text with %s', (_name, text, message) => {
    expect(() => readText(text)).toThrow(ImportError);
    expect(() => readText(text)).toThrow(message);
  });

  it('refuses other texts by their names, and an address of nobody', () => {
    const warning = reportText(HAIL).replace('LSRDMX', 'TORDMX');
    expect(() => readText(warning)).toThrow(
      'it is TORDMX, one tornado warning; import https://api.weather.gov/alerts/active',
    );
    const nobody = { url: 'https://weather.example/alerts', fetched_at: FETCHED };
    expect(() => readAs('nws-warnings', alerts(), nobody)).toThrow(
      'the fetch note is of weather.example',
    );
  });
});

describe.each(PAYLOADS)('recorded warnings and reports: $name', ({ recorded }) => {
  const file = (name: string, url = ACTIVE, fetched_at = '2026-11-20T00:00:00Z') =>
    readAs('nws-warnings', recorded(`nws-warnings/${name}`), { url, fetched_at });

  it('finds no convective alert in Illinois on 2026-09-14', () => {
    const imported = file(
      'alerts_active_IL_2026-09-14.json',
      `${ACTIVE}?area=IL`,
      '2026-09-15T03:30:00Z',
    );
    expect(imported.readings.get(STATE)).toHaveLength(1);
    expect(of(imported, STATE, 'corn-belt-il')?.current).toMatchObject({
      active_alerts_count: 0,
      band: 'none',
    });
  });

  it('finds one tornado in Illinois on 2026-09-10', () => {
    const query = '?states=IL&sts=2026-09-09T00:00Z&ets=2026-09-11T00:00Z';
    const imported = file('iem_lsr_IL_2026-09-09_10.geojson', `${LSR}${query}`);
    expect(imported.readings.get(REALIZED)).toHaveLength(1);
    expect(of(imported, REALIZED, 'corn-belt-il')).toMatchObject({
      observed_at: '2026-09-11T00:00:00Z',
      current: { reports_24h_count: 1, band: 'tornado-confirmed' },
    });
  });

  it('reads the summary of 2013-07-23 and the hail of 2024-05-01', () => {
    expect(of(file('lsr_dmx_2013-07-23_summary.txt'), REALIZED, 'iowa-missouri')).toMatchObject({
      observed_at: '2013-07-23T23:53:00Z',
      current: { band: 'significant-hail', max_hail_in: 2, max_gust_mph: 70 },
    });
    expect(
      of(file('lsr_oun_2024-05-01_hail.txt'), REALIZED, 'red-river-ok')?.current,
    ).toMatchObject({
      band: 'marginal-severe',
      max_hail_in: 1.25,
    });
  });

  it.each([
    ['lsr_gsp_2018-08-08_future-date.txt', 'LSRGSP: dated after its issue'],
    ['lsr_jax_marinehail.txt', 'LSRJAX: milder than severe'],
    ['lsr_pih_2024-05-07_summary.txt', 'LSRPIH: of a kind that is not severe convection'],
    ['lsr_tae_2015-04-22_corrected_tornado.txt', 'LSRTAE: older than a day at its issue'],
    ['warning_svr_oun.txt', 'it is SVROUN, one severe thunderstorm warning'],
    ['warning_svr_psr_ibw.txt', 'it is SVRPSR, one severe thunderstorm warning'],
    ['warning_tor_2011-08-06.txt', 'it is TORDMX, one tornado warning'],
    ['warning_tor_2012-04-14_emergency.txt', 'it is TORICT, one tornado warning'],
    ['warning_tor_oax_0.txt', 'it is TOROAX, one tornado warning'],
    ['warning_tor_oax_1.txt', 'it is SVSOAX, a statement on one warning'],
    ['warning_tor_oax_2.txt', 'it is SVSOAX, a statement on one warning'],
  ])('refuses %s', (name, message) => {
    expect(() => file(name)).toThrow(message);
  });
});
