import { describe, expect, it } from 'vitest';
import { batchTimes } from '../../../compiler/stages/intake/list-snapshots.ts';

const AS_OF = '2026-11-20T13:00:00Z';

describe('batchTimes()', () => {
  it.each([
    ['2026-11-20T12Z', '2026-11-20T11:00:00Z', '2026-11-20T10:59:59Z'],
    ['2026-11-20', '2026-11-19T23:55:00Z', '2026-11-19T23:54:59Z'],
  ])('lets a line of %s be collected at %s, and no earlier', (batch, first, before) => {
    const judge = batchTimes(AS_OF, batch);
    expect(judge(first)).toBeNull();
    expect(judge(before)).toMatchObject({ stops: null });
  });
});
