import { describe, expect, it } from 'vitest';
import { ENDPOINTS, type Endpoint } from '../../compiler/contract/endpoints.ts';
import { answer } from '../../gatekeeper/answers.ts';
import { isBuilt } from '../../gatekeeper/built.ts';
import { jsonOf, question, tinyService } from './tiny-service.ts';

const EXAMPLE =
  'signal_id=airquality.aqi&entity=us-denver&loc=us-denver&form=10-K&cutoff=2026-01-01';

describe('answer()', () => {
  it('file: the stored body with its request-time fields', async () => {
    const service = await tinyService();
    const target = '/gauge?signal_id=airquality.aqi&entity=us-denver';
    expect(jsonOf(await answer(question(target), service))).toMatchObject({
      entity: 'us-denver',
      provenance: { age_hours_now: 1.3, freshness: 'fresh', served_from: expect.any(String) },
    });
  });

  it('file: a miss for what is not stored or cannot be a file name', async () => {
    const service = await tinyService();
    for (const entity of ['nobody', 'x'.repeat(300), '..%2F..%2Fetc', '%00', 'con', 'US-DENVER']) {
      const target = `/gauge?signal_id=airquality.aqi&entity=${entity}`;
      expect(await answer(question(target), service)).toEqual({ kind: 'miss' });
    }
  });

  it('file: a thin variant is another file, and a miss where there is none', async () => {
    const service = await tinyService();
    const target = '/gauge/region?loc=us-denver';
    expect((await answer(question(target), service)).kind).toBe('content');
    expect((await answer(question(`${target}&format=thin`), service)).kind).toBe('miss');
  });

  it.each(
    (ENDPOINTS as readonly Endpoint[])
      .filter((row) => !isBuilt(row.answer))
      .map((row) => [row.path, row] as const),
  )('sells nothing and says so at %s, which later versions answer', async (path, row) => {
    const service = await tinyService();
    const target = path.replace(/:[a-z_]+$/, `sha256:${'0'.repeat(64)}`);
    const answered = await answer(question(`${target}?${EXAMPLE}`), service);
    const want = row.priceUsd === null ? { status: 501, no_charge: true } : { miss: true };
    expect(jsonOf(answered)).toMatchObject(want);
  });

  it('gone: 410', async () => {
    const service = await tinyService();
    expect(jsonOf(await answer(question('/merkle/proof'), service))).toMatchObject({ status: 410 });
  });
});
