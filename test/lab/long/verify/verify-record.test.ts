import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshnessBasis, freshnessRule } from '../../../../compiler/contract/freshness.ts';
import { decodeUtf8, parseJson } from '../../../../compiler/contract/strict-json.ts';
import { canonicalHash } from '../../../../compiler/verify/body-check.ts';
import { verifyBody } from '../../../../compiler/verify/verify-body.ts';
import { folderSource } from '../../../../gatekeeper/release/folder-source.ts';
import { openRelease } from '../../../../gatekeeper/release/open-release.ts';
import { anchor, proof } from '../../../../gatekeeper/rooms/proof.ts';
import { jsonOf, question, tinyService } from '../../../gatekeeper/tiny-service.ts';
import { smallSet } from '../../../small-set.ts';
import {
  compileFolder,
  makeFolder,
  removeFolders,
  writeSnapshots,
} from '../../../snapshot-folder.ts';
import { hasPython, pythonVerdicts, VERIFY_RECORD } from '../../../verify/python-judge.ts';

const BODIES_MAX = 40;

interface Judged {
  readonly file: string;
  readonly verdict: string;
  readonly detail: string;
}

function run(args: readonly string[]): { status: number | null; judged: Judged[] } {
  const { status, stdout } = spawnSync(
    'python3',
    [VERIFY_RECORD, '--no-proof', '--json', ...args],
    {
      encoding: 'utf8',
    },
  );
  const lines = stdout.split('\n').filter((line) => line !== '');
  return { status, judged: lines.map((line) => JSON.parse(line)) };
}

/** What our own verifier says of the same bytes. */
function ownVerdict(bytes: Uint8Array, did: string): string {
  try {
    return verifyBody(parseJson(decodeUtf8(bytes)), { trust: [did] }).verdict;
  } catch {
    return 'failed';
  }
}

