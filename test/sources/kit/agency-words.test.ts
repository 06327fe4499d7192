import { describe, expect, it } from 'vitest';
import { signalOf } from '../../../compiler/catalog/builtin.ts';
import {
  conditionsOf,
  flightCategory,
  parseMetar,
} from '../../../compiler/sources/agencies/aviationweather.ts';
import { lastInstant } from '../../../compiler/sources/agencies/cbp-bwt.ts';
import {
  ACTIVITY_STEPS,
  activityBand,
  IMPACT_STEPS,
  impactBand,
  SWARM_STEPS,
  swarmBand,
} from '../../../compiler/sources/agencies/earthquake-events.ts';
import { minutesOf, noticeOf, updateTime } from '../../../compiler/sources/agencies/faa-nas.ts';
import {
  disruptionBand,
  vapourPressureDeficit,
} from '../../../compiler/sources/agencies/open-meteo.ts';
import { drugOf, isCombined, usDay } from '../../../compiler/sources/agencies/openfda.ts';
import { acceptanceBasis } from '../../../compiler/sources/agencies/sec-edgar.ts';
import { decodeEntities } from '../../../compiler/sources/agencies/usgs-nwis.ts';

const conditions = (text: string) => {
  const metar = parseMetar(`KATL 201052Z ${text}`);
  return metar === null ? null : conditionsOf(metar);
};

describe('parseMetar()', () => {
  it.each([
    ['10003KT 10SM CLR 13/12 A2991', { band: 'vfr_clear', ceiling_ft: null }],
    ['10003KT P6SM SKC', { band: 'vfr_clear', visibility_mi: 6 }],
    ['10003KT 5SM BKN040', { band: 'mvfr', ceiling_ft: 4000 }],
    ['10003KT 6SM BKN030', { band: 'mvfr' }],
    ['10003KT 6SM BKN031', { band: 'vfr_clear' }],
    ['10003KT 10SM OVC009', { band: 'ifr' }],
    ['10003KT 10SM OVC010', { band: 'mvfr' }],
    ['10003KT 2 1/2SM FEW001 SCT002', { band: 'ifr', ceiling_ft: null }],
    ['10003KT 10SM OVC004', { band: 'lifr' }],
    ['10003KT M1/4SM FG VV///', { band: null, visibility_mi: 0.25, flight_category: null }],
    ['10003KT 3/4SM -SN VV006', { band: 'lifr', ceiling_ft: 600 }],
    ['10003KT 10SM TSRA FEW040CB', { band: 'convective_or_high_wind', flight_category: 'VFR' }],
    ['10003KT 10SM VCTS CLR', { band: 'convective_or_high_wind' }],
    ['10003KT 10SM +FC BKN040', { band: 'convective_or_high_wind' }],
    ['28020G35KT 10SM CLR', { band: 'convective_or_high_wind', gust_kt: 35 }],
    ['28020G34KT 10SM CLR', { band: 'vfr_clear', gust_kt: 34 }],
    ['280105KT 10SM CLR', { band: 'convective_or_high_wind', wind_kt: 105 }],
    ['AUTO 10SM CLR', { band: null, wind_kt: null, flight_category: 'VFR' }],
    ['AUTO /////KT 10SM CLR', { band: null, wind_kt: null }],
    ['AUTO 10003KT 00/M06 A3012', { band: null, visibility_mi: null, flight_category: null }],
    ['10003KT 250V330 R28L/P6000FT 10SM CLR M01/ A////', { band: 'vfr_clear' }],
  ])('reads %s', (text, expected) => {
    expect(conditions(text)).toMatchObject(expected);
  });

  it('says nothing of a ceiling where the sky is not reported', () => {
    expect(conditions('10003KT 10SM 13/12')).not.toHaveProperty('ceiling_ft');
    expect(flightCategory({ visibility: null, ceiling: null })).toBeNull();
  });

  it.each([
    '10003KT 10SM CLR QQQ',
    '10003MPS 9999 CLR',
    '10003KT 9999 OVC010',
    '10003KT 10SM 5SM CLR',
    '10003KT 20004KT 10SM CLR',
    'NIL',
  ])('I55: reads no report with a group that is not known: %s', (text) => {
    expect(parseMetar(`KATL 201052Z ${text}`)).toBeNull();
  });

  it.each([
    '',
    'KATL',
    'KATL 201052 10003KT',
    'KATL 321052Z CLR',
    'KATL 202452Z CLR',
    'TAF KATL 201052Z',
  ])('reads no report of "%s"', (text) => {
    expect(parseMetar(text)).toBeNull();
  });

  it('reads flags of the station from its remarks', () => {
    expect(parseMetar('KATL 201052Z AUTO CLR RMK AO1 TSNO $')?.flags).toEqual([
      'automatic report',
      'station needs maintenance',
      'no thunderstorm sensor',
    ]);
    expect(parseMetar('KATL 201052Z CLR RMK AO2 SLP131')?.flags).toEqual([]);
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
    expect(
      noticeOf('!LAX 05/277 LAX AD AP CLSD TO GA ACFT 2605271826-2705281600', 'lax'),
    ).toMatchObject({
      isPartial: true,
      from: Date.parse('2026-05-27T18:26:00Z'),
      to: Date.parse('2027-05-28T16:00:00Z'),
    });
    expect(noticeOf('!LAX 05/277 LAX AD AP CLSD 2605271826-PERM', 'lax')?.to).toBe(Infinity);
    expect(noticeOf('!LAX 05/277 LAX AD AP CLSD 2613271826-2705281600', 'lax')).toBeNull();
    expect(noticeOf('!LAX 05/277 LAX AD AP CLSD 2705281600-2605271826', 'lax')).toBeNull();
  });
});

