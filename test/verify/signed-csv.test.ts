import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../compiler/client/verify.ts';
import { csvLine, csvRows } from '../../compiler/contract/csv-line.ts';
import { isoTime } from '../../compiler/contract/iso-time.ts';
import { bodyOfText } from '../../compiler/contract/series-csv.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { answer } from '../../gatekeeper/answers/answers.ts';
import { compiledService } from '../gatekeeper/compiled-service.ts';
import { question } from '../gatekeeper/tiny-service.ts';
import { seriesSet } from '../series-set.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../snapshot-folder.ts';
import { hasPython, VERIFY_RECORD } from './python-judge.ts';

const TARGET = '/gauge/history-series?signal_id=crypto.spot&entity=btc';
const NOW = '2026-11-21T12:00:00Z';

let did: string;
let ask: (query: string) => Promise<string>;
let table: string;
let lines: readonly string[];
beforeAll(async () => {
  const { data, release } = await compileFolder(writeSnapshots(seriesSet()));
  const service = await compiledService(data, NOW);
  did = release.issuer_did;
  ask = async (query) => {
    const answered = await answer(question(TARGET + query), service);
    if (answered.kind !== 'content') throw new Error(`Cannot ask "${query}": no answer`);
    return answered.content.body.toString('utf8');
  };
  table = await ask('&format=csv-signed&days=1000');
  lines = table.split('\r\n').slice(0, -1);
});
afterAll(removeFolders);

const joined = (parts: readonly string[]): string => parts.map((line) => `${line}\r\n`).join('');
const verdictOf = (text: string, issuer = did): string =>
  verify(text, { issuer, now: Date.parse(NOW), demandsProof: false }).verdict;

/** What the two commands answer for a text on standard input. */
async function exits(text: string, issuer = did): Promise<readonly (number | null)[]> {
  const input = Buffer.from(text);
  const ours = await runVerify('-', {
    issuer: [issuer],
    now: Date.parse(NOW),
    proof: false,
    readStdin: async () => input,
  });
  if (!hasPython) return [ours.exitCode];
  const now = isoTime(Date.parse(NOW));
  const flags = ['--no-proof', '--issuer', issuer, '--now', now];
  const python = spawnSync('python3', [VERIFY_RECORD, '-', ...flags], { input });
  return [ours.exitCode, python.status];
}
const all = (code: number): number[] => (hasPython ? [code, code] : [code]);

describe('a series with format=csv-signed', () => {
  it.each([1, 2, 398, 1000])('stands for the very answer of %d days as JSON', async (days) => {
    const text = await ask(`&format=csv-signed&days=${days}`);
    expect(bodyOfText(text)).toEqual(parseJson(await ask(`&days=${days}`)));
    expect(verdictOf(text)).toBe('verified');
    expect(await exits(text)).toEqual(all(0));
  });

  it('has a column of hash cores with verifiable=1, and verifies with it', async () => {
    const text = await ask('&format=csv-signed&days=1000&verifiable=1');
    expect(bodyOfText(text)).toEqual(parseJson(await ask('&days=1000&verifiable=1')));
    expect(text.split('\r\n')[1]).toBe(`${lines[1]},_hash_core`);
    expect([verdictOf(text), await exits(text)]).toEqual(['verified', all(0)]);
    const other = text.replace('""source_tier"":""', '""source_tier"":""x');
    expect(other).not.toBe(text);
    expect([verdictOf(other), await exits(other)]).toEqual(['failed', all(1)]);
    const unnamed = text.replace(',_hash_core\r\n', '\r\n');
    expect(await exits(unnamed)).not.toContain(0);
  });

  it('has the plain table behind its first line', async () => {
    const plain = await ask('&format=csv&days=1000');
    expect(table).toBe(`${lines[0]}\r\n${plain}`);
    expect(verdictOf(plain)).toBe('unsigned');
    expect((await exits(plain))[0]).toBe(2);
  });

  it('fails for another issuer', async () => {
    const other = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';
    expect(verdictOf(table, other)).toBe('failed');
    expect(await exits(table, other)).toEqual(all(1));
  });

  it.each<readonly [string, (rows: readonly string[]) => readonly string[]]>([
    [
      'whose first row is cut',
      ([head, columns, , ...rows]) => [head, columns, ...rows] as string[],
    ],
    ['whose last row is cut', (rows) => rows.slice(0, -1)],
    ['with a row twice', (rows) => [...rows, rows.at(-1) ?? '']],
    ['with two rows exchanged', ([h, c, a, b, ...rows]) => [h, c, b, a, ...rows] as string[]],
    ['without rows', (rows) => rows.slice(0, 2)],
    ['without its columns', ([head, , ...rows]) => [head, ...rows] as string[]],
    ['with an altered metric', (rows) => rows.map((row) => row.replace('usd"":', 'usd"":1'))],
    ['with an altered band', (rows) => rows.map((row) => row.replace(',plain,', ',other,'))],
    ['with an altered age', (rows) => rows.map((row) => row.replace(/Z,(\d)/, 'Z,1$1'))],
    ['with a formula', (rows) => rows.map((row) => row.replace("'=1", '=1'))],
    ['with cells in quotation marks', (rows) => rows.map((row) => row.replace('plain', '"plain"'))],
    ['with a cell more', (rows) => [...rows.slice(0, -1), `${rows.at(-1)},`]],
    ['with an altered head', ([head = '', ...rows]) => [head.replace('btc', 'eth'), ...rows]],
    [
      'with rows in its head',
      ([h = '', ...rows]) => [h.replace('"rows":[]', '"rows":[1]'), ...rows],
    ],
    ['with a bare LF in its head', ([h = '', ...rows]) => [h.replace(',"', ',\n"'), ...rows]],
    ['with a bare CR in its head', ([h = '', ...rows]) => [h.replace(',"', ',\r"'), ...rows]],
    ['without a head', ([, ...rows]) => ['# ', ...rows]],
  ])('fails %s', async (_, alter) => {
    const altered = joined(alter(lines));
    expect(altered).not.toBe(table);
    expect(verdictOf(altered)).toBe('failed');
    expect((await exits(altered)).every((code) => code !== 0)).toBe(true);
  });

  it('verifies with one line feed more at its end, as a shell saves it', async () => {
    expect(verdictOf(`${table}\n`)).toBe('verified');
    expect(await exits(`${table}\n`)).toEqual(all(0));
  });

  it('fails for line ends of another system, for two more, and without the last one', async () => {
    for (const altered of [
      `${table}\n\n`,
      `${table}\r\n`,
      table.replaceAll('\r\n', '\n'),
      table.slice(0, -2),
    ]) {
      expect(verdictOf(altered)).toBe('failed');
      expect((await exits(altered)).every((code) => code !== 0)).toBe(true);
    }
  });
});

describe('csvRows()', () => {
  it.each(['=1', "'=1", "''@x", "'plain", 'a "b", c', 'x\r\ny', '-', '', 'tab\there'])(
    'reads back %j as it was written',
    (cell) => {
      expect([...csvRows(csvLine([cell, 'x']), 0)]).toEqual([[cell, 'x']]);
    },
  );

  it.each(['a"b\r\n', '"a\r\n', 'a', 'a\n', '"a"\r\n', '=1\r\n', '"a"b\r\n'])(
    'refuses %j, which nobody writes',
    (text) => {
      expect(() => [...csvRows(text, 0)]).toThrow(SyntaxError);
    },
  );
});
