import { describe, expect, it } from 'vitest';
import { requestText } from '../../../compiler/stages/describe/examples.ts';
import { builtinOperation } from '../../builtin-rows.ts';

const HASH = `sha256:${'0a'.repeat(32)}`;

describe('requestText()', () => {
  it('puts a value into the path or the query, where the table has it', () => {
    const look = builtinOperation('/v/:record_hash');
    expect(requestText(look, { record_hash: HASH })).toBe(`/v/${HASH}`);
    const values = { signal_id: 'crypto.spot', entity: 'btc' };
    expect(requestText(builtinOperation('/gauge'), values)).toBe(
      '/gauge?entity=btc&signal_id=crypto.spot',
    );
  });

  it('refuses a path that a value is missing in', () => {
    const look = builtinOperation('/proof/:record_hash');
    expect(() => requestText(look, { hash: HASH })).toThrow(
      'Cannot ask "/proof/:record_hash": no value for "record_hash"',
    );
    expect(requestText(look, { record_hash: HASH })).toBe(`/proof/${HASH}`);
  });
});
