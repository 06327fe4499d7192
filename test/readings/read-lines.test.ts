import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  fileShape,
  HeaderFaults,
  LINE_BYTES_MAX,
  readLines,
} from '../../compiler/readings/read-lines.ts';
import { cpuMsOf } from '../grown-of.ts';
import { serverRow } from '../roster-rows.ts';
import {
  compileFaults,
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';

afterAll(removeFolders);
const path = join(makeFolder(), 'lines');

function linesOf(text: string, bytesMax?: number): (string | null)[] {
  writeFileSync(path, text);
  const lines: (string | null)[] = [];
  for (const line of readLines(path, bytesMax === undefined ? {} : { bytesMax })) {
    expect(line.number).toBe(lines.length + 1);
    lines.push(line.bytes === null ? null : Buffer.from(line.bytes).toString());
  }
  return lines;
}

describe('readLines()', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['\n', ['']],
    ['a\n\nb', ['a', '', 'b']],
    ['a\r\nb\n', ['a\r', 'b']],
  ])('splits %j at line feeds alone', (text, want) => {
    expect(linesOf(text)).toEqual(want);
  });

  it('equals a split of the whole text, whatever the lengths', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 5 }),
      fc.integer({ min: 1, max: 90_000 }).map((n) => 'y'.repeat(n)),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const text = parts.map((line) => `${line.replaceAll('\n', ' ')}\n`).join('');
        expect(linesOf(text)).toEqual(text.split('\n').slice(0, -1));
      }),
      { numRuns: 60 },
    );
  });

  it('gives a line of the limit and withholds one that is a byte longer', () => {
    const long = 'x'.repeat(LINE_BYTES_MAX);
    expect(linesOf(`a\n${long}\nb\n`)).toEqual(['a', long, 'b']);
    expect(linesOf(`a\n${long}x\nb\n`)).toEqual(['a', null, 'b']);
    expect(linesOf(`${long}x`)).toEqual([null]);
  });

  it('I34: holds no more of an endless line than the limit, and finds the next line behind it', () => {
    expect(linesOf(`${'x'.repeat(3_000_000)}\nb`, 1000)).toEqual([null, 'b']);
    expect(linesOf('x'.repeat(3_000_000), 1000)).toEqual([null]);
  });
});

afterAll(removeFolders);

const MCP = '2026-11-20/mcp.server.ndjson';
const SPOT = '2026-11-20/crypto.spot.ndjson';
const { observed_at, collected_at, ...OWN } = reading('btc', { price_usd: 1 });
const LATE = { code: 'bad_field', field: 'observed_at', message: 'after collected_at' } as const;

describe('HeaderFaults', () => {
  it.each([
    [{}, true],
    [{ entity: 'btc' }, true],
    [{ observed_at }, false],
    [{ collected_at }, false],
  ])('blames a time of the header for the line %j: %s', (line, isOfHeader) => {
    const header = new HeaderFaults({ observed_at, collected_at });
    const reported = { ...LATE, field: 'header.observed_at', line: 1 };
    expect(header.placed([LATE], line)).toEqual([isOfHeader ? reported : LATE]);
    expect(header.placed([LATE], line)).toEqual(isOfHeader ? [] : [LATE]);
  });

  it('leaves a row its own time of collection beside a day of capture in the header', async () => {
    const row = (id: string, more: object) => {
      const { capture_date, ...own } = serverRow(id, '2026-11-20', more);
      return own;
    };
    const early = { observed_at: '2026-11-19T01:00:00Z', collected_at: '2026-11-19T23:56:00Z' };
    const rows = [row('a-mcp', {}), row('b-mcp', early), row('c-mcp', early)];
    const header = { capture_date: '2026-11-20' };
    const faults = await compileFaults({ [MCP]: ndjson([{ header }, ...rows]) });
    expect(faults.map(({ line, field }) => [line, field])).toEqual([
      [3, 'capture_date'],
      [4, 'capture_date'],
    ]);
    expect(await compileFaults({ [MCP]: ndjson([{ header }, row('a-mcp', {})]) })).toEqual([]);
    const bad = { [MCP]: ndjson([{ header: { capture_date: '20 November' } }, ...rows]) };
    const reported = await compileFaults(bad);
    expect(reported.map(({ line, field }) => [line, field])).toEqual([[1, 'header.capture_date']]);
  });

  const lines = Array.from({ length: 20 }, (_, at) => ({
    ...OWN,
    entity: `coin-${at}`,
    collected_at: at === 7 || at === 9 ? '2026-11-20T09:00:00Z' : collected_at,
  }));
  const files = { [SPOT]: ndjson([{ header: { observed_at } }, ...lines]) };

  it('leaves a line its own time of collection, wherever the other time stands', async () => {
    const faults = await compileFaults(files);
    expect(faults.map(({ line, field }) => [line, field])).toEqual([
      [9, 'observed_at'],
      [11, 'observed_at'],
    ]);
    const { release } = await compileFolder(writeSnapshots(files), { maxRejectsPpm: 200_000 });
    expect(release.counts.readings).toBe(18);
  });
});

const shapeOf = (text: string) => fileShape(Buffer.from(text));

/** Where the work grows with the square of a line, one of this length takes minutes. */
const MANY = 500_000;
const SECONDS_MAX = 5;
const NEARLY: Readonly<Record<string, string>> = {
  'spaces behind columns': `a,b${' '.repeat(MANY)}!`,
  'spaces between columns': `${'a , '.repeat(MANY / 2)}!`,
  columns: `${'a,'.repeat(MANY)}!`,
  'quoted columns': `${'"a",'.repeat(MANY / 2)}!`,
  'spaces alone': `${' '.repeat(MANY)}!`,
  'spaces behind a bracket': `[${' '.repeat(MANY)}!`,
  'spaces behind two': `[{${' '.repeat(MANY)}!`,
  'closed braces': `[{${'}'.repeat(MANY)}${' '.repeat(MANY)}!`,
  'closed braces and commas': `[{${'}, '.repeat(MANY / 2)}!`,
  'spaces behind a brace': `{${' '.repeat(MANY)}!`,
  'open braces': `${'{'.repeat(MANY)}${' '.repeat(MANY)}!`,
  'commas and spaces': `{${', '.repeat(MANY)}!`,
};

describe('fileShape()', () => {
  it('knows a CSV with spaces at its end, and none where something follows them', () => {
    for (const end of ['', ' ', '\r', ' \t \r']) {
      expect(shapeOf(`entity, price usd;"grade"${end}`)).toMatch(/^a CSV file/);
    }
    for (const text of ['entity', 'a,b  !', 'a,,b', 'a,1']) expect(shapeOf(text)).toBeNull();
  });

  it.each(Object.entries(NEARLY))('looks at a long line of %s in one pass', (_, text) => {
    const ms = cpuMsOf(() => expect(shapeOf(text)).toBeNull());
    expect(ms).toBeLessThan(SECONDS_MAX * 1000);
  });
});
