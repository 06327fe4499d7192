import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../compiler/client/verify.ts';
import { csvLine, csvRows } from '../../compiler/contract/csv-line.ts';
import { bodyOfText } from '../../compiler/contract/series-csv.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { answer } from '../../gatekeeper/answers/answers.ts';
import { compiledService } from '../gatekeeper/compiled-service.ts';
import { question } from '../gatekeeper/tiny-service.ts';
import { seriesSet } from '../series-set.ts';
import { compileFolder, makeFolder, removeFolders, writeSnapshots } from '../snapshot-folder.ts';
import { hasPython, pythonVerdictsOfFiles } from './python-judge.ts';

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

/** Every text that was judged, with the exit code of the command: the other verifier is asked about all of them at once. */
const asked: { readonly text: string; readonly issuer: string; readonly exit: number }[] = [];

/** What the command answers for a text on standard input. */
async function exitOf(text: string, issuer = did): Promise<number> {
  const readStdin = (): Uint8Array => Buffer.from(text);
  const by = { issuer: [issuer], now: Date.parse(NOW), proof: false, readStdin };
  const { exitCode } = await runVerify('-', by);
  asked.push({ text, issuer, exit: exitCode });
  return exitCode;
}

describe('a series with format=csv-signed', () => {
  it.each([1, 2, 398, 1000])('stands for the very answer of %d days as JSON', async (days) => {
    const text = await ask(`&format=csv-signed&days=${days}`);
    expect(bodyOfText(text)).toEqual(parseJson(await ask(`&days=${days}`)));
    expect(verdictOf(text)).toBe('verified');
    expect(await exitOf(text)).toBe(0);
  });

  it('has a column of hash cores with verifiable=1, and verifies with it', async () => {
    const text = await ask('&format=csv-signed&days=1000&verifiable=1');
    expect(bodyOfText(text)).toEqual(parseJson(await ask('&days=1000&verifiable=1')));
    expect(text.split('\r\n')[1]).toBe(`${lines[1]},_hash_core`);
    expect([verdictOf(text), await exitOf(text)]).toEqual(['verified', 0]);
    const other = text.replace('""source_tier"":""', '""source_tier"":""x');
    expect(other).not.toBe(text);
    expect([verdictOf(other), await exitOf(other)]).toEqual(['failed', 1]);
    const unnamed = text.replace(',_hash_core\r\n', '\r\n');
    expect(await exitOf(unnamed)).not.toBe(0);
  });

  it('has the plain table behind its first line', async () => {
    const plain = await ask('&format=csv&days=1000');
    expect(table).toBe(`${lines[0]}\r\n${plain}`);
    expect(verdictOf(plain)).toBe('unsigned');
    expect(await exitOf(plain)).toBe(2);
  });

  it('fails for another issuer', async () => {
    const other = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw';
    expect(verdictOf(table, other)).toBe('failed');
    expect(await exitOf(table, other)).toBe(1);
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
    expect(await exitOf(altered)).not.toBe(0);
  });

  it('verifies with one line feed more at its end, as a shell saves it', async () => {
    expect(verdictOf(`${table}\n`)).toBe('verified');
    expect(await exitOf(`${table}\n`)).toBe(0);
  });

  it('fails for line ends of another system, for two more, and without the last one', async () => {
    for (const altered of [
      `${table}\n\n`,
      `${table}\r\n`,
      table.replaceAll('\r\n', '\n'),
      table.slice(0, -2),
    ]) {
      expect(verdictOf(altered)).toBe('failed');
      expect(await exitOf(altered)).not.toBe(0);
    }
  });

  it.skipIf(!hasPython)('is judged alike by verify_record.py (skipped without python3)', () => {
    const EXITS: Readonly<Record<string, number>> = { verified: 0, failed: 1 };
    expect(asked.length).toBeGreaterThan(25);
    for (const issuer of new Set(asked.map((one) => one.issuer))) {
      const own = asked.filter((one) => one.issuer === issuer);
      const texts = own.map(({ text }) => text);
      const flags = ['--no-proof', '--now', NOW];
      const said = pythonVerdictsOfFiles(texts, [issuer], { folder: makeFolder(), flags });
      const exits = said.map(({ verdict }) => EXITS[verdict] ?? 2);
      expect(exits).toEqual(own.map(({ exit }) => exit));
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
