import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../compiler/contract/canonical.ts';
import { openNote } from '../../../compiler/contract/checkpoint.ts';
import { NO_FACTS_TEXT } from '../../../compiler/contract/log-runs.ts';
import { leafHash, verifyInclusion } from '../../../compiler/contract/merkle.ts';
import { CORE_FIELDS } from '../../../compiler/contract/record-hash.ts';
import { logEntry } from '../../../compiler/contract/tiles.ts';
import type { Service } from '../../../gatekeeper/answers/service.ts';
import { DamagedFileError } from '../../../gatekeeper/release/read-body.ts';
import { ReleaseIndex } from '../../../gatekeeper/release/release-index.ts';
import { undetermined } from '../../../gatekeeper/rooms/json-content.ts';
import { anchor, proof } from '../../../gatekeeper/rooms/proof.ts';
import { verify } from '../../../gatekeeper/rooms/verify.ts';
import { hashes, memoryLog } from '../../stages/anchor/memory-log.ts';
import { loggedFiles, loggedService, SUPERSEDED_HASH, tinyHashes } from '../logged-service.ts';
import { tinyFiles } from '../tiny-release.ts';
import { jsonOf, question, tinyService } from '../tiny-service.ts';

const ask = async (hash: string, service?: Service) =>
  jsonOf(await proof(question(`/proof/${hash}`), service ?? (await SHARED)));
const SHARED = loggedService();

describe('proof()', () => {
  it('gives the place of a reading in the log, and how its hash is made again from its body', async () => {
    const { sample } = JSON.parse(tinyFiles().get('free/sample/~.json')?.toString('utf8') ?? '');
    for (const hash of tinyHashes()) {
      const body = await ask(hash);
      expect(body).toMatchObject({
        endpoint: 'proof',
        hash,
        found: true,
        kind: 'reading',
        record_status: { state: 'current' },
        inclusion: { batch: '2026-11-20', size: 344 },
        anchor: { ots_state: 'unstamped' },
      });
      expect(body).toMatchObject({ hash_core_members: CORE_FIELDS });
      expect(body.recompute).toContain('RFC 8785');
      expect(await ask(hash.replace(':', '%3A'))).toEqual(body);
      if (hash !== sample.record_hash) expect(body.hash_core).toBeNull();
    }
  });

  it('I52: shows the core of a reading that a free endpoint shows whole, and of no other', async () => {
    const files = loggedFiles();
    const record = files.get('record/hydrology.river-level/07010000.json') ?? Buffer.alloc(0);
    files.set('free/sample/airquality.aqi.json', files.get('free/sample/~.json') ?? record);
    files.set('free/raw/hydrology.river-level/07010000.json', record);
    const service = await tinyService({ files });
    const shown = new Map<string, unknown>();
    for (const hash of tinyHashes()) shown.set(hash, (await ask(hash, service)).hash_core);
    const free = [...shown].filter(([, core]) => core !== null);
    expect(free).toHaveLength(2);
    for (const [hash, core] of free) {
      const text = canonicalJson(core);
      expect(`sha256:${createHash('sha256').update(text).digest('hex')}`).toBe(hash);
    }
    const previewed = await ask(
      tinyHashes().find((hash) => shown.get(hash) === null) ?? '',
      service,
    );
    expect(previewed).toMatchObject({
      found: true,
      note: expect.stringContaining('not shown here'),
    });
  });

  it('proves a hash whose record is no longer in the release', async () => {
    const body = await ask(hashes(2, 1)[0] ?? '');
    expect(body).toMatchObject({
      found: true,
      hash_core: null,
      inclusion: { batch: '2026-11-19' },
    });
  });

  it('says of a superseded hash what it stands for, without its time, and proves its place', async () => {
    expect(await ask(SUPERSEDED_HASH)).toMatchObject({
      found: true,
      kind: 'reading',
      record_status: { state: 'superseded' },
      signal_id: 'a.b',
      entity: 'entity of abab',
      observed_at: null,
      hash_core: null,
      inclusion: { batch: '2026-11-19' },
    });
  });

  it('proves the place of an entry of which nothing but its hash is known any more', async () => {
    const files = loggedFiles();
    for (const [path, bytes] of files) {
      if (!path.startsWith('log/index/')) continue;
      const text = bytes.toString('utf8').replaceAll(/"reading",.*\]/g, `${NO_FACTS_TEXT}]`);
      files.set(path, Buffer.from(text));
    }
    const service = await tinyService({ files });
    expect(await ask(SUPERSEDED_HASH, service)).toMatchObject({
      hash: SUPERSEDED_HASH,
      found: true,
      record_status: { state: 'superseded' },
      inclusion: { batch: '2026-11-19' },
      note: expect.stringContaining('no longer holds its record'),
    });
    const looked = await verify(question(`/v/${SUPERSEDED_HASH}`), service);
    expect(jsonOf(looked)).toMatchObject({ record_status: { state: 'not_found' } });
  });

  it('says that nothing is published under a hash, with and without a log', async () => {
    const none = `sha256:${'0'.repeat(64)}`;
    const words = { found: false, record_status: { state: 'not_found' }, inclusion: null };
    expect(await ask(none)).toMatchObject(words);
    expect(await ask(none, await tinyService())).toMatchObject(words);
  });

  it('asks for a hash when it gets none', async () => {
    for (const text of ['nothing', 'sha256:12', `sha256:${'A'.repeat(64)}`]) {
      expect(await ask(text)).toMatchObject({ status: 400, usage: '/proof/sha256:<64 hex>' });
    }
  });

  it('I32: a look-up that the disk does not allow is undetermined, never "not found"', async () => {
    const { release, ...rest } = await loggedService();
    const read: string[] = [];
    const serviceOver = (fails: (path: string) => boolean): Service => ({
      ...rest,
      release: new ReleaseIndex(
        {
          ...release.place,
          body: async (entry, spend) => {
            read.push(entry.path);
            if (fails(entry.path)) throw new DamagedFileError('EIO: i/o error');
            return release.place.body(entry, spend);
          },
        },
        release,
      ),
    });
    const targets = [tinyHashes()[0] ?? '', hashes(2, 1)[0] ?? '', SUPERSEDED_HASH];
    let cases = 0;
    for (const hash of targets) {
      read.length = 0;
      expect(
        await ask(
          hash,
          serviceOver(() => false),
        ),
      ).toMatchObject({ found: true });
      for (const bad of new Set(read)) {
        const body = await ask(
          hash,
          serviceOver((path) => path === bad),
        );
        expect(body).toMatchObject({ status: 503, undetermined: true });
        expect(JSON.stringify(body)).not.toContain('not_found');
        cases += 1;
      }
    }
    expect(cases).toBeGreaterThan(10);
  });
});

