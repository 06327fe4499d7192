import { describe, expect, it } from 'vitest';
import { formatFileMarks, parseFileMarks } from '../../compiler/jobs/chunk-builder.ts';
import { sha256Text } from '../sha256-text.ts';

const RECORD = 'record/crypto.spot/btc.json';
const record_hash = `sha256:${sha256Text('record')}`;

describe('formatSaid(), parseFileMarks()', () => {
  it('remembers the paths of an entity, and how the hash of each citation begins', () => {
    const text = formatFileMarks([
      { path: RECORD, record_hash },
      { path: 'thin/calibrated/crypto.spot/btc.json', record_hash },
      { path: 'free/raw/crypto.spot/btc.json', record_hash: undefined },
    ]);
    const known = `${record_hash.slice(0, 'sha256:'.length + 8)}${'*'.repeat(56)}`;
    expect(text).not.toMatch(/\s/);
    expect(parseFileMarks(RECORD, text)).toEqual([
      { path: RECORD, record_hash: known },
      { path: 'thin/calibrated/crypto.spot/btc.json', record_hash: known },
      { path: 'free/raw/crypto.spot/btc.json', record_hash: undefined },
    ]);
  });

  it('refuses a file that is not by its entity', () => {
    const other = { path: 'record/crypto.spot/eth.json', record_hash };
    expect(() => formatFileMarks([{ path: RECORD, record_hash }, other])).toThrow(RangeError);
  });
});
