import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CHECKPOINT_PATH } from '../../../../compiler/format/tiles.ts';
import { RemoteSource } from '../../../../gatekeeper/fleet/remote/remote-source.ts';
import { logTip } from '../../../../gatekeeper/heart/release/log-tip.ts';
import { openPlace } from '../../../../gatekeeper/heart/release/open-release.ts';
import { loggedRelease } from '../../logged-service.ts';
import { tinyDataDir } from '../../tiny-release.ts';
import { untoldState } from '../../wire/untold.ts';
import { closeSites, staticSite, writeHostedRelease } from './static-site.ts';

const TERMS = { issuerDid: null, baseUrl: null };
const TILE = 'log/tile/0/000.p/3';

afterEach(closeSites);

function source(url: string, cacheDir: string): RemoteSource {
  return new RemoteSource({
    url: new URL(`${url}/`),
    auth: null,
    cacheDir,
    cacheBytesMax: 10_000_000,
    answerMs: 500,
    clock: Date.now,
    log: () => undefined,
    state: untoldState(),
  });
}

describe('a log on a host', () => {
  it('is checked, and a proof that held before stands in for a host that lies or is away', async () => {
    const data = tinyDataDir();
    writeHostedRelease(data, loggedRelease());
    const site = await staticSite(data);
    const cache = tinyDataDir();
    const one = source(site.url, cache);
    const release = await openPlace(await one.newest(), TERMS);
    await one.served(release);
    const { proof } = await logTip(release);
    await one.close();
    for (const path of [CHECKPOINT_PATH, TILE, TILE.replace('/0/', '/entries/')]) {
      const good = readFileSync(join(data, path));
      const flipped = Buffer.from(good);
      flipped[good.length - 20] = (flipped[good.length - 20] ?? 0) ^ 1;
      for (const bad of [flipped, Buffer.from('lies'), null]) {
        if (bad === null) rmSync(join(data, path));
        else writeFileSync(join(data, path), bad);
        const fresh = source(site.url, tinyDataDir());
        await expect(logTip(await openPlace(await fresh.newest(), TERMS)), path).rejects.toThrow();
        await fresh.close();
        const again = source(site.url, cache);
        const tip = await logTip(await openPlace(await again.newest(), TERMS));
        expect(tip.proof).toEqual(proof);
        await again.close();
      }
      writeFileSync(join(data, path), good);
    }
    await site.goAway();
    const away = source(site.url, cache);
    const kept = await away.kept();
    if (kept === null) throw new Error('nothing is kept');
    expect((await logTip(await openPlace(kept, TERMS))).proof).toEqual(proof);
    await away.close();
    expect(readdirSync(cache).filter((name) => name.startsWith('proof-'))).toHaveLength(1);
  });

  it('gives parts of a long file', async () => {
    const data = tinyDataDir();
    writeHostedRelease(data, loggedRelease());
    const site = await staticSite(data);
    const one = source(site.url, tinyDataDir());
    const { place } = await openPlace(await one.newest(), TERMS);
    const whole = readFileSync(join(data, 'log/new/1'));
    const part = { max: 64, start: 320, fault: () => null };
    expect(await place.log('log/new/1', part)).toEqual(whole.subarray(320, 384));
    expect(await place.log('log/new/9', part)).toBeNull();
    const wrong = { ...part, fault: () => 'not what was wanted' };
    await expect(place.log('log/new/1', wrong)).rejects.toThrow('not what was wanted');
    await one.close();
  });
});