describe.skipIf(!hasPython)('verify_record.py (skipped without python3)', () => {
  const folder = makeFolder();
  let data: string;
  let did: string;
  let bodies: string[];
  beforeAll(async () => {
    const compiled = await compileFolder(writeSnapshots(smallSet()));
    ({ data } = compiled);
    did = compiled.release.issuer_did;
    const kinds = /\/files\/(record|ruler|calibrated|strata|history|bundle|lifecycle|air)\//;
    bodies = readdirSync(join(data, 'files'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => kinds.test(path))
      .sort()
      .filter((_, at, all) => at % Math.ceil(all.length / BODIES_MAX) === 0);
  });
  afterAll(() => {
    removeFolders();
    rmSync(folder, { recursive: true, force: true });
  });

  it('agrees with our own verifier on bodies of every kind', () => {
    const { status, judged } = run([...bodies, '--issuer', did]);
    expect(judged.filter(({ verdict }) => verdict !== 'verified')).toEqual([]);
    expect(bodies.map((path) => ownVerdict(readFileSync(path), did))).toEqual(
      bodies.map(() => 'verified'),
    );
    expect(status).toBe(0);
    expect(bodies.length).toBeGreaterThan(20);
  });

  it('agrees with our own verifier that a body with one changed value fails', () => {
    mkdirSync(folder, { recursive: true });
    const changed = bodies.flatMap((path, at) => {
      const text = readFileSync(path, 'utf8');
      const places = [...text.matchAll(/[0-9]/g)].map(({ index }) => index);
      const place = places[(at * 7919) % places.length] ?? 0;
      const digit = text[place] === '7' ? '3' : '7';
      const copy = join(folder, `${at}.json`);
      writeFileSync(copy, text.slice(0, place) + digit + text.slice(place + 1));
      return text[place] === digit ? [] : [copy];
    });
    const { status, judged } = run([...changed, '--issuer', did]);
    expect(judged.filter(({ verdict }) => verdict === 'verified')).toEqual([]);
    expect(changed.map((path) => ownVerdict(readFileSync(path), did))).not.toContain('verified');
    expect(status).toBe(1);
  });

  it('judges a body for an issuer that is trusted and for one that is not', () => {
    const [body = ''] = bodies;
    expect(run([body, '--issuer', did]).status).toBe(0);
    const other = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';
    expect(run([body, '--issuer', other])).toMatchObject({ status: 1 });
    expect(run([body, '--issuer', other, '--issuer', did]).status).toBe(0);
    const { status, judged } = run([body]);
    expect([status, judged[0]?.verdict]).toEqual([2, 'issuer_unknown']);
    const output = spawnSync('python3', [VERIFY_RECORD, body], { encoding: 'utf8' }).stdout;
    expect(output).toMatch(/^consistent, issuer unknown {2}/);
  });

  it('refuses what our strict parser refuses', () => {
    const texts = [
      '{"a":1,"a":1}',
      '{"a":NaN}',
      '{"_citation":1}',
      '[1]',
      '{',
      '{"a":"\\ud800","_citation":{}}',
      '{"__proto__":1}',
      '{"a":0.1000000000000000055511151231257827}',
      '\ufeff{}',
      '{"a":1e999}',
      '{"a":9007199254740993}',
      '{"a":"\\u0000"}',
    ];
    const files = texts.map((text, at) => {
      const file = join(folder, `bad-${at}.json`);
      writeFileSync(file, text);
      return file;
    });
    const { status, judged } = run(files);
    // Read well, but a citation that is none, and no object.
    const own = judged.map(({ verdict }, at) => [texts[at], verdict]);
    const isRead = (text: string) => ['{"_citation":1}', '[1]'].includes(text);
    expect(own).toEqual(texts.map((text) => [text, isRead(text) ? 'failed' : 'undecided']));
    expect(status).toBe(1);
    expect(run(files.slice(0, 2)).status).toBe(2);
  });

  it('judges every other line beside numbers and times that no arithmetic can hold', () => {
    const row = { snapshot_date: '0001-01-01T00:00:00Z', observed_at: '', data_age_hours: 0 };
    const rows = [{ ...row, current: {}, band: null, record_hash: '' }];
    const before = { rows: 0, snapshot_date: null, chain: `sha256:${'0'.repeat(64)}` };
    const end = canonicalHash([before, rows[0] ?? {}]);
    const retained = { rows: 1, chain: end, to: '0001-01-01T00:00:00Z' };
    const series = { tier: 'history-series', days: 2, count: 1, before, rows, retained };
    const lines = ['{"a":1e-99999999999999999999}', JSON.stringify(series), '{}'];
    const judged = pythonVerdicts(lines, []);
    expect(judged.map(({ verdict }) => verdict)).toEqual(['undecided', 'failed', 'unsigned']);
    expect(judged[1]?.detail).toContain('OverflowError');
  });

  it('refuses a body of more parts than any body joins', () => {
    const time = '2026-11-20T12:00:00Z';
    const basis = { freshness_basis: freshnessBasis('daily') };
    const joined = (count: number): string => {
      const leg = (at: number) => [
        `leg-${at}`,
        { ...basis, observed_at: time, freshness: 'fresh' },
      ];
      const provenance = {
        ...{ ...basis, oldest_leg_as_of: time, freshness_rule: freshnessRule(count, 'legs') },
        ...{ age_hours_now: 0, freshness: 'fresh', freshness_leg: 'leg-0' },
      };
      const legs = Object.fromEntries(Array.from({ length: count }, (_, at) => leg(at)));
      return JSON.stringify({ provenance, legs });
    };
    const foreign = joined(17).replace(freshnessBasis('daily'), 'of another service');
    const bodies = [...[16, 17, 9999].map(joined), foreign];
    const want = ['unsigned', 'failed', 'failed', 'unsigned'];
    expect(bodies.map((body) => ownVerdict(Buffer.from(body), did))).toEqual(want);
    const judged = pythonVerdicts(bodies, [did], Date.parse(time));
    expect(judged.map(({ verdict }) => verdict)).toEqual(want);
    expect(judged[2]?.detail).toContain('more than 16 parts');
  });

  it('judges deep bodies in a memory of their own size, and goes on behind one that needs more', () => {
    // Text of every path in here would be 600 MB.
    const deep = `{"${'k'.repeat(40_000)}":[${Array(15_000).fill('{}').join()}]}`;
    const wide = `{"a":[${Array(8_000_000).fill('[]').join()}]}`;
    const limited = ['-c', 'ulimit -v 300000; exec python3 "$@"', 'sh', VERIFY_RECORD, '--json'];
    const input = [deep, wide, '{}'].join('\n');
    const { stdout } = spawnSync('sh', [...limited, '--lines', '-'], { input, encoding: 'utf8' });
    const judged = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Judged);
    expect(judged.map(({ verdict }) => verdict)).toEqual(['unsigned', 'undecided', 'unsigned']);
    const refused = judged.map(({ detail }) => detail.includes('more memory than there is'));
    expect(refused).toEqual([false, true, false]);
  });

  it('ends with 2, and no verdict, where a file of lines cannot be read', () => {
    expect(run(['--lines', join(folder, 'absent.ndjson')])).toEqual({ status: 2, judged: [] });
  });

  it('does not judge what is longer than the command reads, and goes on behind it', () => {
    const long = join(folder, 'long.json');
    writeFileSync(long, '{}');
    truncateSync(long, 67_108_865);
    const lines = join(folder, 'long.ndjson');
    const blank = ' '.repeat(67_108_864);
    writeFileSync(lines, `${blank}  {}\n${blank.slice(2)}{}\n{"a":1,"a":1}\n`);
    const { status, judged } = run([long, '--lines', lines]);
    const verdicts = ['undecided', 'unsigned', 'undecided', 'undecided'];
    expect(judged.map(({ verdict }) => verdict)).toEqual(verdicts);
    const refused = judged.map(({ detail }) => detail.includes('longer than 67108864 bytes'));
    expect(refused).toEqual([true, false, false, true]);
    expect(status).toBe(2);
  });

  it('agrees on inclusion proofs, and refuses each of them with one part changed', async () => {
    const service = {
      ...(await tinyService()),
      release: await openRelease({ source: folderSource(data), issuerDid: null, baseUrl: null }),
    };
    const [body = ''] = bodies.filter((path) => path.includes('/record/'));
    const { record_hash } = JSON.parse(readFileSync(body, 'utf8'));
    const answers = [
      jsonOf(await proof(question(`/proof/${record_hash}`), service)),
      jsonOf(await anchor(question(`/gauge/anchor?hash=${record_hash}`), service)),
    ];
    const save = (answer: object, name: string): string => {
      const file = join(folder, name);
      writeFileSync(file, JSON.stringify(answer));
      return file;
    };
    const good = answers.map((answer, at) => save(answer, `proof-${at}.json`));
    expect(run([...good, '--issuer', did]).status).toBe(0);
    expect(run(good).judged.map(({ verdict }) => verdict)).toEqual(
      good.map(() => 'issuer_unknown'),
    );
    const [first] = answers as unknown as {
      inclusion: { index: number; size: number; inclusion_proof: string[] };
    }[];
    const inclusion = first?.inclusion ?? { index: 0, size: 0, inclusion_proof: [] };
    const bad = [
      { ...inclusion, index: inclusion.index + 1 },
      { ...inclusion, size: inclusion.size + 1 },
      { ...inclusion, inclusion_proof: inclusion.inclusion_proof.slice(1) },
      { ...inclusion, inclusion_proof: inclusion.inclusion_proof.toReversed() },
      { ...inclusion, root: '00'.repeat(32) },
    ].map((altered, at) => save({ ...first, inclusion: altered }, `altered-${at}.json`));
    expect(run(bad).judged.map(({ verdict }) => verdict)).toEqual(bad.map(() => 'failed'));
    // Each answer keeps its proof where its own name says: one elsewhere proves nothing.
    const { inclusion: _, ...rest } = { inclusion, ...answers[0] };
    const moved = [
      { ...rest, ...inclusion },
      { ...answers[1], root: '00'.repeat(32), inclusion },
      // What stands beside a proof is signed by nobody.
      ...answers.map((answer) => ({ ...answer, current: { aqi_index: 1 } })),
      { ...answers[0], inclusion: { ...inclusion, current: { aqi_index: 1 } } },
    ].map((altered, at) => save(altered, `moved-${at}.json`));
    const refused = moved.map(() => 'failed');
    expect(run(moved).judged.map(({ verdict }) => verdict)).toEqual(refused);
    expect(moved.map((file) => ownVerdict(readFileSync(file), did))).toEqual(refused);
  });
});
