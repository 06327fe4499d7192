import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../compiler/contract/canonical.ts';
import { verifyShardPath } from '../../../compiler/contract/path.ts';
import { formatVerifyEntry } from '../../../compiler/contract/release.ts';
import type { Service } from '../../../gatekeeper/answers/service.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import { verify } from '../../../gatekeeper/rooms/verify.ts';
import { loggedFiles, loggedService, SUPERSEDED_HASH } from '../logged-service.ts';
import { tinyFiles, tinyRecord } from '../tiny-release.ts';
import { jsonOf, question, tinyService } from '../tiny-service.ts';

const RECORD = tinyRecord('airquality.aqi', 'us-denver', { aqi_index: 42, band: 'good' });
const HASH = RECORD.record_hash;

async function looked(target: string, service?: Service): Promise<Record<string, unknown>> {
  return jsonOf(await verify(question(target), service ?? (await tinyService())));
}

describe('verify()', () => {
  it.each([
    `/gauge/verify?hash=${HASH}`,
    `/gauge/verify?record_hash=${HASH.slice(7)}`,
    `/gauge/verify?hash=${HASH.slice(0, 15)}`,
    `/v/${HASH}`,
  ])('recomputes a current record: %.40s', async (target) => {
    expect(await looked(target)).toMatchObject({
      endpoint: 'gauge/verify',
      hash: HASH,
      found: true,
      verified: true,
      recomputed_hash: HASH,
      is_issuer_record: true,
      is_truth_bear_record: true,
      record_status: { state: 'current' },
      signal_id: 'airquality.aqi',
      entity: 'us-denver',
      scope: 'screening-level',
      statement: expect.stringContaining('attests the reading'),
    });
  });

  it('finds a superseded record and says that it is not recomputed', async () => {
    expect(await looked(`/v/${SUPERSEDED_HASH}`, await loggedService())).toMatchObject({
      found: true,
      verified: false,
      recomputed_hash: null,
      record_status: { state: 'superseded' },
    });
  });

  it('does not find what is not ours', async () => {
    expect(await looked(`/v/sha256:${'0'.repeat(64)}`)).toMatchObject({
      found: false,
      verified: false,
      record_status: { state: 'not_found' },
    });
  });

  it('says when a prefix is ambiguous', async () => {
    const twin = `${SUPERSEDED_HASH.slice(0, -1)}c`;
    const service = await tinyService({ files: loggedFiles({}, [twin]) });
    expect(await looked(`/v/${SUPERSEDED_HASH.slice(0, 20)}`, service)).toMatchObject({
      found: false,
      ambiguous: true,
      matches: 2,
    });
    expect(await looked(`/v/${twin}`, service)).toMatchObject({ found: true, hash: twin });
  });

  it('does not verify a stored record whose fields give another hash', async () => {
    const files = tinyFiles();
    const forged = { ...RECORD, current: { aqi_index: 1 } };
    files.set('record/airquality.aqi/us-denver.json', Buffer.from(canonicalJson(forged)));
    const body = await looked(`/v/${HASH}`, await tinyService({ files }));
    expect(body).toMatchObject({ found: true, verified: false });
    expect(body.recomputed_hash).not.toBe(HASH);
  });

  it.each(['', 'sha256:', 'sha256:1234567', '1234567', 'sha256:GGGGGGGG', HASH.toUpperCase(), 'x'])(
    'answers 400 with the usage for the hash "%s"',
    async (hash) => {
      const target = `/gauge/verify?hash=${hash}`;
      expect(await looked(target)).toMatchObject({ status: 400, usage: expect.any(String) });
    },
  );

  it('I32: says undetermined when the shard or the record cannot be read, never not found', async () => {
    const service = await tinyService();
    for (const path of [verifyShardPath(HASH), 'record/airquality.aqi/us-denver.json']) {
      const release = Object.assign(Object.create(service.release), {
        has: () => true,
        body: async (asked: string) => {
          if (asked === path) throw new Error('EIO');
          return service.release.body(asked, FOR_EVERYBODY);
        },
      });
      expect(await looked(`/v/${HASH}`, { ...service, release })).toMatchObject({
        status: 503,
        undetermined: true,
        retryable: true,
      });
    }
  });

  it('is a page for browsers, with nothing of the data as markup', async () => {
    const files = tinyFiles();
    const hash = `sha256:${'cd'.repeat(32)}`;
    const line = formatVerifyEntry({
      kind: 'reading',
      state: 'current',
      file: 'record/airquality.aqi/us-denver.json',
      signal_id: null,
      record_hash: hash,
      entity: '<script>alert("1")</script>',
      observed_at: '2026-11-21T10:45:00Z',
    });
    files.set(verifyShardPath(hash), Buffer.from(line));
    const service = await tinyService({ files });
    const page = await verify(question(`/v/${hash}`, 'text/html,*/*'), service);
    if (page.kind !== 'content') throw new Error(page.kind);
    expect(page.content.contentType).toMatch(/^text\/html/);
    expect(page.content.headers).toContainEqual(['vary', 'accept']);
    const text = page.content.body.toString();
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script>');
    const json = await verify(question(`/v/${hash}`, 'text/html, application/json'), service);
    expect(jsonOf(json)).toMatchObject({ found: true });
  });
});
