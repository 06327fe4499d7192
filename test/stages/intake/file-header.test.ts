import { afterAll, describe, expect, it } from 'vitest';
import { HeaderFaults } from '../../../compiler/stages/intake/file-header.ts';
import {
  compileFolder,
  compileProblems,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

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
    const told = { ...LATE, field: 'header.observed_at', line: 1 };
    expect(header.placed([LATE], line)).toEqual([isOfHeader ? told : LATE]);
    expect(header.placed([LATE], line)).toEqual(isOfHeader ? [] : [LATE]);
  });

  const lines = Array.from({ length: 20 }, (_, at) => ({
    ...OWN,
    entity: `coin-${at}`,
    collected_at: at === 7 || at === 9 ? '2026-11-20T09:00:00Z' : collected_at,
  }));
  const files = { [SPOT]: ndjson([{ header: { observed_at } }, ...lines]) };

  it('leaves a line its own time of collection, wherever the other time stands', async () => {
    const problems = await compileProblems(files);
    expect(problems.map(({ line, field }) => [line, field])).toEqual([
      [9, 'observed_at'],
      [11, 'observed_at'],
    ]);
    const { release } = await compileFolder(writeSnapshots(files), { maxRejectsPpm: 200_000 });
    expect(release.counts.readings).toBe(18);
  });
});