describe('names of drugs', () => {
  it.each([
    ['heparin sodium injection', 'heparin', false],
    ['norepinephrine bitartrate injection', 'norepinephrine', false],
    ['potassium chloride injection', 'potassium-chloride', false],
    ['potassium chloride in dextrose injection', 'potassium-chloride', true],
    ['amoxicillin powder, for suspension', 'amoxicillin', false],
    ['amoxicillin, clavulanate potassium', 'amoxicillin', true],
    ['bupivacaine and epinephrine', 'bupivacaine', true],
    ['heparinoid gel', undefined, false],
    ['xylocaine', undefined, false],
  ])('takes "%s" for %s', (name, drug, combined) => {
    expect(drugOf(name)).toBe(drug);
    expect(isCombined(name)).toBe(combined);
  });
});

describe('decodeEntities()', () => {
  it('decodes numbers and names', () => {
    expect(decodeEntities('ft&#179;/s &amp; &#xB3; &quot;x&quot;')).toBe('ft³/s & ³ "x"');
  });

  it('leaves what is no character as it is', () => {
    for (const text of ['&#0;', '&#xD800;', '&#x110000;', '&madeup;', 'A & B', '&#;']) {
      expect(decodeEntities(text)).toBe(text);
    }
  });
});

describe('acceptanceBasis()', () => {
  const at = (time: string, { form = '8-K', accession = '0000123456-26-000001' } = {}) => ({
    form,
    accession,
    acceptance: `2026-${time}:00.000Z`,
  });
  it.each([
    [['03-01T06:00', '03-01T12:00'], 'new-york'],
    [['07-01T09:59', '07-01T21:00'], 'new-york'],
    [['07-01T10:00', '07-01T22:00'], 'undetermined'],
    [['03-01T10:59', '03-01T22:00'], 'new-york'],
    [['07-01T23:00', '07-01T15:00'], 'utc'],
    [['03-02T03:00', '03-01T15:00'], 'utc'],
    [['07-02T03:00', '07-01T15:00'], 'contradictory'],
    [['03-01T03:00', '03-01T06:00', '03-01T07:00', '03-01T08:00'], 'contradictory'],
    [['03-01T23:30', '03-01T04:30', '03-01T15:00'], 'contradictory'],
    [[], 'undetermined'],
  ])('I63: takes the times %j for %s: one hour that contradicts is enough', (times, basis) => {
    expect(acceptanceBasis(times.map((time) => at(time)))).toBe(basis);
  });

  it.each(['03-01T00:00', '03-01T05:00', '07-01T04:00'])(
    'I63: lets the midnight %s prove nothing',
    (midnight) => {
      const list = Array.from({ length: 56 }, () => at(midnight));
      expect(acceptanceBasis(list)).toBe('undetermined');
      expect(acceptanceBasis([...list, at('03-01T08:10')])).toBe('new-york');
      expect(acceptanceBasis([...list, at('03-02T00:01')])).toBe('utc');
    },
  );

  it.each(['EFFECT', 'QUALIF', '25-NSE', 'CERTNAS', 'UPLOAD', 'CORRESP'])(
    'lets %s prove nothing',
    (form) => {
      expect(acceptanceBasis([at('03-01T06:00', { form })])).toBe('undetermined');
    },
  );

  it.each(['0000000000-26-000001', '9999999995-26-000001'])(
    'lets %s, a number of the regulator itself, prove nothing',
    (accession) => {
      expect(acceptanceBasis([at('03-01T00:15', { accession })])).toBe('undetermined');
    },
  );
});

