import { hash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOG_URL, RELEASE_URL } from '../../../../../compiler/catalog/static-files.ts';
import { memoryFile } from '../../../../../compiler/cli/verify-cli.ts';
import {
  PUBLIC_LIST_URL,
  parsePublicFileUrl,
  type Release,
} from '../../../../../compiler/format/release.ts';
import { storedPath } from '../../../../../compiler/products/shapes/path.ts';
import {
  type AddressOptions,
  verifyAddress,
} from '../../../../../compiler/publish/mirror/mirror-release.ts';
import { systemClock } from '../../../../../compiler/system/clock.ts';
import { nodeDisk } from '../../../../../compiler/system/disk.ts';
import { givenCatalog } from '../../../../../compiler/verify/given-keys.ts';
import type { Fetch } from '../../../../../compiler/verify/monitor/log-client.ts';
import { runVerify } from '../../../../../compiler/verify/verify-command.ts';
import type { Gatekeeper } from '../../../../../gatekeeper/start.ts';
import { sampleGate, servedShop } from '../../../../gate.ts';
import { copyPublicPart, flipBit, namedAtOnce, publicEntries } from '../../../../public-part.ts';
import { smallSet } from '../../../../small-set.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  spotPrices,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';
import { VirtualClock } from '../../../../sources/fetch/test-row.ts';
import { tideFiles } from '../../../../tide-shop.ts';
import { readHeadOf, resign } from '../../../../verify/resign.ts';

/** What is fetched in most tests: whatever is sold, half of the public files describe the shop. */
const FEW = spotPrices('2026-11-20', 3, 90_000);
let gate: Gatekeeper;
let data: string;
let did: string;
beforeAll(async () => {
  const validUntil = '2026-11-27T12:00:00Z';
  const compiled = await compileFolder(writeSnapshots(FEW), { validUntil });
  data = compiled.data;
  did = compiled.release.issuer_did;
  gate = await sampleGate(data);
});
afterAll(async () => {
  await gate.close();
  removeFolders();
});

const freshFolder = (): string => join(makeFolder(), 'mirror');

async function verified(more: Partial<AddressOptions> = {}, address = gate.url) {
  const clock = new VirtualClock('2026-11-20T12:00:00Z');
  const onStop = () => () => undefined;
  const kept = { mirror: undefined, memoryAt: memoryFile };
  const usual = { issuer: [did], json: true, ...kept, fetch, clock, onStop };
  const { exitCode, text } = await verifyAddress(address, { ...usual, ...more });
  const report = JSON.parse(text);
  const faults: string[] = (report.faults ?? []).map(({ file }: { file: string }) => file);
  return { exitCode, report, reason: String(report.reason), faults: [...new Set(faults)] };
}

/** Resolves once a shop shows the release of a number. */
async function served(shop: Gatekeeper, sequence: number): Promise<void> {
  const shown = async () => (await fetch(shop.url + RELEASE_URL)).text();
  await expect.poll(shown).toContain(`"sequence": ${sequence},`);
}

/** Where programs read of the service, by hand. */
const DESCRIBED = [
  '/openapi.json',
  '/.well-known/did.json',
  '/.well-known/keys.json',
  '/.well-known/catalog.json',
  '/format.md',
  '/llms.txt',
  '/llms-full.txt',
  '/.well-known/api-catalog',
  '/.well-known/mcp/server-card.json',
  '/.well-known/agent-skills/index.json',
  '/.well-known/agent-registration.json',
  '/manifest',
  '/manifest?all=1',
  '/manifest?platform=mcp',
  '/manifest?platform=a2a',
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
];

/** The log of one release. */
const LOG = [
  LOG_URL,
  '/log/tile/entries/000.p/1',
  '/log/tile/0/000.p/1',
  '/log/new/1',
  '/log/vkey',
];

const fileAt = (path: string): string | undefined => parsePublicFileUrl(path)?.path;
const longest = () =>
  publicEntries(data).reduce((one, other) => (other.size > one.size ? other : one));