describe('anchor()', () => {
  const BATCHES_SHOWN_MAX = 200;

  const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();

  const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

  const ask = async (target: string, service?: Service) =>
    jsonOf(await anchor(question(target), service ?? (await SHARED)));

  const batchesOf = (body: unknown) => (body as { batches: Record<string, unknown>[] }).batches;

  interface Proved {
    readonly hash: string;
    readonly batch: string;
    readonly index: number;
    readonly size: number;
    readonly root: string;
    readonly leaf_hash: string;
    readonly inclusion_proof: readonly string[];
    readonly checkpoint: string;
  }

  it('lists the batches, newest first, with their signed checkpoints', async () => {
    const body = await ask('/gauge/anchor');
    expect(
      batchesOf(body).map(({ batch, size_before, size }) => [batch, size_before, size]),
    ).toEqual([
      ['2026-11-20T06Z', 344, 354],
      ['2026-11-20', 300, 344],
      ['2026-11-19', 0, 300],
    ]);
    expect(body).toMatchObject({ total: 3, shown: 3, log: { size: 354 } });
    for (const row of batchesOf(body)) {
      expect(row).toMatchObject({ ots_state: 'unstamped', bitcoin_height: null, stamped_at: null });
      const stated = openNote(String(row.checkpoint))?.checkpoint;
      expect(stated).toMatchObject({
        size: row.size,
        root: new Uint8Array(bytes(String(row.root))),
      });
    }
  });

  it('lists the batches of a day, and none for a day without', async () => {
    const day = await ask('/gauge/anchor?day=2026-11-20');
    expect(batchesOf(day).map(({ batch }) => batch)).toEqual(['2026-11-20T06Z', '2026-11-20']);
    expect(await ask('/gauge/anchor?day=2026-11-18')).toMatchObject({ total: 0, batches: [] });
  });

  it('refuses a day that is none and a hash that is none', async () => {
    for (const query of ['day=2026-02-30', 'day=yesterday', 'hash=xyz', 'hash=sha256:AB00000000']) {
      const body = await ask(`/gauge/anchor?${query}`);
      expect(body).toMatchObject({ status: 422, no_charge: true, miss: 'illegal_value' });
    }
  });

  it('says what a day must be', async () => {
    const { error } = await ask('/gauge/anchor?day=2026-02-31');
    expect(error).toMatch(
      /day "2026-02-31" is not legal: day must be a calendar day like 2026-11-20$/,
    );
    expect((await ask('/gauge/anchor?hash=xyz')).error).not.toMatch(/calendar/);
  });

  it('proves the inclusion of every entry in the tree of its batch', async () => {
    const service = await loggedService();
    for (const hash of [...tinyHashes(), ...hashes(0, 4), ...hashes(400, 2)]) {
      const body = (await ask(`/gauge/anchor?hash=${hash}`, service)) as unknown as Proved;
      const { index, size, root, inclusion_proof, leaf_hash } = body;
      const leaf = leafHash(logEntry(hash), sha256);
      expect(Buffer.from(leaf).toString('hex')).toBe(leaf_hash);
      const claim = { index, size, leaf, root: bytes(root), proof: inclusion_proof.map(bytes) };
      expect(verifyInclusion(claim, sha256)).toBe(true);
      expect(body.checkpoint).toContain(
        `\n${size}\n${Buffer.from(bytes(root)).toString('base64')}\n`,
      );
    }
  });

  it('finds an entry by the first digits of its hash', async () => {
    const [hash = ''] = tinyHashes();
    const body = await ask(`/gauge/anchor?hash=${hash.slice(0, 20)}`);
    expect(body).toMatchObject({ found: true, hash, batch: '2026-11-20' });
  });

  it('says that a hash is not in the log, with and without a log', async () => {
    const target = `/gauge/anchor?hash=sha256:${'0'.repeat(64)}`;
    expect(await ask(target)).toMatchObject({ found: false });
    expect(await ask(target, await tinyService())).toMatchObject({ found: false });
    expect(await ask('/gauge/anchor', await tinyService())).toMatchObject({
      log: null,
      batches: [],
    });
  });

  it('says what is known of a timestamp, and calls a promise a promise', async () => {
    const [first, second] = batchesOf(await ask('/gauge/anchor')).toReversed();
    const anchorOf = (root: string) => {
      if (root !== first?.root && root !== second?.root) return null;
      const isDone = root === first?.root;
      const state = {
        root,
        ots_state: isDone ? ('confirmed' as const) : ('pending' as const),
        bitcoin_height: isDone ? 900_000 : null,
        bitcoin_block: null,
        stamped_at: '2026-11-20T12:00:00Z',
      };
      return { state, proof: Buffer.from('proof') };
    };
    const rows = batchesOf(await ask('/gauge/anchor', await loggedService({ anchorOf })));
    expect(rows[2]).toMatchObject({
      ots_state: 'confirmed',
      bitcoin_height: 900_000,
      ots_proof: `/log/anchor/${first?.root}.ots`,
      ots_note: expect.stringContaining('header was not checked'),
    });
    expect(rows[1]).toMatchObject({
      ots_state: 'pending',
      ots_note: expect.stringContaining('not a proof'),
    });
    expect(rows[0]).toMatchObject({ ots_state: 'unstamped', ots_proof: null });
  });

  it('shows the newest batches of a long log and reaches the others by day', async () => {
    const count = BATCHES_SHOWN_MAX + 100;
    const names = Array.from({ length: count }, (_, at) => {
      return new Date(Date.UTC(2026, 0, 1) + at * 86_400_000).toISOString().slice(0, 10);
    });
    const leaves = Object.fromEntries(names.map((name, at) => [name, hashes(at, 1)]));
    const service = await tinyService({ files: new Map([...loggedFiles(), ...memoryLog(leaves)]) });
    const body = await ask('/gauge/anchor', service);
    expect(body).toMatchObject({ total: count, shown: BATCHES_SHOWN_MAX });
    expect(batchesOf(body)[0]).toMatchObject({ batch: names.at(-1) });
    const day = await ask('/gauge/anchor?day=2026-01-05', service);
    expect(batchesOf(day)[0]).toMatchObject({ batch: '2026-01-05', size: 5 });
    const proved = await ask(`/gauge/anchor?hash=${hashes(270, 1)[0]}`, service);
    expect(proved).toMatchObject({ found: true, index: 270, batch: names[270] });
  });

  it('I32: a look-up that the disk does not allow is undetermined, whichever file it is', async () => {
    const { release, ...rest } = await loggedService();
    const target = `/gauge/anchor?hash=${hashes(3, 1)[0]}`;
    const read: string[] = [];
    const openWith = (fails: (path: string) => boolean): ReleaseIndex =>
      new ReleaseIndex(
        {
          ...release.place,
          body: async (entry, spend) => {
            read.push(entry.path);
            if (fails(entry.path)) throw new DamagedFileError('EIO: i/o error');
            return release.place.body(entry, spend);
          },
        },
        release,
      );
    expect(await ask(target, { ...rest, release: openWith(() => false) })).toMatchObject({
      found: true,
    });
    const needed = [...new Set(read)];
    expect(needed.length).toBeGreaterThan(3);
    for (const bad of needed) {
      const body = await ask(target, { ...rest, release: openWith((name) => name === bad) });
      expect(body).toMatchObject({ status: 503, undetermined: true, retryable: true });
      expect(JSON.stringify(body)).not.toContain('not_found');
    }
  });
});

describe('undetermined()', () => {
  it('I32: is a 503 worth repeating that repeats what was asked and nothing of the error', async () => {
    const logged: unknown[] = [];
    const service = { ...(await tinyService()), log: (entry: unknown) => logged.push(entry) };
    const asked = { endpoint: 'gauge/verify', hash: 'sha256:abababab' };
    const answered = undetermined(asked, new Error('EIO on /secret'), service);
    expect(jsonOf(answered)).toMatchObject({
      ...asked,
      status: 503,
      undetermined: true,
      retryable: true,
    });
    expect(JSON.stringify(jsonOf(answered))).not.toContain('EIO');
    expect(logged).toEqual([{ event: 'look_up_failed', error: 'EIO on /secret' }]);
  });
});
