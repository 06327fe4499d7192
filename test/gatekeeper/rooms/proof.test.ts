import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../compiler/contract/canonical.ts';
import { NO_FACTS_TEXT } from '../../../compiler/contract/log-runs.ts';
import { CORE_FIELDS } from '../../../compiler/contract/record-hash.ts';
import type { Service } from '../../../gatekeeper/answers/service.ts';
import { DamagedFileError } from '../../../gatekeeper/release/read-body.ts';
import { ReleaseIndex } from '../../../gatekeeper/release/release-index.ts';
import { proof } from '../../../gatekeeper/rooms/proof.ts';
import { verify } from '../../../gatekeeper/rooms/verify.ts';
import { hashes } from '../../stages/anchor/memory-log.ts';
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
