import { describe, expect, it } from 'vitest';
import { CATALOG_PATH } from '../../../compiler/contract/release.ts';
import { FOR_EVERYBODY } from '../../../gatekeeper/http/cost.ts';
import { storedLines } from '../../../gatekeeper/release/stored-lines.ts';
import { tinyService } from '../tiny-service.ts';

describe('storedLines()', () => {
  it('gives every line of a list without its end', async () => {
    const { release } = await tinyService();
    const lines = [...(await storedLines(CATALOG_PATH, { release, spend: FOR_EVERYBODY }))];
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(line).toMatch(/^\[.*\]$/);
  });

  it('gives none of a list that the release does not have', async () => {
    const { release } = await tinyService();
    expect(await storedLines('index/nothing.txt', { release, spend: FOR_EVERYBODY })).toEqual([]);
  });
});