describe('verifyAddress()', () => {
  it('verifies a shop from outside, and leaves nothing behind', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('signalpress-mirror-'));
    const { fetch, asked } = meddling();
    const { exitCode, report } = await verified({ fetch });
    const entries = publicEntries(data);
    expect([exitCode, report.verdict, report.faults]).toEqual([0, 'verified', []]);
    expect(report.target).toBe(gate.url);
    expect(report.part).toMatchObject({ isPublic: true, held: entries.length });
    expect(report).toMatchObject({
      fetched_files: entries.length + LOG.length,
      held_files: 0,
      resumed_files: 0,
      not_given: [],
    });
    expect(report.fetched_bytes).toBeGreaterThan(entries.reduce((sum, { size }) => sum + size, 0));
    // The head, the list and the log beside the files and the descriptions, each once.
    const urls = asked.map(({ path, query }) => path + query);
    expect(new Set(urls).size).toBe(urls.length);
    expect(urls.length).toBe(entries.length + 2 + LOG.length + DESCRIBED.length);
    expect(urls).toEqual(expect.arrayContaining(LOG));
    expect(urls).toEqual(expect.arrayContaining(DESCRIBED));
    expect(report.compared_descriptions).toBe(DESCRIBED.length);
    const after = readdirSync(tmpdir()).filter((name) => name.startsWith('signalpress-mirror-'));
    expect(after).toEqual(before);
  });

  it('tells a person how much it looked at, and what that took', async () => {
    const clock = systemClock(Date.now, Math.random);
    const kept = { mirror: undefined, memoryAt: memoryFile };
    const quiet = { ...kept, fetch, clock, onStop: () => () => undefined };
    const { text } = await verifyAddress(gate.url, { ...quiet, issuer: [did] });
    expect(text).toContain(`verified  ${gate.url} (its public part only)`);
    expect(text).toContain('what is sold was not looked at');
    expect(text).toMatch(/fetched \d+ files \(\d+\.\d MB\) in \d+(\.\d)? s; 0 were here; compared/);
  });

  it('says that a shop is stale, and that an issuer is not the trusted one', async () => {
    const late = Date.parse('2027-06-01T00:00:00Z');
    const stale = await verified({ now: late });
    expect([stale.exitCode, stale.report.stale]).toEqual([2, expect.stringContaining('stale')]);
    const other = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
    const { fetch, asked } = meddling();
    const wrong = await verified({ issuer: [other], fetch });
    expect([wrong.exitCode, wrong.faults]).toEqual([1, ['release.json']]);
    expect(wrong.report).toMatchObject({ fetched_files: 1, held_files: 0 });
    // Nothing but the keys is fetched for a head that does not hold.
    expect(asked.map(({ path }) => fileAt(path)).filter(Boolean)).toEqual(['well-known/keys.json']);
  });

  it.each<[string, Partial<AddressOptions>]>([
    ['--expect', { expect: 'GET /gauge' }],
    ['--body', { body: 'body.json' }],
  ])('refuses %s, which is about one body, before it asks for anything', async (_, option) => {
    const { fetch, asked } = meddling();
    const { exitCode, report } = await verified({ ...option, fetch });
    expect([exitCode, report.target, asked]).toEqual([2, gate.url, []]);
  });

  it('says that a mirror is a folder', async () => {
    const mirror = join(makeFolder(), 'file.txt');
    writeFileSync(mirror, 'mine');
    const { fetch, asked } = meddling();
    const { exitCode, reason } = await verified({ mirror, fetch });
    expect([exitCode, reason, asked]).toEqual([
      2,
      expect.stringContaining('": a file is already there; name another place'),
      [],
    ]);
    expect(readFileSync(mirror, 'utf8')).toBe('mine');
  });

  it('keeps a mirror that is a data folder for every other option', async () => {
    const mirror = freshFolder();
    expect((await verified({ mirror })).exitCode).toBe(0);
    const held = ['current', 'files', 'log', 'mirror.txt', 'releases', 'verified.json'];
    expect(readdirSync(mirror).sort()).toEqual(held);
    const { exitCode, text } = await runVerify(mirror, { issuer: [did], keys: mirror, json: true });
    expect([exitCode, JSON.parse(text).strays]).toEqual([0, []]);
    expect(givenCatalog(nodeDisk, mirror, { trust: [did] }).catalog.lines.length).toBeGreaterThan(
      0,
    );
    // Nothing that could be sold is in it.
    await expect(sampleGate(mirror)).rejects.toThrow('a mirror of what it gives away');
  });
});

