import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { tinyFiles } from '../../tiny-release.ts';
import { closeGates, hostedGate, until } from './hosted-gate.ts';
import { closeSites, type StaticSite, staticSite, writeHostedRelease } from './static-site.ts';

const TARGET = '/gauge?entity=us-denver&signal_id=airquality.aqi';
const OTHER = '/gauge?entity=us-chicago&signal_id=airquality.aqi';

/** Files that no other release lists, so that the list is not known. */
const FRESH = new Map([...tinyFiles(), ['free/fresh.json', Buffer.from('{}')]]);

/** What a host may put in place of release 5, which is served. */
const ROWS: { readonly what: string; readonly publish: (site: StaticSite) => void }[] = [
  {
    what: 'an older release',
    publish: ({ dataDir }) => writeHostedRelease(dataDir, { sequence: 4 }),
  },
  {
    what: 'another release of the same number',
    publish: ({ dataDir }) =>
      writeHostedRelease(dataDir, { sequence: 5, head: { issuer_name: 'X' } }),
  },
  {
    what: 'a newer release that goes back in time',
    publish: ({ dataDir }) =>
      writeHostedRelease(dataDir, { sequence: 6, head: { as_of: '2026-11-20T11:00:00Z' } }),
  },
  {
    what: 'a release of another issuer',
    publish: ({ dataDir }) => writeHostedRelease(dataDir, { sequence: 6, seed: 2 }),
  },
  {
    what: 'a release that is not signed by its issuer',
    publish: ({ dataDir }) => writeHostedRelease(dataDir, { sequence: 6, forged: { sequence: 7 } }),
  },
  {
    what: 'a release with another list',
    publish({ dataDir }) {
      const list = join(writeHostedRelease(dataDir, { sequence: 6, files: FRESH }), 'files.txt');
      writeFileSync(list, readFileSync(list, 'utf8').replace('a', 'b'));
    },
  },
  {
    what: 'a release without its list',
    publish: ({ dataDir }) =>
      rmSync(join(writeHostedRelease(dataDir, { sequence: 6, files: FRESH }), 'files.txt')),
  },
  {
    what: 'a page in place of the head',
    publish(site) {
      site.spoil = (path, response) => {
        if (path !== 'current/release.json') return false;
        response.end('<html>');
        return true;
      };
    },
  },
];

describe('releases that a host replays', () => {
  afterAll(async () => {
    await closeGates();
    await closeSites();
  });

  it.concurrent.each(ROWS)(
    'I21: $what is not served, also after a restart',
    async ({ publish }) => {
      const site = await staticSite();
      writeHostedRelease(site.dataDir, { sequence: 5 });
      const gate = await hostedGate({ data: site.url });
      await until('fetched', () => gate.reported('release_fetched'));
      publish(site);
      await until('refused', () => gate.reported('release_refused'));
      expect((await gate.health()).release.sequence).toBe(5);
      expect((await gate.buy(TARGET)).status).toBe(200);
      await gate.close();
      const again = await hostedGate({ data: site.url, state: gate.state });
      expect((await again.health()).release.sequence).toBe(5);
      expect((await again.buy(OTHER)).status).toBe(200);
      expect((await again.events()).map(({ event }) => event)).toContain('release_refused');
    },
  );

  it('a newer release of the issuer is served', async () => {
    const site = await staticSite();
    writeHostedRelease(site.dataDir, { sequence: 5 });
    const gate = await hostedGate({ data: site.url });
    writeHostedRelease(site.dataDir, { sequence: 6, files: FRESH });
    await until('swapped', async () => (await gate.health()).release.sequence === 6);
    expect((await gate.buy(TARGET)).status).toBe(200);
  });
});
