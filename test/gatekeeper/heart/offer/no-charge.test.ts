import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { answer } from '../../../../gatekeeper/heart/answers/answers.ts';
import {
  exampleRequest,
  previewOf,
  usageOf,
} from '../../../../gatekeeper/heart/offer/example-request.ts';
import { noCharge } from '../../../../gatekeeper/heart/offer/no-charge.ts';
import type { ReleaseIndex } from '../../../../gatekeeper/heart/release/release-index.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { tinyFiles } from '../../tiny-release.ts';
import { question, tinyService, tinyTokens } from '../../tiny-service.ts';

async function body(target: string, release: ReleaseIndex): Promise<Record<string, unknown>> {
  const reply = await noCharge(question(target).route, release);
  expect(reply.status).toBe(422);
  expect(reply.headers).toContainEqual(['cache-control', 'no-store']);
  return JSON.parse(reply.body.toString());
}

const AQI_LIST = '/gauge/catalog?signal_id=airquality.aqi';
const searchOf = (words: string): string => `/gauge/search?q=${words}`;

describe('noCharge()', () => {
  it.each([
    ['/gauge?signal_id=airquality.aqi', 'missing_parameter', AQI_LIST, ['entity']],
    ['/gauge?entity=Boston', 'missing_parameter', searchOf('Boston'), ['signal_id']],
    ['/gauge?x=1', 'missing_parameter', '/gauge/catalog', ['signal_id', 'entity']],
    ['/gauge?signal_id=airquality.aqq&entity=us-denver', 'illegal_value', searchOf('us-denver')],
    ['/gauge/census?signal_id=airquality.aqq', 'illegal_value', searchOf('airquality.aqq')],
    ['/gauge?signal_id=airquality.aqi&entity=us-nowhere', 'no_data', AQI_LIST],
    ['/gauge/raw?signal_id=airquality.aqi&entity=us-denver', 'illegal_value', AQI_LIST],
    ['/gauge/region?loc=us-fresno', 'no_data', searchOf('us-fresno')],
    ['/gauge/region?loc=fresno', 'illegal_value', searchOf('fresno')],
    ['/gauge/region?loc=Denver,+CO', 'illegal_value', searchOf('Denver%2C%20CO')],
    ['/gauge/region?format=thin', 'missing_parameter', '/gauge/preview', ['loc']],
    ['/gauge/grid-reliability-region?entity=caiso', 'empty_line', searchOf('caiso')],
    [
      '/gauge?signal_id=grid-reliability.stress&entity=caiso',
      'empty_line',
      '/gauge/catalog?signal_id=grid-reliability.stress',
    ],
    ['/gauge/chokepoint-region?loc=hormuz', 'empty_line', '/gauge/preview'],
    ['/gauge/taiwan-region?proof=1', 'empty_line', '/gauge/preview'],
    ['/gauge/macro-reconcile-full?proof=1', 'empty_line', '/gauge/preview'],
    ['/pay/tier2?proof=1', 'empty_line', '/gauge/preview'],
    ['/shadow/chatter?topic=energy', 'empty_line', '/gauge/preview'],
    ['/resolve?entity=a&form=b&cutoff=c', 'empty_line', '/gauge/preview'],
    ['/gauge/watch?items=', 'missing_parameter', '/gauge/catalog', ['items']],
    ['/gauge/coverage?summary=2', 'illegal_value', '/gauge/coverage'],
    ['/gauge/search?q=Boston&limit=99', 'illegal_value', searchOf('Boston')],
    ['/gauge/search?limit=3', 'missing_parameter', '/gauge/preview', ['q']],
    [`/gauge/region?loc=${'x'.repeat(200)}`, 'illegal_value', '/gauge/preview'],
  ])('says why %s has no answer, and where it is listed or found', async (...row) => {
    const [target, miss, free, missing] = row;
    const { release } = await tinyService();
    const text = await body(target, release);
    expect(text).toMatchObject({ no_charge: true, miss });
    expect(text.missing_params).toEqual(missing);
    expect(String(text.error).slice(0, 200)).toContain(`Not charged. Try GET ${free} - `);
  });

  it.each([
    ['/trust/precheck?service=weather', '/trust/preview?q=weather'],
    ['/trust/scorecard?verifiable=2', '/trust/preview'],
    ['/mcp/server?name=weather', '/mcp/preview'],
    ['/resolve/proposer?entity=FB&form=10-K&cutoff=c', '/resolve/preview'],
  ])('leads %s to the list of its family: %s', async (target, free) => {
    const previews = ['trust', 'mcp', 'resolve'].map(
      (name) => [`free/preview/${name}.json`, Buffer.from('{}')] as const,
    );
    const { release } = await tinyService({ files: new Map([...tinyFiles(), ...previews]) });
    expect((await body(target, release)).error).toContain(`Not charged. Try GET ${free} - `);
  });

  it.each([
    ['/gauge/coverage?summary=2', '/gauge/coverage'],
    ['/gauge/anchor?hash=zz', '/gauge/anchor'],
    ['/resolve?entity=a&form=b&cutoff=c', '/gauge/catalog'],
  ])('offers for %s the operation itself where it answers: %s', async (target, example) => {
    const { release } = await tinyService();
    expect((await body(target, release)).example_request).toBe(example);
  });

  it.each([
    ['/gauge/ruler', 'filing.insider', 'AAPL', 'filing.insider has no official ruler'],
    ['/gauge/calibrated', 'filing.insider', 'AAPL', 'filing.insider has no official ruler'],
    ['/gauge/strata', 'filing.insider', 'AAPL', 'filing.insider has no official ruler'],
    ['/gauge/history', 'filing.insider', 'AAPL', 'filing.insider has no seasonal statistics'],
    [
      '/gauge/ruler',
      'airquality.aqi',
      'us-chicago',
      'no official ruler is stored for airquality.aqi at "us-chicago"',
    ],
    [
      '/gauge/strata',
      'airquality.aqi',
      'us-denver',
      'too few readings of the same season are stored for airquality.aqi at "us-denver"',
    ],
  ])('says why %s has no answer about %s', async (...[path, signalId, entity, why]) => {
    const { release } = await tinyService();
    const text = await body(`${path}?signal_id=${signalId}&entity=${entity}`, release);
    const sold = `/gauge/catalog?signal_id=${signalId}`;
    expect(text).toMatchObject({ no_charge: true, preview: sold });
    expect(String(text.error).endsWith(`- ${why}; ${sold} lists what you can buy for it`)).toBe(
      true,
    );
  });

  it('says of a reading that is not stored that it is not, whatever its signal could have', async () => {
    const { release } = await tinyService();
    const { error } = await body(
      '/gauge/ruler?signal_id=airquality.aqi&entity=us-nowhere',
      release,
    );
    expect(error).toMatch(/- "us-nowhere" is not measured for airquality.aqi; 2 are$/);
  });

  it('calls a document that is not stored an empty line, also beside others of its operation', async () => {
    const files = new Map([
      ...tinyFiles(),
      ['document/chokepoint-region/hormuz.json', Buffer.from('{}')] as const,
    ]);
    const { release } = await tinyService({ files });
    expect(await body('/gauge/chokepoint-region?loc=malacca', release)).toMatchObject({
      miss: 'empty_line',
      example_request: '/gauge/chokepoint-region?loc=hormuz',
      preview: '/gauge/preview',
      error: expect.stringMatching(/- no document is stored for loc "malacca"$/),
    });
    expect(
      await body('/gauge/chokepoint-region?loc=malacca', (await tinyService()).release),
    ).toMatchObject({
      miss: 'empty_line',
      error: expect.stringContaining('- nothing is stored for /gauge/chokepoint-region at present'),
    });
  });

  it('calls a key-gated line empty only until it has data', async () => {
    const files = new Map([
      ...tinyFiles(),
      ['record/grid-reliability.stress/ercot.json', Buffer.from('{}')] as const,
    ]);
    const { release } = await tinyService({ files });
    const asked = (signalId: string) => `/gauge?signal_id=${signalId}&entity=caiso`;
    const stored = await body(asked('grid-reliability.stress'), release);
    expect(stored.miss).toBe('no_data');
    expect(stored.error).not.toContain('data key');
    const empty = await body(asked('grid-reliability.realized-strain'), release);
    expect(empty.miss).toBe('empty_line');
    expect(empty.error).toContain(
      '- grid-reliability.realized-strain has no data until the operator gets a data key for its source;',
    );
    expect(empty.error).not.toContain('nothing is stored');
  });

  it('puts a misspelt option right, and guesses at no place', async () => {
    const { release } = await tinyService();
    const text = await body('/gauge/region?loc=denver', release);
    expect(text.example_request).toBe('/gauge/region?loc=us-denver');
    expect(text.error).not.toContain('did you mean');
    expect((await body('/gauge/region?loc=us-denver&format=thinn', release)).error).toMatch(
      /did you mean "thin"\?$/,
    );
  });

  it('says of two names of one parameter that they differ', async () => {
    const { release } = await tinyService();
    const target = '/gauge?signal_id=airquality.aqi&entity=us-denver&issuer=us-chicago';
    expect(await body(target, release)).toMatchObject({
      miss: 'illegal_value',
      error: expect.stringMatching(
        /entity "us-denver" is not legal: its other name issuer has a different value; send only one of them$/,
      ),
    });
    expect((await body(target.replace('issuer=us-chicago', 'proof=1'), release)).miss).toBe(
      'no_data',
    );
  });

  it('repeats only a piece of a long value', async () => {
    const { release } = await tinyService();
    const long = 'x'.repeat(3000);
    const text = await body(`/gauge?signal_id=airquality.aqi&entity=${long}`, release);
    expect(JSON.stringify(text).length).toBeLessThan(1000);
  });
});