describe('a service that gives something else', () => {
  it('I24: every public file with one bit flipped is named, and no other', async () => {
    const mirror = freshFolder();
    const shop = await servedShop(smallSet());
    for (const [at, group] of namedAtOnce(publicEntries(shop.data)).entries()) {
      const some = new Set(group.map(({ path }) => path));
      const { fetch } = meddling(async ({ path }, answer) => {
        if (!some.has(fileAt(path) ?? '')) return undefined;
        return withBytes(await answer(), (bytes) =>
          flipBit(bytes, (at * 7919) % (bytes.length * 8)),
        );
      });
      const own = { fetch, mirror: join(mirror, String(at)) };
      const { exitCode, faults } = await verified(own, shop.gate.url);
      expect([exitCode, faults]).toEqual([1, [...some]]);
    }
    await shop.gate.close();
  });

  it.each([404, 402, 410, 302])('a file that is answered with %i is named', async (status) => {
    const { path } = longest();
    const { fetch } = meddling((asked) =>
      fileAt(asked.path) === path ? new Response('no', { status }) : undefined,
    );
    const { exitCode, faults, report } = await verified({ fetch });
    expect([exitCode, faults]).toEqual([1, [path]]);
    expect(report.not_given).toEqual([expect.stringContaining(`${path}: answered ${status}`)]);
    const given = publicEntries(data).length - 1;
    expect(report).toMatchObject({ fetched_files: given, held_files: 0 });
  });

  it('a list or a head of other bytes fails, by name', async () => {
    for (const url of [PUBLIC_LIST_URL, RELEASE_URL]) {
      const { fetch } = meddling(async ({ path }, answer) =>
        path === url
          ? withBytes(await answer(), (bytes) => {
              const text = Buffer.from(bytes).toString();
              return Buffer.from(text.replace(/"sequence": 1|^[0-9a-f]{4}/, '"sequence": 2'));
            })
          : undefined,
      );
      const { exitCode, faults } = await verified({ fetch });
      expect([url, exitCode, faults[0]]).toEqual([url, 1, 'release.json']);
    }
  });

  it.each([
    ['a checkpoint that is gone', LOG_URL, LOG_URL.slice(1)],
    ['a tile that is gone', '/log/tile/0/000.p/1', 'log/tile/0/000.p/1'],
    ['an entry that is gone', '/log/tile/entries/000.p/1', 'log/tile/entries/000.p/1'],
    ['hashes that are gone', '/log/new/1', 'log/new/1'],
  ])('%s is named', async (_, url, file) => {
    const { fetch } = meddling(({ path }) =>
      path === url ? new Response('no', { status: 404 }) : undefined,
    );
    const mirror = freshFolder();
    const { exitCode, faults } = await verified({ fetch, mirror });
    expect(exitCode).toBe(1);
    expect(faults).toContain(file);
    expect(existsSync(join(mirror, LOG_URL.slice(1)))).toBe(false);
  });

  it.each(['/log/tile/entries/000.p/1', '/log/tile/0/000.p/1', '/log/new/1'])(
    'bytes of the log at %s that are others are named, and not kept',
    async (url) => {
      const { fetch } = meddling(async ({ path }, answer) =>
        path === url ? withBytes(await answer(), (bytes) => flipBit(bytes, 40)) : undefined,
      );
      const mirror = freshFolder();
      const { exitCode } = await verified({ fetch, mirror });
      expect(exitCode).toBe(1);
      expect(existsSync(join(mirror, LOG_URL.slice(1)))).toBe(false);
    },
  );

  it('a body without end is cut at its length, and named', async () => {
    const { path, size } = longest();
    const body = endless();
    const { fetch } = meddling((asked) =>
      fileAt(asked.path) === path ? body.answer() : undefined,
    );
    const { exitCode, faults } = await verified({ fetch, mirror: freshFolder() });
    expect([exitCode, faults]).toEqual([1, [path]]);
    // It is asked for once more, since a newer release could have come.
    expect(body.given()).toBeLessThan(2 * (size + 4 * 65_536));
  });
});

