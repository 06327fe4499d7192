import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { endpointAt } from '../../../compiler/products/products.ts';
import { SERIES_DAYS_DEFAULT } from '../../../compiler/products/series.ts';
import type { Endpoint } from '../../../compiler/products/shapes/product.ts';
import { SERIES_DAYS_MAX } from '../../../compiler/products/shapes/series.ts';
import { builtinOperation } from '../../builtin-rows.ts';

const ROWS: readonly Endpoint[] = BUILTIN.operations;

/** Prices as the specification prints them. */
const PRICES: Readonly<Record<string, readonly string[]>> = {
  '0.005': [
    '/gauge/ruler',
    '/gauge/calibrated',
    '/gauge/strata',
    '/gauge/history',
    '/gauge/lifecycle',
    '/gauge/air',
    '/gauge/precip',
  ],
  '0.01': ['/gauge', '/trust/precheck', '/mcp/server', '/stable/coin', '/resolve/proposer'],
  '0.02': ['/shadow/chatter'],
  '0.03': ['/pay/tier2'],
  '0.09': [
    '/gauge/history-series',
    '/gauge/census',
    '/stablecoin-deaths',
    '/trust/scorecard',
    '/trust/graveyard',
    '/mcp/census',
    '/mcp/graveyard',
    '/stable/census',
    '/stable/graveyard',
    '/gauge/macro-reconcile-full',
    '/resolve',
    '/shadow/signal-plus',
  ],
  '0.10': ['/pay/tier3'],
  '0.25': [
    '/gauge/region',
    '/gauge/agri-region',
    '/gauge/grid-region',
    '/gauge/shipping-region',
    '/gauge/filing-company',
    '/gauge/wildfire-region',
    '/gauge/nas-region',
    '/gauge/border-wait-region',
    '/gauge/earthquake-region',
    '/gauge/hurricane-region',
    '/gauge/drought-region',
    '/gauge/drug-shortage-region',
    '/gauge/drug-detail-region',
    '/gauge/severe-convection-region',
    '/gauge/grid-reliability-region',
    '/gauge/policy-region',
    '/gauge/tool-region',
    '/gauge/dependency-region',
    '/gauge/promise-region',
    '/gauge/carbon-region',
    '/gauge/stablecoin-region',
    '/gauge/aicompute-region',
    '/gauge/depin-region',
    '/gauge/esgfund-region',
    '/gauge/rwa-region',
    '/gauge/smallsat-region',
    '/gauge/lrt-region',
    '/gauge/defilending-region',
    '/gauge/aidataset-region',
    '/gauge/meddevice-region',
    '/gauge/tariff-region',
    '/gauge/biodiversity-region',
    '/gauge/taiwan-region',
    '/gauge/japan-region',
    '/gauge/chokepoint-region',
  ],
  '0.35': ['/shadow/region-plus'],
  '9.90': ['/gauge/subscribe'],
};
const TOKEN = ['/gauge/watch', '/gauge/watch-changes', '/gauge/manifest-sweep'];
const FREE = [
  '/gauge/coverage',
  '/gauge/catalog',
  '/gauge/search',
  '/gauge/preview',
  '/gauge/sample',
  '/gauge/history-preview',
  '/gauge/raw',
  '/gauge/verify',
  '/gauge/anchor',
  '/gauge/channels',
  '/stablecoin-deaths/preview',
  '/trust/preview',
  '/stable/preview',
  '/mcp/preview',
  '/resolve/preview',
  '/resolve/proposer/preview',
  '/manifest',
  '/.well-known/x402',
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  '/verify',
  '/proof/:record_hash',
  '/gauge/basket',
  '/mcp',
  '/merkle/proof',
  '/merkle/spec',
  '/v/:record_hash',
];

/** Parameters in the order of the specification: `!` is required, `?` is optional. */
const PARAMS: Readonly<Record<string, string>> = {
  '/gauge': 'signal_id! entity! dim? format?',
  '/gauge/ruler': 'signal_id! entity!',
  '/gauge/calibrated': 'signal_id! entity! format?',
  '/gauge/strata': 'signal_id! entity!',
  '/gauge/history': 'signal_id! entity!',
  '/gauge/history-series': 'signal_id! entity! days? format? verifiable?',
  '/gauge/census': 'signal_id!',
  '/gauge/lifecycle': 'entity!',
  '/gauge/air': 'loc!',
  '/gauge/precip': 'loc!',
  '/gauge/region': 'loc! format?',
  '/gauge/agri-region': 'loc! format?',
  '/gauge/grid-region': 'loc! format?',
  '/gauge/shipping-region': 'loc! format?',
  '/gauge/nas-region': 'entity! format?',
  '/gauge/filing-company': 'entity! format?',
  '/gauge/policy-region': 'entity! format?',
  '/stablecoin-deaths': 'verifiable?',
  '/trust/scorecard': 'verifiable?',
  '/gauge/macro-reconcile-full': '',
  '/trust/precheck': 'service!',
  '/mcp/server': 'name!',
  '/stable/coin': 'symbol!',
  '/resolve': 'entity! form! cutoff! event_class? source_class? market_or_event?',
  '/resolve/proposer': 'entity! form! cutoff! event_class? source_class? market_or_event?',
  '/gauge/subscribe': '',
  '/gauge/watch': 'items! token?',
  '/gauge/watch-changes': 'items! since? token?',
  '/gauge/chokepoint-region': 'loc!',
  '/shadow/chatter': 'topic!',
  '/shadow/signal-plus': 'signal_id! entity! topic!',
  '/shadow/region-plus': 'loc! topic!',
  '/gauge/history-preview': 'signal_id! entity!',
  '/gauge/search': 'q! limit?',
  '/gauge/raw': 'signal_id! entity!',
  '/gauge/verify': 'hash!',
  '/gauge/anchor': 'day? hash?',
  '/proof/:record_hash': 'record_hash!',
  '/v/:record_hash': 'record_hash!',
};

