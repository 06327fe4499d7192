import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorStatePath, formatAnchorState } from '../../../compiler/format/anchor-state.ts';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import { openNote } from '../../../compiler/format/checkpoint.ts';
import { leafHash, verifyInclusion } from '../../../compiler/format/merkle.ts';
import { CORE_FIELDS } from '../../../compiler/format/record-hash.ts';
import { releaseEntryBytes, takenLeaf } from '../../../compiler/format/release-entry.ts';
import type { Service } from '../../../gatekeeper/heart/answers/service.ts';
import type { inclusionOf } from '../../../gatekeeper/heart/release/log-place.ts';
import { DamagedFileError } from '../../../gatekeeper/heart/release/read-body.ts';
import { ReleaseIndex } from '../../../gatekeeper/heart/release/release-index.ts';
import { undetermined } from '../../../gatekeeper/rooms/json-content.ts';
import { anchor, proof } from '../../../gatekeeper/rooms/proof.ts';
import {
  hashes,
  loggedRelease,
  loggedService,
  SUPERSEDED_HASH,
  tinyHashes,
} from '../logged-service.ts';
import { tinyIndex } from '../tiny-log.ts';
import { TINY_NOW, tinyData, tinyFiles } from '../tiny-release.ts';
import { compiledService, jsonOf, question, tinyService } from '../tiny-service.ts';

const ask = async (hash: string, service?: Service) =>
  jsonOf(await proof(question(`/proof/${hash}`), service ?? (await SHARED)));
const SHARED = loggedService();

