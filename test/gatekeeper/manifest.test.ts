import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../compiler/contract/endpoints.ts';
import { answer } from '../../gatekeeper/answers.ts';
import { type ManifestEntry, manifest } from '../../gatekeeper/manifest.ts';
import { jsonOf, question, tinyService } from './tiny-service.ts';

describe('manifest()', () => {
  it('lists what sells now, and everything but the retired with all=1', async () => {
    const service = await tinyService();
    const some = jsonOf(await manifest(question('/manifest'), service));
    const all = jsonOf(await manifest(question('/manifest?all=1'), service));
    expect(all.count).toBe(ENDPOINTS.length - 1);
    const paths = (some.entries as ManifestEntry[]).map((entry) => entry.path);
    expect(paths).toEqual(expect.arrayContaining(['/gauge', '/gauge/coverage']));
    expect(paths).not.toContain('/gauge/japan-region');
    expect(paths).not.toContain('/resolve');
  });

  it('gives examples that are answered, look-ups with a hash that is found', async () => {
    const service = await tinyService();
    const body = jsonOf(await manifest(question('/manifest'), service));
    for (const { input_example_request: example, sells_now } of body.entries as ManifestEntry[]) {
      expect(sells_now).toBe(true);
      expect([example, (await answer(question(example), service)).kind]).toEqual([
        example,
        'content',
      ]);
    }
  });

  it('is the payment manifest at /.well-known/x402', async () => {
    const service = await tinyService();
    const body = jsonOf(await manifest(question('/.well-known/x402'), service));
    expect(body).toMatchObject({
      version: 1,
      x402Version: 1,
      manifest: 'https://records.example/manifest?all=1',
    });
    expect(body.resources).toContain('https://records.example/gauge');
    expect(body.items).toHaveLength((body.resources as string[]).length);
    expect(body.items).toHaveProperty('0.accepts.0.maxAmountRequired', '10000');
  });

  it('has no projection for a platform yet and says so', async () => {
    const service = await tinyService();
    const body = jsonOf(await manifest(question('/manifest?platform=mcp'), service));
    expect(body).toMatchObject({ status: 501, no_charge: true });
  });
});
