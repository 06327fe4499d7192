import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rollBack } from '../../../compiler/commands/releases-command.ts';
import { canonicalRequest } from '../../../compiler/contract/canonical-request.ts';
import { defined } from '../../../compiler/contract/defined.ts';
import { route } from '../../../compiler/contract/route.ts';
import { removeReleases } from '../../../compiler/stages/publish/release-folders.ts';
import { answer } from '../../../gatekeeper/answers/answers.ts';
import type { Question, Service } from '../../../gatekeeper/answers/service.ts';
import { renewEarlier } from '../../../gatekeeper/release/earlier-releases.ts';
import type { ReleaseFolder } from '../../../gatekeeper/release/release-source.ts';
import {
  asOfShop,
  asOfTarget,
  asOfTime,
  recordTarget,
  SECOND_STATION_FROM,
} from '../../as-of-shop.ts';
import { compileFolder, makeFolder, readJson, removeFolders, SEED } from '../../snapshot-folder.ts';
import { compiledService } from '../compiled-service.ts';
import { jsonOf, question } from '../tiny-service.ts';

const RELEASES = 5;
const NOW = '2026-11-21T12:00:00Z';

/** What `/gauge` sold of a station while each release was the newest one. */
const sold: Record<string, string>[] = [];
let shop: string;
beforeAll(async () => {
  ({ data: shop } = await asOfShop(RELEASES, async (data) => {
    const service = await compiledService(data, NOW);
    const stations = sold.length < SECOND_STATION_FROM ? ['pier-one'] : ['pier-one', 'quay-two'];
    const texts = stations.map(async (one) => [one, await textOf(recordTarget(one), service)]);
    sold.push(Object.fromEntries(await Promise.all(texts)));
  }));
}, 120_000);
afterAll(removeFolders);

/** The question of a target, by the catalogue of the shop. */
function asked(target: string, { release }: Service): Question {
  const request = canonicalRequest(target);
  const found = 'status' in request ? undefined : route(request, release.catalog);
  return { ...question('/gauge'), route: defined(found, `the route of "${target}"`) };
}

async function textOf(target: string, service: Service): Promise<string> {
  const answered = await answer(asked(target, service), service);
  if (answered.kind !== 'content') throw new Error(`Cannot sell "${target}": ${answered.kind}`);
  return answered.content.body.toString('utf8');
}

/** The words of the 422 of a target. */
async function refusal(target: string, service: Service) {
  const answered = await answer(asked(target, service), service);
  if (answered.kind !== 'reply') throw new Error(`Cannot refuse "${target}": ${answered.kind}`);
  expect(answered.reply.status).toBe(422);
  return jsonOf(answered) as Record<'error' | 'miss' | 'example_request', string>;
}