describe('words and figures', () => {
  it('reads days as the US writes them', () => {
    expect(usDay('06/09/2026')).toBe(Date.parse('2026-06-09'));
    expect(['6/9/2026', '2026-06-09', '31/12/2026', '02/29/2026', ''].map(usDay)).toEqual(
      [0, 0, 0, 0, 0].map(() => null),
    );
  });

  it('has every band of the signal at its edge', () => {
    const edges = [0, 2.49, 2.5, 3.99, 4, 5.99, 6, 20].map(disruptionBand);
    expect([...new Set(edges)]).toEqual(signalOf('shipping.route-disruption')?.bands);
    expect(edges.map((band) => band[0]).join('')).toBe('oommddss');
  });

  it('has the deficit of the published table of saturation pressures', () => {
    expect(vapourPressureDeficit(20, 0)).toBe(2.338);
    expect(vapourPressureDeficit(30, 0)).toBe(4.243);
    expect(vapourPressureDeficit(30, 100)).toBe(0);
  });
});

describe('bands', () => {
  it('are all bands of the table', () => {
    const table = (id: string) => signalOf(`earthquake.${id}`)?.bands?.slice(1);
    expect(ACTIVITY_STEPS.map(({ band }) => band)).toEqual(table('current_activity'));
    expect(SWARM_STEPS.map(({ band }) => band)).toEqual(table('swarm_rate'));
    expect(IMPACT_STEPS.map(({ band }) => band)).toEqual(table('impact_realized'));
  });

  it('activityBand() begins a band at its edge', () => {
    expect([null, 2.4, 2.5, 4.5, 6, 7].map(activityBand)).toEqual([
      'quiet',
      'quiet',
      'minor',
      'notable',
      'strong',
      'major',
    ]);
  });

  it('swarmBand() says nothing of a few quakes', () => {
    expect(swarmBand(4, 24)).toBe('baseline');
    expect(swarmBand(11, 7.33)).toBe('swarm');
    expect(swarmBand(5, null)).toBe('swarm');
    expect(swarmBand(5, 1.4)).toBe('baseline');
  });

  it.each([
    ['M6.4, intensity 7.64, yellow', { intensity: 7.64, alert: 'yellow', felt: 900 }, 'severe'],
    ['M4.87, intensity 6.6, green', { intensity: 6.6, alert: 'green', felt: 2775 }, 'significant'],
    ['intensity 2.9, no alert run', { intensity: 2.9, alert: null, felt: 2 }, 'felt'],
    ['M7.8 at 3.07, green', { intensity: 3.07, alert: 'green', felt: 60 }, 'felt'],
    ['reports alone', { intensity: null, alert: null, felt: 1 }, 'felt'],
    ['an orange alert alone', { intensity: null, alert: 'orange', felt: 0 }, 'severe'],
    ['nothing', { intensity: null, alert: null, felt: 0 }, 'none'],
    ['no answer at all', { intensity: null, alert: null, felt: null }, 'none'],
    ['an intensity nobody reported', { intensity: 5, alert: null, felt: null }, 'moderate'],
  ])('impactBand() of %s', (_name, shaking, band) => {
    expect(impactBand(shaking)).toBe(band);
  });
});
