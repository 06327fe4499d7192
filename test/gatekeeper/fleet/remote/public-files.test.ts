import { hash } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { defined } from '../../../../compiler/format/defined.ts';
import { publicFileUrl } from '../../../../compiler/format/release.ts';
import { tinyFiles } from '../../tiny-release.ts';
import { closeGates, hostedGate } from './hosted-gate.ts';
import { closeSites, staticSite, writeHostedRelease } from './static-site.ts';

afterAll(async () => {
  await closeGates();
  await closeSites();
});

const bytesOf = (path: string): string =>
  defined(tinyFiles().get(path), `the file "${path}"`).toString();
const urlOf = (path: string, as = path): string =>
  publicFileUrl({ path: as, sha256: hash('sha256', bytesOf(path)) });

it('I52: a cache of sold and free files gives no sold one under the name of a free one', async () => {
  const site = await staticSite();
  writeHostedRelease(site.dataDir);
  const gate = await hostedGate({ data: site.url });
  const [record, free] = ['record/airquality.aqi/us-denver.json', 'free/merkle-spec.json'];
  const sold = await gate.buy('/gauge?entity=us-denver&signal_id=airquality.aqi');
  expect(sold.status).toBe(200);
  for (const as of [free, 'free/no-such-file.json', 'catalog.json']) {
    const { status, text } = await gate.get(urlOf(record, as));
    expect([as, status, text.includes('us-denver')]).toEqual([as, 404, false]);
  }
  const { status, text } = await gate.get(urlOf(free));
  expect([status, text]).toEqual([200, bytesOf(free)]);
});