describe('a service that describes itself otherwise than it signed', () => {
  /** What is fetched once serves all of them. */
  const mirror = freshFolder();
  /** Answers some URLs with other bytes. */
  const describing = (some: readonly string[], change: (bytes: Uint8Array) => Uint8Array) =>
    meddling(async ({ path, query }, answer) =>
      some.includes(path + query) ? withBytes(await answer(), change) : undefined,
    );

  it('I24: every description is named that is served in another form, and no other', async () => {
    for (const change of [
      (bytes: Uint8Array) => flipBit(bytes, bytes.length * 4),
      (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.from(' ')]),
      () => new Uint8Array(0),
    ]) {
      const { exitCode, faults } = await verified({
        mirror,
        fetch: describing(DESCRIBED, change).fetch,
      });
      expect([exitCode, [...faults].sort()]).toEqual([1, [...DESCRIBED].sort()]);
    }
    const [one = ''] = DESCRIBED;
    const { fetch } = describing([one], () => Buffer.from('{}'));
    const { exitCode, faults, report } = await verified({ mirror, fetch });
    expect([exitCode, faults]).toEqual([1, [one]]);
    expect(report.faults[0].detail).toContain('another form than the release lists');
  });

  it('waits until no cache can be the reason, and takes what is right then', async () => {
    let isOld = true;
    const { fetch } = meddling(async ({ path }, answer) =>
      path === '/openapi.json' && isOld
        ? withBytes(await answer(), () => Buffer.from('{}'))
        : undefined,
    );
    const clock = new VirtualClock('2026-11-20T12:00:00Z');
    const sleep = async (ms: number): Promise<void> => {
      await clock.sleep(ms);
      if (ms > 60_000) isOld = false;
    };
    const waiting = { steady: () => clock.steady(), sleep };
    const { exitCode } = await verified({ mirror, fetch, clock: waiting });
    expect([exitCode, clock.waits]).toEqual([0, [61_000]]);
  });

  it('that does not give one deceives nobody by it, and that is said', async () => {
    const { fetch } = meddling(({ path }) =>
      path === '/llms.txt' ? new Response('no', { status: 404 }) : undefined,
    );
    const { exitCode, report } = await verified({ mirror, fetch });
    expect([exitCode, report.compared_descriptions]).toEqual([0, DESCRIBED.length - 1]);
    expect(report.not_given).toEqual(['/llms.txt: answered 404']);
  });

  it('may have a catalogue of its own', async () => {
    const { gate: shop } = await servedShop(tideFiles());
    try {
      const { exitCode, report } = await verified({}, shop.url);
      expect([exitCode, report.compared_descriptions]).toEqual([0, DESCRIBED.length]);
      const { fetch } = describing(['/manifest'], () => Buffer.from('{"entries":[]}'));
      expect((await verified({ fetch }, shop.url)).faults).toEqual(['/manifest']);
    } finally {
      await shop.close();
    }
  });
});

