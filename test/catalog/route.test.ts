import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import { catalogOf } from '../../compiler/catalog/catalog.ts';
import { canonicalRequest, findRow, type Route, route } from '../../compiler/catalog/route.ts';
import { canonicalTarget } from '../../compiler/products/shapes/path.ts';
import { TIDE_FILE, TIDES } from '../tide-shop.ts';

function routed(target: string, catalog = BUILTIN): Route {
  const request = canonicalRequest(target);
  if ('status' in request) throw new Error(request.error);
  const found = route(request, catalog);
  if (found === undefined) throw new Error('unknown path');
  return found;
}

describe('route()', () => {
  it('gives one target to every spelling of the same request', () => {
    const want = '/gauge?entity=us-denver&signal_id=airquality.aqi';
    for (const query of [
      'signal_id=airquality.aqi&entity=us-denver',
      'entity=us-denver&signal_id=airquality.aqi',
      'issuer=us-denver&signal_id=airquality.aqi',
      'entity=us%2Ddenver&signal%5Fid=airquality.aqi',
      'entity=us-denver&signal_id=airquality.aqi&dim=gauge',
    ]) {
      expect(routed(`/gauge?${query}`)).toMatchObject({ target: want, fault: null });
    }
  });

  it('I13: refuses two names of one parameter that differ, and takes them where they agree', () => {
    const both = (entity: string, issuer: string): Route =>
      routed(`/gauge?signal_id=airquality.aqi&entity=${entity}&issuer=${issuer}`);
    expect(both('us-denver', 'us-chicago')).toMatchObject({
      fault: { miss: 'illegal_value', name: 'entity', value: 'us-denver' },
      values: { signal_id: 'airquality.aqi' },
    });
    for (const [entity, issuer] of [
      ['us-denver', 'us-denver'],
      ['us-denver', ''],
      ['', 'us-denver'],
    ] as const) {
      expect(both(entity, issuer)).toMatchObject({
        fault: null,
        values: { entity: 'us-denver' },
      });
    }
    const ticker = '/resolve?form=10-K&cutoff=2026-11-01&entity=aapl&issuer=';
    expect(routed(`${ticker}AAPL`).fault).toBeNull();
    expect(routed(`${ticker}MSFT`).fault?.miss).toBe('illegal_value');
  });

  it('follows dim to the row of that product and its price', () => {
    const found = routed('/gauge?signal_id=airquality.aqi&entity=us-denver&dim=ruler');
    expect(found.endpoint.path).toBe('/gauge/ruler');
    expect(found.endpoint.priceUsd).toBe('0.005');
    expect(found.target).toBe('/gauge/ruler?entity=us-denver&signal_id=airquality.aqi');
    expect(routed('/gauge?signal_id=airquality.aqi&entity=x&dim=rule').fault?.miss).toBe(
      'illegal_value',
    );
  });

  it('leaves out what the product behind dim does not take: one product has one target', () => {
    const asked = '/gauge?signal_id=airquality.aqi&entity=us-denver&format=thin';
    expect(routed(`${asked}&dim=ruler`).target).toBe(
      '/gauge/ruler?entity=us-denver&signal_id=airquality.aqi',
    );
    const query = 'entity=us-denver&format=thin&signal_id=airquality.aqi';
    expect(routed(`${asked}&dim=calibrated`).target).toBe(`/gauge/calibrated?${query}`);
    expect(routed(asked).target).toBe(`/gauge?${query}`);
    const full = '/gauge?entity=us-denver&signal_id=airquality.aqi';
    expect(routed(asked.replace('thin', 'json')).target).toBe(full);
  });

  it('refuses what costs under a name that it does not take: a filter that was misspelt is not charged', () => {
    const pair = 'entity=us-denver&signal_id=airquality.aqi';
    const faultOf = (target: string) => routed(target).fault;
    expect(faultOf(`/gauge/history-series?${pair}&day=7`)).toEqual({
      miss: 'illegal_value',
      name: 'day',
      isUnknownName: true,
      missing: [],
      value: '7',
      legal: 'no such parameter; did you mean "days"?',
    });
    // The name of another operation's parameter; members of a signed body, which nobody selects; a name of nobody.
    for (const more of [
      'days=7',
      'fields=current',
      'utm_source=x',
      '__proto__=x',
      `${'n'.repeat(99)}=`,
    ]) {
      const fault = faultOf(`/gauge?${pair}&${more}`);
      expect([more, fault?.miss, fault?.legal]).toEqual([
        more,
        'illegal_value',
        expect.stringMatching(/^no such parameter; (did you mean|\/gauge takes signal_id, entity)/),
      ]);
      expect(fault?.name.length).toBeLessThanOrEqual(40);
    }
    // Aliases, and what a redirection leaves unused, are names that it takes.
    for (const known of [
      `/gauge?${pair}&dim=ruler&format=thin`,
      `/gauge?${pair}&proof=0`,
      '/gauge?signal_id=airquality.aqi&issuer=us-denver',
    ]) {
      expect([known, faultOf(known)]).toEqual([known, null]);
    }
    // What is missing or illegal is said first, and what is free leaves a stranger's name out.
    expect(faultOf('/gauge?x=1')?.miss).toBe('missing_parameter');
    expect(faultOf(`/gauge?${pair}&dim=rule&x=1`)?.name).toBe('dim');
    expect(faultOf('/gauge/catalog?x=1')).toBeNull();
    expect(faultOf('/gauge/subscribe?x=1')?.legal).toBe(
      'no such parameter; /gauge/subscribe takes no parameter',
    );
  });

  it('I5: is the same target for a record and its fact, and for nothing else that is asked for as a fact', () => {
    const full = '/gauge?entity=us-denver&signal_id=airquality.aqi';
    const fact = routed(`${full}&format=fact`);
    expect([fact.target, fact.isFact, fact.fault]).toEqual([full, true, null]);
    expect(routed(full).isFact).toBe(false);
    expect(routed(`${full}&format=thin`).isFact).toBe(false);
    for (const other of [
      `${full}&dim=ruler`,
      `${full}&dim=calibrated`,
      '/gauge/region?loc=us-denver',
    ]) {
      expect(routed(`${other}&format=fact`).fault?.name).toBe('format');
    }
  });

  it('writes tickers in upper case where the line does, and nothing else', () => {
    expect(routed('/gauge/filing-company?entity=aapl').values).toEqual({ entity: 'AAPL' });
    expect(routed('/gauge?signal_id=filing.insider&entity=aapl').values.entity).toBe('AAPL');
    expect(routed('/gauge?signal_id=airquality.aqi&entity=US-denver').values.entity).toBe(
      'US-denver',
    );
  });

  it('drops what means the same as nothing', () => {
    const base = '/gauge/history-series?signal_id=airquality.aqi&entity=us-denver';
    expect(routed(`${base}&days=0400&format=json`).target).toBe(routed(base).target);
    expect(routed(`${base}&days=30`).values.days).toBe('30');
    expect(routed(`${base}&days=030`).target).toBe(routed(`${base}&days=30`).target);
  });

  it('I43: takes days up to its limit and refuses one more', () => {
    const miss = (days: string): unknown =>
      routed(`/gauge/history-series?signal_id=airquality.aqi&entity=x&days=${days}`).fault?.miss;
    expect(miss('999')).toBeUndefined();
    expect(miss('1000')).toBeUndefined();
    for (const days of ['1001', '0', '-1', '1e3', '1.5', '99999999999999999999', 'x']) {
      expect(miss(days)).toBe('illegal_value');
    }
  });

  it('names every missing parameter, and takes an empty value for a missing one', () => {
    expect(routed('/gauge?entity=').fault).toMatchObject({
      miss: 'missing_parameter',
      missing: ['signal_id', 'entity'],
    });
    expect(routed('/gauge').bare).toBe(true);
    expect(routed('/gauge?utm=1').bare).toBe(false);
  });

  it('reads the parameter of a path from its last segment as it stands', () => {
    expect(routed('/v/sha256:00ff')).toMatchObject({
      values: { record_hash: 'sha256:00ff' },
      target: '/v/sha256:00ff',
    });
    for (const path of ['/v/sha256%3A00ff', '/v/sha256%3a00ff']) {
      expect(routed(path)).toMatchObject({
        values: { record_hash: 'sha256:00ff' },
        target: '/v/sha256:00ff',
      });
    }
    expect(findRow('/v/', BUILTIN)).toBeUndefined();
    expect(findRow('/v/a/b', BUILTIN)).toBeUndefined();
    expect(findRow('/v/:record_hash', BUILTIN)).toBeUndefined();
  });

  it('I6: decodes nothing but the colon of a hash', () => {
    const segments = ['sha256%253A00ff', 'sha256%00', '%73ha256:00', '%2e%2e', 'a%2Fb'];
    for (const text of segments) {
      expect(routed(`/proof/${text}`)).toMatchObject({ values: { record_hash: text } });
    }
    for (const path of ['/gauge%3A', '/v%3Asha256:00', '/gauge/region%3a']) {
      expect(findRow(path, BUILTIN)).toBeUndefined();
    }
  });

  it('knows the paths, values and spelling of the catalogue that it is given, and no others', () => {
    expect(routed('/gauge?signal_id=tides.level&entity=pier-one', TIDES)).toMatchObject({
      endpoint: { path: '/gauge', priceUsd: '0.02' },
      target: '/gauge?entity=PIER-ONE&signal_id=tides.level',
      fault: null,
    });
    expect(routed('/gauge/tide-region?entity=PIER-ONE', TIDES)).toMatchObject({ fault: null });
    const other = routed('/gauge?signal_id=airquality.aqi&entity=us-denver', TIDES);
    expect(other.fault).toMatchObject({ miss: 'illegal_value', name: 'signal_id' });
    for (const path of ['/gauge/region', '/gauge/ruler']) {
      expect(findRow(path, TIDES)).toBeUndefined();
      expect(findRow(path, BUILTIN)).toBeDefined();
    }
    expect(findRow('/gauge/tide-region', BUILTIN)).toBeUndefined();
  });

  it('takes each of very many values, and no other', () => {
    const [line] = TIDE_FILE.lines ?? [];
    const entities = Array.from({ length: 1000 }, (_, at) => `PIER-${at}`);
    const wide = catalogOf([
      { ...TIDE_FILE, lines: line === undefined ? [] : [{ ...line, entities }] },
    ]);
    const faultOf = (name: string) => routed(`/gauge/tide-region?entity=${name}`, wide).fault?.miss;
    expect(['PIER-0', 'PIER-999', 'PIER-0'].map(faultOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(['PIER-1000', 'PIER', 'constructor'].map(faultOf)).toEqual(
      Array(3).fill('illegal_value'),
    );
  });

  it('never answers a form that is not offered with another one', () => {
    const asked = '/gauge?signal_id=tides.level&entity=PIER-ONE&dim=ruler';
    expect(routed(asked, TIDES).fault).toMatchObject({ miss: 'illegal_value', name: 'dim' });
    const prices = { ...TIDE_FILE.prices, '/gauge/ruler': '0.03' };
    const sold = routed(asked, catalogOf([{ ...TIDE_FILE, prices }]));
    expect(sold).toMatchObject({
      endpoint: { path: '/gauge/ruler', priceUsd: '0.03' },
      fault: null,
    });
  });
});

const QUERY_PARAMS_MAX = 64;
const TARGET_BYTES_MAX = 8192;

function read(target: string): unknown {
  const request = canonicalRequest(target);
  if ('status' in request) return request.status;
  return { path: request.path, ...Object.fromEntries(request.values) };
}

describe('canonicalRequest()', () => {
  it.each([
    ['/gauge', { path: '/gauge' }],
    ['/gauge?', { path: '/gauge' }],
    ['/gauge?a=1&b=2', { path: '/gauge', a: '1', b: '2' }],
    ['/gauge?&a=1&', { path: '/gauge', a: '1' }],
    ['/gauge?a', { path: '/gauge', a: '' }],
    ['/gauge?a=b=c', { path: '/gauge', a: 'b=c' }],
    ['/gauge?form=NT+10-K', { path: '/gauge', form: 'NT 10-K' }],
    ['/gauge?form=NT%2010-K%2B', { path: '/gauge', form: 'NT 10-K+' }],
    ['/gauge?n=%C3%BC', { path: '/gauge', n: 'ü' }],
    [
      '/gauge?__proto__=1',
      Object.fromEntries([
        ['path', '/gauge'],
        ['__proto__', '1'],
      ]),
    ],
    ['http://other.example/gauge?a=1', { path: '/gauge', a: '1' }],
    ['HTTPS://user:pw@other.example:8443/gauge', { path: '/gauge' }],
    ['//other.example/gauge', { path: '//other.example/gauge' }],
    ['/%67auge', { path: '/%67auge' }],
    ['/gauge/', { path: '/gauge/' }],
    ['/a/../gauge', { path: '/a/../gauge' }],
  ])('reads %s without decoding its path', (target, want) => {
    expect(read(target)).toEqual(want);
  });

  it.each([
    ['*'],
    [''],
    ['gauge'],
    ['http://other.example'],
    ['http://other.example?a=1'],
    ['ftp://other.example/gauge'],
    ['/gauge#a'],
    ['/gau\\ge'],
    ['/gauge?a=\u00e9'],
    ['/gauge a'],
    ['/gauge?a=%'],
    ['/gauge?a=%4'],
    ['/gauge?a=%zz'],
    ['/gauge?a=%ff'],
    ['/gauge?a=%ed%a0%80'],
    ['/gauge?a=1&a=1'],
    ['/gauge?a=1&%61=2'],
  ])('refuses %j with 400', (target) => {
    expect(read(target)).toBe(400);
  });

  it('I43: takes a target of the longest length and refuses one byte more with 414', () => {
    const longest = `/gauge?a=${'x'.repeat(TARGET_BYTES_MAX - '/gauge?a='.length)}`;
    expect(read(longest.slice(0, -1))).toHaveProperty('a');
    expect(read(longest)).toHaveProperty('a');
    expect(read(`${longest}x`)).toBe(414);
    expect(read(`/${'x'.repeat(1_000_000)}`)).toBe(414);
  });

  it('I43: takes the most parameters and refuses one more', () => {
    const query = (count: number): string =>
      `/gauge?${Array.from({ length: count }, (_, at) => `p${at}=1`).join('&')}`;
    expect(read(query(QUERY_PARAMS_MAX - 1))).toHaveProperty('p0');
    expect(read(query(QUERY_PARAMS_MAX))).toHaveProperty('p0');
    expect(read(query(QUERY_PARAMS_MAX + 1))).toBe(400);
  });
});

describe('canonicalTarget()', () => {
  it('sorts and encodes what it is given', () => {
    expect(canonicalTarget('/gauge', { signal_id: 'a.b', entity: 'NT 10/K' })).toBe(
      '/gauge?entity=NT%2010%2FK&signal_id=a.b',
    );
    expect(canonicalTarget('/gauge', {})).toBe('/gauge');
  });

  it('is read back as the same values', () => {
    const values = { a: 'ü &=+%#\\', b: '1' };
    expect(read(canonicalTarget('/x', values))).toEqual({ path: '/x', ...values });
  });
});
