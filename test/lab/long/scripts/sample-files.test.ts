import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { storedFilingRowSchema } from '../../../../compiler/readings/collection-rows.ts';
import { sampleFiles, sampleFilings } from '../../../../scripts/sample/sample-files.ts';
import { SAMPLE_AS_OF } from '../../../../scripts/sample/sample-times.ts';
import { writeSample } from '../../../../scripts/sample/write-sample.ts';
import { compileFaults, makeFolder, removeFolders } from '../../../snapshot-folder.ts';

afterAll(removeFolders);
const LATER = '2028-02-29T01:00:00Z';

describe('sampleFiles() of another hour', () => {
  const later = sampleFiles({ hour: LATER });

  it('gives the same bytes for the same hour, and others for the next one', () => {
    const differing = (hour: string) => {
      const files = sampleFiles({ hour });
      return [...later].flatMap(([path, text]) => (files.get(path) === text ? [] : [path]));
    };
    expect(differing(LATER)).toEqual([]);
    const changed = differing('2028-02-29T02:00:00Z');
    expect(changed.length).toBeGreaterThan(10);
    expect(new Set(changed.map((path) => path.slice(0, 10)))).toEqual(new Set(['2028-02-29']));
  });

  it('holds as many files and readings as the fixed one', () => {
    const size = (files: ReadonlyMap<string, string>) => [
      files.size,
      [...files.values()].join('').split('\n').length,
    ];
    expect(size(later)).toEqual(size(sampleFiles({ hour: SAMPLE_AS_OF })));
  });

  it('compiles as of its hour, and not an hour before', async () => {
    const hourly = [...later].filter(([path]) =>
      /\/(airquality.aqi|filing|document|stable|trust|mcp|ai-tool|crypto)/.test(path),
    );
    const files = Object.fromEntries(hourly);
    expect(await compileFaults(files, { asOf: LATER })).toEqual([]);
    const early = await compileFaults(files, { asOf: '2028-02-28T23:00:00Z' });
    expect(early.length).toBeGreaterThan(0);
  });

  it('moves the filings by whole quarters, so that the newest is less than four months old', () => {
    for (const hour of [SAMPLE_AS_OF, '2027-02-20T00:00:00Z', LATER, '2031-08-31T12:00:00Z']) {
      const [, text] = sampleFilings(hour);
      const [header, ...rows] = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      for (const row of rows) {
        const { error } = storedFilingRowSchema.safeParse({ ...header.header, ...row });
        expect(error?.issues ?? []).toEqual([]);
      }
      const days = rows.flatMap(({ filing_date }) => filing_date ?? []).sort();
      const age = (Date.parse(hour) - Date.parse(days.at(-1))) / 86_400_000;
      expect([hour, age >= 0 && age < 120]).toEqual([hour, true]);
    }
  });
});

describe('writeSample()', () => {
  const files = new Map([
    ['2026-11-20/a.ndjson', '{"header":{"grade":"sample data: generated, not observed"}}\n'],
  ]);
  const later = new Map([['2026-11-21/a.ndjson', [...files.values()][0] ?? '']]);

  it('replaces the sample of another hour, and leaves readings of others where they are', () => {
    const root = join(makeFolder(), 'new');
    writeSample(root, files);
    mkdirSync(join(root, '2026-11-19'));
    writeFileSync(join(root, '2026-11-19/own.ndjson'), '{"entity":"own"}\n');
    writeSample(root, later);
    expect(readdirSync(root).sort()).toEqual(['2026-11-19', '2026-11-21']);
    expect(readFileSync(join(root, '2026-11-19/own.ndjson'), 'utf8')).toContain('own');
  });

  it('refuses to replace a file that is no sample, and writes nothing', () => {
    const root = makeFolder();
    mkdirSync(join(root, '2026-11-20'));
    writeFileSync(join(root, '2026-11-20/a.ndjson'), '{"entity":"own"}\n');
    const both = new Map([...later, ...files]);
    expect(() => writeSample(root, both)).toThrow(
      /Cannot write sample into .*"2026-11-20\/a.ndjson" is there and is no sample/,
    );
    expect(readdirSync(root)).toEqual(['2026-11-20']);
  });
});