describe('an address that is no shop', () => {
  it.each([
    ['a redirect', 302, 'name the address that it leads to'],
    ['an error', 500, 'answered 500'],
    ['nothing', 404, 'name the address of a shop'],
  ])('%s is not judged', async (_, status, words) => {
    const { fetch, asked } = meddling(
      () => new Response('', { status, headers: { location: 'https://elsewhere.example/' } }),
    );
    const { exitCode, reason } = await verified({ fetch });
    expect([exitCode, reason]).toEqual([2, expect.stringContaining(words)]);
    expect(new Set(asked.map(({ path }) => path))).toEqual(new Set([RELEASE_URL]));
  });

  it('is refused without TLS, but for this machine', async () => {
    const { fetch, asked } = meddling();
    for (const address of [
      'http://shop.example',
      'https://a:b@shop.example',
      'https://s.example/?a',
    ]) {
      const { exitCode, reason } = await verified({ fetch }, address);
      expect([exitCode, reason]).toEqual([2, expect.stringContaining('not an address')]);
    }
    expect(asked).toEqual([]);
  });

  it.each([
    [
      'from before public lists',
      ({ public_files: _, ...head }: Release) => head,
      'from before public lists',
    ],
    [
      'of absurd numbers',
      (head: Release) => ({ ...head, public_files: { ...head.public_files, count: 2_000_001 } }),
      '2000001 files',
    ],
    ['of another version', (head: Release) => ({ ...head, contract_version: 99 }), 'version 99'],
  ])('a head %s is refused before anything else is fetched', async (_, change, words) => {
    const { fetch, asked } = meddling(async ({ path }, answer) =>
      path === RELEASE_URL
        ? withBytes(await answer(), (bytes) => {
            const head = change(JSON.parse(Buffer.from(bytes).toString()));
            return Buffer.from(`${JSON.stringify(head, null, 2)}\n`);
          })
        : undefined,
    );
    const { exitCode, reason } = await verified({ fetch });
    expect([exitCode, reason]).toEqual([2, expect.stringContaining(words)]);
    expect(asked.map(({ path }) => path)).toEqual([RELEASE_URL]);
  });

  it.each([
    ['free/../../../escaped.json', 'malformed'],
    ['record/a/b.json', 'which is sold'],
  ])('a signed list with %s is refused, and nothing is written for it', async (path, words) => {
    const folder = copyPublicPart(data, freshFolder());
    const list = `${'0'.repeat(64)} 5 ${path}\n`;
    writeFileSync(join(folder, 'current', 'files.txt'), list);
    const sha256 = `sha256:${hash('sha256', list, 'hex')}`;
    resign(join(folder, 'current'), { public_files: { sha256, count: 1 } });
    const head = readFileSync(join(folder, 'current', 'release.json'));
    const { fetch, asked } = meddling((each) =>
      each.path === RELEASE_URL
        ? new Response(head)
        : each.path === PUBLIC_LIST_URL
          ? new Response(list)
          : undefined,
    );
    const { exitCode, reason } = await verified({ fetch });
    expect([exitCode, reason]).toEqual([2, expect.stringContaining(words)]);
    expect(asked.some((each) => fileAt(each.path) !== undefined)).toBe(false);
  });

  it('a list without end is not read to its end', async () => {
    const body = endless();
    const { fetch } = meddling(({ path }) =>
      path === PUBLIC_LIST_URL ? body.answer() : undefined,
    );
    const { exitCode, reason } = await verified({ fetch });
    expect([exitCode, reason]).toEqual([2, expect.stringContaining('longer than')]);
    expect(body.given()).toBeLessThan(publicEntries(data).length * 4096 + 4 * 65_536);
  });

  it('an answer that trickles is cut off', async () => {
    // The longer a file is, the longer it may take.
    const { path } = publicEntries(data).reduce((one, other) =>
      other.size < one.size ? other : one,
    );
    const { fetch } = meddling((asked) =>
      fileAt(asked.path) === path ? silent(asked) : undefined,
    );
    const { exitCode, reason } = await verified({ fetch, answerMs: 500 });
    expect([exitCode, reason]).toEqual([2, expect.stringContaining('took too long')]);
  });
});