describe('BUILTIN.operations', () => {
  it('holds the 91 operations of the specification, the look-up path of citations, the search and the basket', () => {
    const listed = [...Object.values(PRICES).flat(), ...TOKEN, ...FREE];
    expect(listed).toHaveLength(94);
    const paths = ROWS.map((row) => row.path);
    expect(paths).toEqual(expect.arrayContaining(listed));
    expect(new Set(paths).size).toBe(paths.length);
  });

  it.each(Object.entries(PRICES))('sells at %s what the specification says', (usd, paths) => {
    const other = paths.filter((path) => BUILTIN.operationByPath.get(path)?.priceUsd !== usd);
    expect(other).toEqual([]);
  });

  it('opens three operations by token and gives 27 away, without a price of their own', () => {
    expect(ROWS.filter((row) => row.token).map((row) => row.path)).toEqual(TOKEN);
    const free = ROWS.filter((row) => row.priceUsd === null && !row.token);
    expect(free.map((row) => row.path).sort()).toEqual([...FREE].sort());
    expect(ROWS.every((row) => row.priceUsd === null || !row.token)).toBe(true);
  });

  it.each(Object.entries(PARAMS))('takes at %s the parameters %s', (path, want) => {
    const params = Object.entries(BUILTIN.operationByPath.get(path)?.params ?? {});
    const have = params.map(([name, param]) => `${name}${param.required ? '!' : '?'}`);
    expect(have.join(' ')).toBe(want);
  });

  it('takes GET everywhere but at the three operations with a body', () => {
    const posts = ROWS.filter((row) => row.method !== 'GET').map((row) => row.path);
    expect(posts).toEqual(['/verify', '/gauge/basket', '/mcp']);
  });

  it('answers the retired path as gone and keeps its text as archive', () => {
    expect(builtinOperation('/merkle/proof').answer).toBe('gone');
    expect(ROWS.filter((row) => row.answer === 'gone')).toHaveLength(1);
    expect(builtinOperation('/merkle/spec').answer).toBe('file');
  });

  it('limits a series to 1000 days and defaults to 400', () => {
    const { days } = builtinOperation('/gauge/history-series').params;
    expect([SERIES_DAYS_MAX, SERIES_DAYS_DEFAULT]).toEqual([1000, 400]);
    expect(days).toMatchObject({ type: 'integer', min: 1, max: 1000, default: '400' });
  });

  it('tags every kind of product and nothing else', () => {
    const bundles = ROWS.filter((row) => row.tag === '[3-LEG]').map((row) => row.path);
    expect(bundles.sort()).toEqual([...(PRICES['0.25'] ?? []), '/shadow/region-plus'].sort());
    for (const row of ROWS) {
      const unpaid = row.token ? '[TOKEN]' : '[FREE]';
      const paid = ['[SIGNAL+PROOF]', '[BATCH+PROOF]', '[3-LEG]'];
      const isSold = row.priceUsd !== null || row.answer === 'basket';
      expect(isSold ? paid : [unpaid]).toContain(row.tag);
    }
  });

  it('leaves optional parameters either open, defaulted or absent, and gives legal examples', () => {
    for (const [name, param] of ROWS.flatMap((row) => Object.entries(row.params))) {
      expect(param.examples.length, name).toBeGreaterThan(0);
      for (const example of param.examples) {
        if (param.enum !== undefined) expect(param.enum, name).toContain(example);
      }
      if (param.default !== undefined) expect(param.required, name).toBe(false);
    }
  });

  it('files an operation under exactly its path parameters; forms and redirects stay outside', () => {
    for (const row of ROWS.filter((item) => item.file !== undefined)) {
      const slots = [...(row.file ?? '').matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1]);
      const named = Object.entries(row.params).filter(([name, param]) => {
        const answered = row.answer === 'series' && ['days', 'format', 'verifiable'].includes(name);
        const searched = row.path === '/trust/preview' && name === 'q';
        return (
          !answered && !searched && param.variant === undefined && param.redirect === undefined
        );
      });
      expect(slots, row.path).toEqual(named.map(([name]) => name));
      expect(row.file, row.path).toMatch(/^[a-z]/);
      expect(row.file, row.path).toMatch(/\.json$/);
    }
  });

  it('redirects each dimension of a record to the operation that sells it', () => {
    const redirect = builtinOperation('/gauge').params.dim?.redirect ?? {};
    expect(redirect).toMatchObject(
      Object.fromEntries(
        ['ruler', 'calibrated', 'strata', 'history'].map((dim) => [dim, `/gauge/${dim}`]),
      ),
    );
    for (const path of Object.values(redirect))
      expect(BUILTIN.operationByPath.get(path)?.priceUsd).toMatch(/^0\./);
  });
});

describe('endpointAt()', () => {
  it('finds a path of the table', () => {
    expect(endpointAt('/gauge').summary).toBe('one signal record');
  });

  it('refuses a mistyped path and that of a bundle, in the type and when it runs', () => {
    // @ts-expect-error a path that the table does not hold
    expect(() => endpointAt('/guage')).toThrow('not in the table');
    // @ts-expect-error a path that the table does not hold
    expect(() => endpointAt('/gauge/nas-region')).toThrow('not in the table');
  });
});

describe('BUILTIN.operationByPath', () => {
  it('finds nothing for paths from outside that only look right', () => {
    for (const path of ['', '/', '/GAUGE', '/gauge/', '/gauge?x', '__proto__', 'constructor']) {
      expect(BUILTIN.operationByPath.get(path)).toBeUndefined();
    }
  });
});
