import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../../compiler/catalog/builtin.ts';
import { answer } from '../../../../gatekeeper/heart/answers/answers.ts';
import {
  exampleRequest,
  previewOf,
  usageOf,
} from '../../../../gatekeeper/heart/offer/example-request.ts';
import { builtinOperation } from '../../../builtin-rows.ts';
import { question, tinyService, tinyTokens } from '../../tiny-service.ts';

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