/** A copy of the shop that a test may damage. */
function ownShop(): string {
  const data = join(makeFolder(), 'data');
  cpSync(shop, data, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  return data;
}
const served = (data: string) => compiledService(data, NOW);
const names = (data: string): string[] => readdirSync(join(data, 'releases')).sort();
const nameOf = (data: string, release: number): string => names(data)[release] ?? '';

describe('asOf()', () => {
  it.each(Array.from({ length: RELEASES }, (_, release) => release))(
    'I24: gives the very bytes that release %i sold, at its time and until the next one',
    async (release) => {
      const service = await served(shop);
      const later = asOfTime(release).replace(':30:', ':59:');
      const times = release === RELEASES - 1 ? [asOfTime(release)] : [asOfTime(release), later];
      for (const [station, text] of Object.entries(sold[release] ?? {})) {
        for (const time of times) {
          expect(await textOf(asOfTarget(time, station), service)).toBe(text);
        }
      }
      expect(new Set(sold.map((one) => one['pier-one'])).size).toBe(RELEASES);
    },
  );

  it('reads a time with an offset as the instant that it is', async () => {
    const service = await served(shop);
    const text = await textOf(asOfTarget('2026-11-20T09:30:00+02:00'), service);
    expect(text).toBe(sold[1]?.['pier-one']);
  });

  it.each([
    ['the time before the first release', '2026-11-20T06:29:59Z', 'no_data'],
    ['a day that ended before it', '2026-11-19', 'no_data'],
    ['a moment after the newest release', '2026-11-20T10:30:00.001Z', 'illegal_value'],
    ['a day that ends after it', '2026-11-20', 'illegal_value'],
    ['a time without a zone', '2026-11-20T08:30:00', 'illegal_value'],
    ['no time', 'yesterday', 'illegal_value'],
    ['a day that does not exist', '2026-02-30', 'illegal_value'],
  ])('refuses %s, and says how far back is kept', async (_, time, miss) => {
    const body = await refusal(asOfTarget(time), await served(shop));
    expect(body).toMatchObject({ no_charge: true, miss });
    expect(body.error).toMatch(/^Not charged\. Try GET \/gauge\/as-of\?/);
    expect(body.error).toContain(`from ${asOfTime(0)} to ${asOfTime(RELEASES - 1)}`);
  });

  it('I67: refuses a record that the release of then lacks, though a later one has it', async () => {
    const service = await served(shop);
    const first = asOfTime(SECOND_STATION_FROM);
    expect(await textOf(asOfTarget(first, 'quay-two'), service)).toContain('"quay-two"');
    const before = asOfTime(SECOND_STATION_FROM - 1);
    const body = await refusal(asOfTarget(before, 'quay-two'), service);
    expect(body.miss).toBe('no_data');
    expect(body.error).toContain(`the release of ${before} has no such record`);
  });

  it('knows of a pruned release at once, and names the oldest one that is left', async () => {
    const data = ownShop();
    const service = await served(data);
    expect(await textOf(asOfTarget(asOfTime(0)), service)).toBe(sold[0]?.['pier-one']);
    removeReleases(data, [nameOf(data, 0)]);
    await renewEarlier(service.release);
    const { error } = await refusal(asOfTarget(asOfTime(0)), service);
    expect(error).toContain(`from ${asOfTime(1)} to`);
    expect(await textOf(asOfTarget(asOfTime(1)), service)).toBe(sold[1]?.['pier-one']);
  });

  it('is told by the disk of one that nobody has noticed yet', async () => {
    const data = ownShop();
    const service = await served(data);
    expect(await textOf(asOfTarget(asOfTime(2)), service)).toBe(sold[2]?.['pier-one']);
    removeReleases(data, [nameOf(data, 0)]);
    expect((await refusal(asOfTarget(asOfTime(0)), service)).error).toContain(
      `from ${asOfTime(1)} to`,
    );
  });

  it('I67: reaches back no further than to a gap: nobody can say what was the newest release in it', async () => {
    const data = ownShop();
    removeReleases(data, [nameOf(data, 2)]);
    const service = await served(data);
    expect(await textOf(asOfTarget(asOfTime(3)), service)).toBe(sold[3]?.['pier-one']);
    for (const release of [0, 1, 2]) {
      const { error } = await refusal(asOfTarget(asOfTime(release)), service);
      expect(error).toContain(`from ${asOfTime(3)} to`);
    }
  });

  it('leaves out what a clock that ran ahead called a later time', async () => {
    const { data, snapshots } = await asOfShop(2);
    const first = await served(data);
    const before = await textOf(recordTarget(), first);
    await compileFolder(snapshots, { data, asOf: '2026-11-20T20:30:00Z' });
    await compileFolder(snapshots, { data, asOf: asOfTime(2), acceptClock: true });
    const service = await served(data);
    for (const time of ['2026-11-20T08:29:59Z', asOfTime(1)]) {
      expect(await textOf(asOfTarget(time), service)).toBe(before);
    }
    expect(await textOf(asOfTarget(asOfTime(2)), service)).toBe(
      await textOf(recordTarget(), service),
    );
    const { error } = await refusal(asOfTarget('2026-11-20T20:30:00Z'), service);
    expect(error).toContain(`from ${asOfTime(0)} to ${asOfTime(2)}`);
  });

  it('I24: trusts no head that the later ones do not name', async () => {
    const data = ownShop();
    change(data, 'release.json', (text) => text.replace('T08:30:00Z', 'T07:45:00Z'));
    const service = await served(data);
    const { error } = await refusal(asOfTarget('2026-11-20T08:00:00Z'), service);
    expect(error).toContain(`from ${asOfTime(3)} to`);
    expect(await textOf(asOfTarget(asOfTime(3)), service)).toBe(sold[3]?.['pier-one']);
  });

  it('I24: sells nothing by a changed list, whose files are whole and signed', async () => {
    const data = ownShop();
    change(data, 'files.txt', (text) => {
      const [one = '', other = ''] = ['pier-one', 'quay-two'].map((station) =>
        hashIn(text, station),
      );
      return text.replace(one, other);
    });
    const service = await served(data);
    const asks = answer(asked(asOfTarget(asOfTime(2)), service), service);
    await expect(asks).rejects.toThrow(/its files\.txt differs from what its head signs/);
    expect(await textOf(asOfTarget(asOfTime(3)), service)).toBe(sold[3]?.['pier-one']);
  });

  it('charges each question about a damaged release for looking whether it is gone', async () => {
    const data = ownShop();
    change(data, 'files.txt', (text) => text.replace(/^./, (digit) => (digit === '0' ? '1' : '0')));
    const { size } = statSync(join(data, 'releases', nameOf(data, 2), 'files.txt'));
    const service = await served(data);
    const list = 4 + size / 65_536;
    const earlier = RELEASES - 1;
    for (const _ of ['the first', 'another']) {
      const spent = vi.fn<(units: number) => void>();
      const question = { ...asked(asOfTarget(asOfTime(2)), service), spend: spent };
      await expect(answer(question, service)).rejects.toThrow(/differs from what its head signs/);
      const units = spent.mock.calls.reduce((sum, [more]) => sum + more, 0);
      expect(units).toBeCloseTo(list + 4 + earlier / 64, 6);
    }
  });

  it('names a time that answers, also where a rollback repeats a manifest of a release that is gone', async () => {
    const data = ownShop();
    const all = names(data);
    await rollBack({ data, name: nameOf(data, 3), asOf: asOfTime(RELEASES), seed: SEED });
    const request = (service: Service) => service.release.offers.get('/gauge/as-of')?.request ?? '';
    const written = asOfTarget(asOfTime(3));
    const manifest = readJson(join(data, 'current'), 'well-known/manifest.json');
    expect(JSON.stringify(manifest)).toContain(written);
    expect(await textOf(written, await served(data))).toBe(sold[3]?.['pier-one']);
    removeReleases(data, all);
    const service = await served(data);
    const { example_request } = await refusal(written, service);
    expect(example_request).toBe(asOfTarget(asOfTime(RELEASES)));
    expect(request(service)).toBe(example_request);
    expect(await textOf(example_request, service)).toBe(sold[3]?.['pier-one']);
  });

  it('fails for what is behind a head that the disk does not give, until it does', async () => {
    const service = await served(shop);
    const folder = folderOf(service);
    const { head } = folder;
    folder.head = (name) => (name === nameOf(shop, 2) ? Promise.reject(busyDisk()) : head(name));
    const asks = (release: number) => textOf(asOfTarget(asOfTime(release)), service);
    expect(await asks(3)).toBe(sold[3]?.['pier-one']);
    for (const time of [asOfTime(2), asOfTime(0), '2026-11-20T06:29:59Z', '2026-11-21']) {
      const failing = answer(asked(asOfTarget(time), service), service);
      await expect(failing).rejects.toThrow(/nobody can tell which are kept \(EMFILE/);
    }
    folder.head = head;
    await renewEarlier(service.release);
    expect(await asks(0)).toBe(sold[0]?.['pier-one']);
  });

  it('I67: is not led astray by a release that was never served', async () => {
    const data = ownShop();
    const service = await served(data);
    const folder = folderOf(service);
    const { names: all } = folder;
    for (const stray of ['000003-20261120T000000Z', '000003-20261120T235959Z']) {
      mkdirSync(join(data, 'releases', stray));
      writeFileSync(join(data, 'releases', stray, 'release.json'), '{}');
    }
    for (const order of [1, -1]) {
      folder.names = async () => [...(await all())].sort((a, b) => (a < b ? -order : order));
      await renewEarlier(service.release);
      expect(await textOf(asOfTarget(asOfTime(0)), service)).toBe(sold[0]?.['pier-one']);
    }
  });

  it('fails, and says nothing is not kept, where the disk does not tell', async () => {
    const data = ownShop();
    const service = await served(data);
    rmSync(join(data, 'releases'), { recursive: true });
    await expect(answer(asked(asOfTarget(asOfTime(1)), service), service)).rejects.toThrow(
      /^Cannot serve an earlier release: nobody can tell/,
    );
  });
});

/** The folder of a service, for a test that stands in for its disk. */
function folderOf({ release }: Service): {
  -readonly [Name in keyof ReleaseFolder]: ReleaseFolder[Name];
} {
  return defined(release.place.folder, 'the folder of releases');
}

const busyDisk = (): Error =>
  Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE', syscall: 'open' });

/** Changes a file of the third release. */
function change(data: string, file: string, changed: (text: string) => string): void {
  const path = join(data, 'releases', nameOf(data, 2), file);
  const text = readFileSync(path, 'utf8');
  expect(changed(text)).not.toBe(text);
  writeFileSync(path, changed(text));
}

/** The hash of the record of a station, as a list of files has it. */
function hashIn(list: string, station: string): string | undefined {
  const line = list.split('\n').find((one) => one.endsWith(` record/tides.level/${station}.json`));
  return line?.slice(0, 64);
}