describe('a mirror', () => {
  it('goes on in the middle of a file', async () => {
    const { path, size } = longest();
    const cut = Math.floor(size / 3);
    let broken = 0;
    const { fetch, asked } = meddling(async (each, answer) => {
      if (fileAt(each.path) !== path || broken > 0) return undefined;
      broken += 1;
      return brokenAfter(await answer(), cut);
    });
    const { exitCode, report } = await verified({ fetch, mirror: freshFolder() });
    expect([exitCode, report.resumed_files]).toEqual([0, 1]);
    const ranges = asked.filter((each) => fileAt(each.path) === path).map(({ range }) => range);
    expect(ranges).toEqual([null, `bytes=${cut}-`]);
    const files = publicEntries(data).reduce((sum, each) => sum + each.size, 0);
    const log = LOG.reduce((sum, each) => sum + readFileSync(join(data, each)).length, 0);
    expect(report.fetched_bytes).toBe(files + log - cut);
  });

  it('goes on where a run was ended, and fetches nothing twice', async () => {
    const mirror = freshFolder();
    const { path, size } = longest();
    let stop = (): void => undefined;
    const first = meddling(async (each, answer) =>
      fileAt(each.path) === path ? brokenAfter(await answer(), Math.floor(size / 2)) : undefined,
    );
    const onStop = (call: () => void) => {
      stop = call;
      return () => undefined;
    };
    // It waits only once that answer has ended early.
    const clock = { steady: () => 0, sleep: async () => stop() };
    const ended = await verified({ fetch: first.fetch, mirror, onStop, clock });
    expect(ended.exitCode).toBe(2);
    const { fetch, asked } = meddling();
    const { exitCode, report } = await verified({ fetch, mirror });
    expect([exitCode, report.resumed_files]).toEqual([0, 1]);
    const files = asked.filter((each) => fileAt(each.path) !== undefined);
    expect(files.length + report.held_files).toBe(publicEntries(data).length);
    expect(report.held_files).toBeGreaterThan(0);
    expect(files.find((each) => fileAt(each.path) === path)?.range).toBe(
      `bytes=${Math.floor(size / 2)}-`,
    );
  });

  it('begins a file anew where what came before was something else', async () => {
    const mirror = freshFolder();
    const { sha256, path, size } = longest();
    mkdirSync(join(mirror, '.parts'), { recursive: true });
    writeFileSync(join(mirror, 'mirror.txt'), `${gate.url}\n`);
    const part = hash('sha256', storedPath(path, sha256), 'hex');
    writeFileSync(join(mirror, '.parts', part), Buffer.alloc(100));
    const { fetch, asked } = meddling();
    const { exitCode } = await verified({ fetch, mirror });
    expect(exitCode).toBe(0);
    const ranges = asked.filter((each) => fileAt(each.path) === path).map(({ range }) => range);
    expect(ranges).toEqual(['bytes=100-', null]);
    // Too long for any part to be left of it.
    expect(size).toBeGreaterThan(100);
  });

  it('fetches what a newer release changed, and lets go of what it no longer lists', async () => {
    const { snapshots, data: own, gate: shop } = await servedShop(FEW, { pollMs: 20 });
    try {
      const mirror = freshFolder();
      const first = await verified({ mirror }, shop.url);
      const again = meddling();
      const second = await verified({ mirror, fetch: again.fetch }, shop.url);
      expect([first.exitCode, second.exitCode, second.report.fetched_files]).toEqual([0, 0, 0]);
      expect(again.asked.map(({ path, query }) => path + query)).toEqual([
        RELEASE_URL,
        PUBLIC_LIST_URL,
        LOG_URL,
        ...DESCRIBED,
      ]);
      const before = new Set(publicEntries(own).map(({ sha256, path }) => sha256 + path));
      await compileFolder(snapshots, { data: own, asOf: '2026-11-20T13:00:00Z' });
      await served(shop, 2);
      const third = await verified({ mirror }, shop.url);
      const news = publicEntries(own).filter(({ sha256, path }) => !before.has(sha256 + path));
      // Of the log the checkpoint, its key, and the tile and bundle of one more entry.
      expect([third.exitCode, third.report.fetched_files]).toEqual([0, news.length + 4]);
      expect(news.length).toBeLessThan(before.size);
      expect(readdirSync(join(mirror, 'releases')).length).toBe(1);
      const { exitCode, text } = await runVerify(mirror, { issuer: [did], json: true });
      expect([exitCode, JSON.parse(text).head.sequence, JSON.parse(text).strays]).toEqual([
        0,
        2,
        [],
      ]);
      // A mirror is of one address.
      const other = await verified({ mirror });
      expect([other.exitCode, other.reason]).toEqual([2, expect.stringContaining('it mirrors')]);
    } finally {
      await shop.close();
    }
  });

  it('begins again with the head of a release that came meanwhile', async () => {
    const { snapshots, data: own, gate: shop } = await servedShop(FEW, { pollMs: 20 });
    try {
      let moved: Promise<unknown> | null = null;
      const { fetch: through } = meddling(async ({ path }, answer) => {
        if (fileAt(path) === undefined) return undefined;
        moved ??= compileFolder(snapshots, { data: own, asOf: '2026-11-20T13:00:00Z' });
        await moved;
        await served(shop, 2);
        // As where what the older release alone lists is gone.
        const { sha256 } = parsePublicFileUrl(path) ?? { sha256: '' };
        const isListed = publicEntries(own).some((each) => each.sha256 === sha256);
        return isListed ? answer() : new Response('gone', { status: 404 });
      });
      const { exitCode, report } = await verified({ fetch: through }, shop.url);
      expect([exitCode, report.head.sequence, report.not_given]).toEqual([0, 2, []]);
    } finally {
      await shop.close();
    }
  });

  it('I26: an older release than was seen is a rollback', async () => {
    const seen = JSON.stringify({
      format: 'signalpress-remembered/1',
      issuers: {
        [did]: {
          sequence: 5,
          as_of: '2026-11-20T18:00:00Z',
          head: `sha256:${'0'.repeat(64)}`,
          checkpoint: null,
        },
      },
    });
    const memory = { text: seen, save: () => undefined };
    const { exitCode, report } = await verified({ memory });
    expect(exitCode).toBe(1);
    expect(report.faults[0].detail).toContain('rollback');
  });

  it('I26: keeps what it verified when an older release, another key or a stale one is shown', async () => {
    const snapshots = writeSnapshots(FEW);
    const { data: own } = await compileFolder(snapshots);
    const older = join(makeFolder(), 'data');
    cpSync(own, older, { recursive: true, verbatimSymlinks: true });
    await compileFolder(snapshots, { data: own, asOf: '2026-11-20T13:00:00Z' });
    const [shop, past] = [await sampleGate(own), await sampleGate(older)];
    try {
      const mirror = freshFolder();
      expect((await verified({ mirror }, shop.url)).exitCode).toBe(0);
      const shown = async (more: Partial<AddressOptions>) => {
        const { exitCode, report } = await verified({ mirror, ...more }, shop.url);
        const held = readHeadOf(join(mirror, 'current'));
        return [exitCode, JSON.stringify(report.faults ?? []), held.sequence];
      };
      const fromPast: typeof fetch = (asked, init) =>
        fetch(String(asked).replace(shop.url, past.url), init);
      const rollback = await shown({ fetch: fromPast });
      expect(rollback).toEqual([1, expect.stringContaining('rollback'), 2]);
      const unpinned = await shown({ fetch: fromPast, issuer: [] });
      expect(unpinned.slice(2)).toEqual([2]);
      // Whoever asks the honest shop again goes on.
      expect(await shown({})).toEqual([0, '[]', 2]);
    } finally {
      await Promise.all([shop.close(), past.close()]);
    }
  });

  it('takes no folder that holds something else', async () => {
    const other = makeFolder();
    writeFileSync(join(other, 'notes.txt'), 'mine');
    const { fetch, asked } = meddling();
    for (const mirror of [other, data]) {
      const { exitCode, reason } = await verified({ mirror, fetch });
      expect([exitCode, reason]).toEqual([2, expect.stringContaining('it holds something else')]);
    }
    expect(asked).toEqual([]);
    expect(existsSync(join(data, 'current'))).toBe(true);
    expect(readHeadOf(join(data, 'current')).sequence).toBe(1);
  });
});