/** A release some of whose files, and of those of its log, cannot be read; notes which are asked for. */
function failing(
  release: ReleaseIndex,
  fails: (path: string) => boolean,
  read: string[],
): ReleaseIndex {
  const { place } = release;
  const note = (path: string): void => {
    if (!path.includes('/anchor/')) read.push(path);
    if (fails(path)) throw new DamagedFileError('EIO: i/o error');
  };
  return new ReleaseIndex(
    {
      ...place,
      async body(entry, spend) {
        note(entry.path);
        return place.body(entry, spend);
      },
      async log(path, part) {
        note(path);
        return place.log(path, part);
      },
    },
    release,
  );
}

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
        inclusion: { batch: '000002-20261121T080000Z', entry_index: 1, entry: { sequence: 2 } },
        anchor: { ots_state: 'unstamped' },
      });
      expect(body).toMatchObject({ hash_core_members: CORE_FIELDS });
      expect(body.recompute).toContain('RFC 8785');
      expect(await ask(hash.replace(':', '%3A'))).toEqual(body);
      if (hash !== sample.record_hash) expect(body.hash_core).toBeNull();
    }
  });

  it('I52: shows the core of a reading that a free endpoint shows whole, and of no other', async () => {
    const files = tinyFiles();
    const record = files.get('record/hydrology.river-level/07010000.json') ?? Buffer.alloc(0);
    files.set('free/sample/airquality.aqi.json', files.get('free/sample/~.json') ?? record);
    files.set('free/raw/hydrology.river-level/07010000.json', record);
    const service = await tinyService(loggedRelease([], files));
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
      inclusion: { batch: '000001-20261121T050000Z' },
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
      inclusion: { batch: '000001-20261121T050000Z' },
    });
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
      release: failing(release, fails, read),
    });
    const targets = [tinyHashes()[0] ?? '', hashes(2, 1)[0] ?? '', SUPERSEDED_HASH];
    let cases = 0;
    for (const hash of targets) {
      read.length = 0;
      const whole = serviceOver(() => false);
      expect(await ask(hash, whole)).toMatchObject({ found: true });
      for (const bad of new Set(read)) {
        const broken = serviceOver((path) => path === bad);
        const body = await ask(hash, broken);
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

  type Proved = Awaited<ReturnType<typeof inclusionOf>> & { readonly hash: string };

  it('lists the releases, newest first, with what each took in', async () => {
    const body = await ask('/gauge/anchor');
    expect(
      batchesOf(body).map(({ batch, day, sequence, count, entry_index }) => [
        ...[batch, day, sequence, count, entry_index],
      ]),
    ).toEqual([
      ['000003-20261121T110000Z', '2026-11-21', 3, 10, 2],
      ['000002-20261121T080000Z', '2026-11-21', 2, 44, 1],
      ['000001-20261121T050000Z', '2026-11-21', 1, 300, 0],
    ]);
    expect(body).toMatchObject({ total: 3, shown: 3, log: { size: 3 } });
    for (const row of batchesOf(body)) {
      expect(row).toMatchObject({ ots_state: 'unstamped', bitcoin_height: null, stamped_at: null });
    }
    const { checkpoint } = (body as { log: { checkpoint: string } }).log;
    expect(openNote(checkpoint)?.checkpoint.size).toBe(3);
  });

  it('lists the releases of a day, and none for a day without', async () => {
    expect(await ask('/gauge/anchor?day=2026-11-21')).toMatchObject({ total: 3 });
    for (const day of ['2026-11-20', '2026-11-22']) {
      expect(await ask(`/gauge/anchor?day=${day}`)).toMatchObject({ total: 0, batches: [] });
    }
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

  it('proves that a release took a hash in, and that the log holds the entry of the release', async () => {
    for (const hash of [...tinyHashes(), ...hashes(0, 4), ...hashes(400, 2)]) {
      const body = (await ask(`/gauge/anchor?hash=${hash}`)) as unknown as Proved;
      const { index, inclusion_proof, root, entry, checkpoint } = body;
      const taken = {
        index,
        size: entry.new.count,
        leaf: takenLeaf(hash, sha256),
        root: bytes(root.slice('sha256:'.length)),
        proof: inclusion_proof.map(bytes),
      };
      expect([root, verifyInclusion(taken, sha256)]).toEqual([entry.new.root, true]);
      expect(verifyInclusion({ ...taken, index: index + 1 }, sha256)).toBe(false);
      const signed = openNote(checkpoint)?.checkpoint;
      const logged = {
        index: body.entry_index,
        size: signed?.size ?? 0,
        leaf: leafHash(releaseEntryBytes(entry), sha256),
        root: signed?.root ?? new Uint8Array(0),
        proof: body.entry_proof.map(bytes),
      };
      expect(verifyInclusion(logged, sha256)).toBe(true);
      expect(Buffer.from(logged.root).toString('hex')).toBe(body.log_root);
      const other = leafHash(releaseEntryBytes({ ...entry, sequence: 9 }), sha256);
      expect(verifyInclusion({ ...logged, leaf: other }, sha256)).toBe(false);
    }
  });

  it('finds an entry by the first digits of its hash', async () => {
    const [hash = ''] = tinyHashes();
    const body = await ask(`/gauge/anchor?hash=${hash.slice(0, 20)}`);
    expect(body).toMatchObject({ found: true, hash, batch: '000002-20261121T080000Z' });
  });

  it('says that a hash was never taken in, and what of a statement', async () => {
    const target = `/gauge/anchor?hash=sha256:${'0'.repeat(64)}`;
    const note = expect.stringContaining('the _proof in the body');
    expect(await ask(target)).toMatchObject({ found: false, note });
    expect(await ask(target, await tinyService())).toMatchObject({ found: false, note });
    expect(await ask('/gauge/anchor', await tinyService())).toMatchObject({ undetermined: true });
  });

  it('says what is known of the first stamp that covers a release, and calls a promise a promise', async () => {
    const data = tinyData(loggedRelease());
    const service = await compiledService(data, TINY_NOW);
    const { log_root } = (await ask(
      `/gauge/anchor?hash=${hashes(0, 1)[0]}`,
      service,
    )) as unknown as Proved;
    const state = { root: log_root, bitcoin_block: null, stamped_at: '2026-11-21T12:00:00Z' };
    const path = join(data, anchorStatePath(log_root));
    mkdirSync(dirname(path), { recursive: true });
    const stamps = [
      [{ ots_state: 'pending', bitcoin_height: null }, 'not a proof'],
      [{ ots_state: 'confirmed', bitcoin_height: 900_000 }, 'header was not checked'],
    ] as const;
    for (const [stamp, note] of stamps) {
      writeFileSync(path, formatAnchorState({ ...state, ...stamp }));
      const stamped = { ...stamp, ots_proof: `/log/anchor/${log_root}.ots` };
      const words = { ...stamped, ots_note: expect.stringContaining(note) };
      for (const row of batchesOf(await ask('/gauge/anchor', service))) {
        expect(row).toMatchObject(words);
      }
      expect(await ask(`/gauge/anchor?hash=${hashes(0, 1)[0]}`, service)).toMatchObject(words);
    }
    writeFileSync(path, formatAnchorState({ ...state, ...stamps[0][0], root: '0'.repeat(64) }));
    expect(await ask('/gauge/anchor', service)).toMatchObject({ undetermined: true });
  });

  it('shows the newest releases of a long log and reaches the others by day', async () => {
    const count = BATCHES_SHOWN_MAX + 100;
    const taken = Array.from({ length: count }, (_, at) => hashes(at, 1));
    const files = new Map([...tinyFiles(), ...tinyIndex(taken)]);
    const service = await tinyService({ files, taken });
    const body = await ask('/gauge/anchor', service);
    expect(body).toMatchObject({ total: count, shown: BATCHES_SHOWN_MAX });
    expect(batchesOf(body)[0]).toMatchObject({ sequence: count, entry_index: count - 1 });
    const day = await ask('/gauge/anchor?day=2026-10-20', service);
    expect(batchesOf(day).map((row) => row.day)).toEqual(Array(8).fill('2026-10-20'));
    const proved = await ask(`/gauge/anchor?hash=${hashes(70, 1)[0]}`, service);
    expect(proved).toMatchObject({
      found: true,
      index: 0,
      entry_index: 70,
      entry: { sequence: 71 },
    });
  });

  it('I32: a look-up that the disk does not allow is undetermined, whichever file it is', async () => {
    const { release, ...rest } = await loggedService();
    const target = `/gauge/anchor?hash=${hashes(3, 1)[0]}`;
    const read: string[] = [];
    const openWith = (fails: (path: string) => boolean): ReleaseIndex =>
      failing(release, fails, read);
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
