import { describe, expect, it } from 'vitest';
import { answer } from '../../../gatekeeper/answers/answers.ts';
import { jsonOf, question, tinyService } from '../tiny-service.ts';

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

  it('gone: 410', async () => {
    const service = await tinyService();
    expect(jsonOf(await answer(question('/merkle/proof'), service))).toMatchObject({ status: 410 });
  });
});