/** A request as it came by. */
interface Asked {
  /** Path of the URL. */
  readonly path: string;
  /** With its question mark, '' for none. */
  readonly query: string;
  readonly range: string | null;
  /** Ends the wait for the answer. */
  readonly signal: AbortSignal | null | undefined;
}

type Meddle = (
  asked: Asked,
  answer: () => Promise<Response>,
) => Promise<Response | undefined> | Response | undefined;

/** A network that notes what is asked, and gives what `meddle` makes of it. */
function meddling(meddle: Meddle = () => undefined) {
  const asked: Asked[] = [];
  const through: Fetch = async (url, init) => {
    const { pathname: path, search: query } = new URL(url);
    const range = new Headers(init.headers).get('range');
    const own = { path, query, range, signal: init.signal };
    asked.push(own);
    const answer = () => fetch(url, init);
    return (await meddle(own, answer)) ?? answer();
  };
  return { fetch: through, asked };
}

/** An answer with other bytes in its place. */
async function withBytes(
  answer: Response,
  change: (bytes: Uint8Array) => Uint8Array,
): Promise<Response> {
  const { status, headers } = answer;
  const bytes = change(new Uint8Array(await answer.arrayBuffer()));
  return new Response(new Uint8Array(bytes), { status, headers });
}

/** An answer that breaks off behind so many bytes. */
async function brokenAfter(answer: Response, length: number): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer()).subarray(0, length);
  let isGiven = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (isGiven) controller.error(new TypeError('terminated'));
      else controller.enqueue(bytes);
      isGiven = true;
    },
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
}

/** Answers without end, which count what is read of them. */
function endless() {
  let given = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    given += 65_536;
    controller.enqueue(new Uint8Array(65_536));
  };
  return { answer: () => new Response(new ReadableStream({ pull })), given: () => given };
}

/** An answer whose body never comes, for as long as it is waited for. */
function silent({ signal }: Pick<Asked, 'signal'>): Response {
  const start = (controller: ReadableStreamDefaultController): void => {
    signal?.addEventListener('abort', () => controller.error(signal.reason));
  };
  return new Response(new ReadableStream({ start }));
}