describe('exampleRequest()', () => {
  it('names a request that is really answered, for every row that has a file', async () => {
    const tiny = await tinyService();
    const service = { ...tiny, operator: { ...tiny.operator, tokens: tinyTokens() } };
    const answered: string[] = [];
    // The log lies beside a release, and this one stands alone: `rooms/proof.test.ts` asks for anchors.
    const rows = BUILTIN.operations.filter(
      ({ method, answer: how }) => method === 'GET' && how !== 'anchor',
    );
    for (const row of rows) {
      const example = exampleRequest(row, {}, service.release);
      if (example === null) continue;
      answered.push(row.path);
      const { kind } = await answer(question(example), service);
      expect([example, kind]).toEqual([example, 'content']);
    }
    expect(answered).toEqual(
      expect.arrayContaining(['/gauge', '/gauge/ruler', '/gauge/region', '/gauge/sample']),
    );
  });

  it('stays as close to the given values as there is data', async () => {
    const { release } = await tinyService();
    const near = (values: Record<string, string>): string | null =>
      exampleRequest(builtinOperation('/gauge'), values, release);
    expect(near({ signal_id: 'airquality.aqi', entity: 'us-denver' })).toBe(
      '/gauge?entity=us-denver&signal_id=airquality.aqi',
    );
    expect(near({ signal_id: 'filing.insider', entity: 'nobody' })).toBe(
      '/gauge?entity=AAPL&signal_id=filing.insider',
    );
    expect(near({ signal_id: 'crypto.spot', entity: 'btc' })).toMatch(/^\/gauge\?entity=/);
    expect(near({ signal_id: 'airquality.aqi', entity: 'x'.repeat(5000) })).toMatch(/aqi$/);
  });

  it('is null where nothing is stored or the row has no file', async () => {
    const { release } = await tinyService();
    expect(exampleRequest(builtinOperation('/gauge/japan-region'), {}, release)).toBeNull();
    expect(exampleRequest(builtinOperation('/resolve'), {}, release)).toBeNull();
  });
});

describe('usageOf() and previewOf()', () => {
  it('show the required parameters and a free list that exists', async () => {
    const { release } = await tinyService();
    expect(usageOf(builtinOperation('/mcp/server'))).toBe('/mcp/server?name=<value>');
    expect(usageOf(builtinOperation('/pay/tier2'))).toBe('/pay/tier2');
    expect(previewOf(builtinOperation('/mcp/server'), {}, release)).toBe('/gauge/preview');
    const listOf = (signal_id: string): string =>
      previewOf(builtinOperation('/gauge'), { signal_id }, release);
    expect(listOf('airquality.aqi')).toBe('/gauge/catalog?signal_id=airquality.aqi');
    expect(listOf('a.b')).toBe('/gauge/catalog');
  });
});
