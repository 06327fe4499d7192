import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliveredText } from '../../../../compiler/products/shapes/request-time.ts';
import { runVerify } from '../../../../compiler/verify/verify-command.ts';
import { built } from '../../../command-runs.ts';
import { type Shop, smallShop } from '../../../shop.ts';

let release: Shop;
let folder: string;
beforeAll(async () => {
  release = await smallShop();
  folder = mkdtempSync(join(tmpdir(), 'signalpress-command-'));
});
afterAll(() => {
  release.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const RECORD = 'record/hydrology.river-level/07010000.json';
const OTHER_DID = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';

/** A body as it was delivered and saved, with proof=0. */
const saved = (): string => JSON.stringify(release.delivered(RECORD));
function savedFile(): string {
  const file = join(folder, 'record.json');
  writeFileSync(file, saved());
  return file;
}

const ASKED = 'GET /gauge?signal_id=hydrology.river-level&entity=07010000';
/** Its request left the proof out. */
const BARE = { expect: `${ASKED}&proof=0` };

const judgeText = (text: string, issuer?: string[]) =>
  runVerify('-', {
    ...(issuer ? { issuer } : {}),
    ...BARE,
    readStdin: () => Buffer.from(text),
  });

describe('runVerify() exit codes', () => {
  it('0: a genuine body, from standard input and from a file', async () => {
    const issuer = [release.did];
    expect((await judgeText(saved(), issuer)).exitCode).toBe(0);
    expect((await runVerify(savedFile(), { issuer, ...BARE })).exitCode).toBe(0);
  });

  it('0: a release folder and a data folder', async () => {
    for (const target of [release.folder, release.data]) {
      expect((await runVerify(target, { issuer: [release.did] })).exitCode).toBe(0);
    }
  });

  it('2: without an issuer, whatever else is given, because anybody can make a key', async () => {
    for (const target of [savedFile(), release.folder, release.data]) {
      for (const keys of [undefined, release.data]) {
        const outcome = await runVerify(target, keys === undefined ? {} : { keys });
        expect([target, outcome.exitCode]).toEqual([target, 2]);
        expect(outcome.text).toMatch(
          /^cannot be judged {2}.*: name the issuer that you trust, with --issuer/,
        );
      }
    }
    const { exitCode, text } = await runVerify(release.data, { json: true });
    expect([exitCode, JSON.parse(text).verdict]).toEqual([2, 'issuer_unknown']);
    const forged = saved().replace('"stage_ft":13.6', '"stage_ft":13.7');
    expect((await judgeText(forged)).exitCode).toBe(1);
  });

  it('1: one digit changed, named first', async () => {
    const forged = saved().replace('"stage_ft":13.6', '"stage_ft":13.7');
    const { exitCode, text } = await judgeText(forged, [release.did]);
    expect(exitCode).toBe(1);
    const [verdict, first, second] = text.split('\n');
    expect(verdict).toBe('failed: it was altered after it was signed  -');
    expect(first).toMatch(
      /^ {2}Do not rely on it\. Content at _citation\.source\.content_hash: .*; its statement says ".* read 13\.6 /,
    );
    expect(second).toBe('  Disagrees too: record_hash');
    const options = { issuer: [release.did], verbose: true, readStdin: () => Buffer.from(forged) };
    const [content, hash, after] = (await runVerify('-', options)).text.split('\n').slice(4);
    expect(content).toMatch(/^ {2}FAIL {2}content {7}_citation\.source\.content_hash/);
    expect(hash).toMatch(/^ {2}FAIL {2}record_hash {3}record_hash/);
    expect(after).toMatch(/^ {2}ok /);
  });

  it('1: a body that speaks of a moment to come by the clock of the reader', async () => {
    const asked = Date.parse('2026-11-20T14:00:00Z');
    const served = Buffer.from(deliveredText(release.text(RECORD), asked));
    const by = { issuer: [release.did], ...BARE, readStdin: () => served };
    expect((await runVerify('-', { ...by, now: asked })).exitCode).toBe(0);
    const { exitCode, text } = await runVerify('-', { ...by, now: asked - 3_600_000 });
    expect(exitCode).toBe(1);
    expect(text).toMatch(/Request time at provenance\.answered_at: still to come/);
  });

  it('1: another issuer, in words of its own', async () => {
    const { exitCode, text } = await judgeText(saved(), [OTHER_DID]);
    expect(exitCode).toBe(1);
    expect(text).toMatch(/Citation at _citation\.issuer_DID: .* is not one of the trusted issuers/);
    expect((await runVerify(release.data, { issuer: [OTHER_DID] })).exitCode).toBe(1);
  });

  it.each<[string, string]>([
    ['no JSON', 'a page of text'],
    ['cut off', '{"signal_id":'],
    ['a key twice', '{"a":1,"a":2}'],
    ['text after the value', '{} {}'],
    ['nothing', ''],
  ])('2: %s', async (_, text) => {
    expect((await judgeText(text)).exitCode).toBe(2);
  });

  it('2: a series as CSV, and says how to ask for a signed one', async () => {
    const head = 'snapshot_date,observed_at,data_age_hours,current,band,record_hash';
    const { exitCode, text } = await judgeText(`${head}\r\n2026-11-20T10:00:00Z,,,,,\r\n`);
    expect(exitCode).toBe(2);
    expect(text).toContain(
      'a series as CSV is not signed; ask for it with format=csv-signed or format=json',
    );
    const other = await judgeText('snapshot_date,observed_at\r\n');
    expect(other.exitCode).toBe(2);
    expect(other.text).not.toContain('CSV');
  });

  it('2: a body that nobody signed', async () => {
    const raw = JSON.stringify(release.delivered('free/raw/hydrology.river-level/07010000.json'));
    const { exitCode, text } = await judgeText(raw, [release.did]);
    expect(exitCode).toBe(2);
    expect(text).toMatch('nobody signed all of it');
  });

  it.each([
    ['a missing file', 'none.json'],
    ['a folder that is no release', '.'],
  ])('2: %s', async (_, name) => {
    expect((await runVerify(join(folder, name), {})).exitCode).toBe(2);
  });

  it('2: an --issuer that is no did:key', async () => {
    const { exitCode, text } = await judgeText(saved(), ['acme']);
    expect(exitCode).toBe(2);
    expect(text).toMatch('did:key');
  });
});

describe('runVerify() report', () => {
  it('says plainly when no issuer was pinned, and never when one was', async () => {
    const loose = await judgeText(saved());
    expect(loose.exitCode).toBe(2);
    expect(loose.text).toMatch(/^cannot be judged {2}-: name the issuer/);
    const warning = `Warning: signed by ${release.did}, whom you did not name`;
    expect(loose.text).toMatch(warning);
    expect((await runVerify(release.data, {})).text).toMatch(warning);
    expect((await judgeText(saved(), [release.did])).text).not.toMatch(warning);
  });

  it('as JSON has the verdict and every check', async () => {
    const options = { json: true, readStdin: () => Buffer.from(saved()) };
    const report = JSON.parse((await runVerify('-', options)).text);
    expect(report).toMatchObject({ target: '-', verdict: 'issuer_unknown', issuer_pinned: false });
    expect(report.checks.length).toBeGreaterThan(10);
    const missing = JSON.parse((await runVerify(join(folder, 'none'), { json: true })).text);
    expect(missing).toMatchObject({ verdict: 'undecided' });
  });

  const NOON = Date.parse('2026-11-20T12:00:00Z');
  const judgeAsked = (more: object) =>
    runVerify(savedFile(), { issuer: [release.did], now: NOON, ...BARE, ...more });

  it('says what a body is about, how old it is, and that it answers what was expected', async () => {
    const { exitCode, text } = await judgeAsked({ maxAgeMs: 2 * 3_600_000, verbose: true });
    expect(exitCode).toBe(0);
    const lines = text.split('\n');
    expect(lines.slice(0, 5)).toEqual([
      expect.stringMatching(/^verified {2}/),
      `  Signed by ${release.did}, the issuer that you named`,
      expect.stringMatching(
        /^ {2}States: river stage .* at St\. Louis, MO: hydrology\.river-level of 07010000 read 13\.6 ft at .*; its reading is of 2026-11-20T10:45:00Z, 1\.3 h ago by your clock/,
      ),
      '  Answers your request, GET /gauge?entity=07010000&signal_id=hydrology.river-level',
      expect.stringMatching(/^ {2}Warning: not shown to be logged: no proof/),
    ]);
    expect(text).toMatch(/ok +expect +the body answers /);
    expect(text).toMatch(/ok +max_age +its reading is of 2026-11-20T10:45:00Z, 1\.25 h old/);
  });

  it('1: a true body of something else, or one that is older than demanded', async () => {
    const other = await judgeAsked({ expect: ASKED.replace('07010000', '05536890') });
    expect([other.exitCode, other.text]).toEqual([
      1,
      expect.stringMatching(/^failed: it answers another request than yours/),
    ]);
    const old = await judgeAsked({ maxAgeMs: 3_600_000 });
    expect([old.exitCode, old.text]).toEqual([
      1,
      expect.stringContaining('1.25 h old by your clock'),
    ]);
  });

  it('2: an expectation that no body meets, and demands of a release', async () => {
    const strange = await judgeAsked({ expect: 'GET /nowhere' });
    expect([strange.exitCode, strange.text]).toEqual([
      2,
      expect.stringContaining('no such operation'),
    ]);
    const folder = await runVerify(release.data, { issuer: [release.did], expect: ASKED });
    expect([folder.exitCode, folder.text]).toEqual([2, expect.stringContaining('about a body')]);
  });

  it('as JSON has the exit code, what the body is about, and an entry for each demand', async () => {
    const { text } = await judgeAsked({ json: true, maxAgeMs: 0 });
    const report = JSON.parse(text);
    expect(report).toMatchObject({
      exit_code: 1,
      verdict: 'failed',
      about: { time_of: 'reading', age_hours: 1.3, observed_at: '2026-11-20T10:45:00Z' },
    });
    expect(report.checks.slice(-2)).toMatchObject([
      { check: 'expect', status: 'pass' },
      { check: 'max_age', status: 'fail' },
    ]);
  });

  it('says nothing about an altered body', async () => {
    const forged = saved().replace('"stage_ft":13.6', '"stage_ft":13.7');
    const options = { issuer: [release.did], expect: ASKED, readStdin: () => Buffer.from(forged) };
    const { text } = await runVerify('-', { ...options, verbose: true });
    expect(text).not.toMatch(/^ {2}(States|Answers)/m);
    expect(text).toMatch(/ - +expect +the body itself does not hold/);
  });

  it('of a release names what failed first', async () => {
    const path = release.file(RECORD);
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.toString().replace('13.6', '13.7'));
    const { exitCode, text } = await runVerify(release.data, { issuer: [release.did] });
    writeFileSync(path, bytes);
    expect(exitCode).toBe(1);
    expect(text.split('\n')[1]).toBe(`  FAIL  ${RECORD}  sha256  not the one of files.txt`);
  });

  it('lets no body steer the terminal', async () => {
    const forged = saved().replace(/"key_id":"/, '"key_id":"\\u001b[2K\\nverified\\u202e');
    const { exitCode, text } = await judgeText(forged);
    expect(exitCode).toBe(1);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).not.toMatch(/^verified/m);
  });

  it('of many rows stays short', async () => {
    const rows = Array.from({ length: 1000 }, (_, i) => ({
      entity: String(i),
      record_hash: `sha256:${'0'.repeat(64)}`,
    }));
    const { text } = await judgeText(JSON.stringify({ rows }));
    expect(text.split('\n').length).toBeLessThan(8);
    expect(text).toMatch(/^cannot be judged .*get the signed body/);
  });
});

const isTraced = spawnSync('strace', ['-V']).status === 0;

describe.skipIf(!isTraced)('I25: runVerify() (skipped without strace)', () => {
  it('I25: opens no socket', () => {
    const program = pathToFileURL(built('compiler/verify/verify-command.js')).href;
    const script = `
      import { runVerify } from ${JSON.stringify(program)};
      const [data, body, net] = process.argv.slice(1);
      for (const target of [data, body]) {
        const { exitCode, text } = await runVerify(target, {});
        if (exitCode !== 2 || !text.startsWith('cannot be judged')) process.exit(7);
      }
      if (net) (await import('node:net')).connect(9, '127.0.0.1').on('error', () => {});
    `;
    const traced = (...more: string[]): string => {
      const log = join(folder, 'trace.txt');
      const node = [process.execPath, '--input-type=module', '-e', script, release.data];
      const call = ['-f', '-e', 'trace=%network', '-o', log, ...node, savedFile()];
      execFileSync('strace', [...call, ...more], { stdio: 'ignore' });
      return readFileSync(log, 'utf8');
    };
    const sockets = /\b(socket|connect|bind|listen|sendto|sendmsg)\(/;
    expect(traced()).not.toMatch(sockets);
    expect(traced('net')).toMatch(sockets);
  });
});
