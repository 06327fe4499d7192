import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../../scripts/campaign-flips.ts';
import { byteClasses } from '../../scripts/flip-campaign/byte-classes.ts';
import { runFlips } from '../../scripts/flip-campaign/run-flips.ts';
import { runHarms } from '../../scripts/flip-campaign/run-harms.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../snapshot-folder.ts';

let release: { data: string; root: string; did: string };
beforeAll(async () => {
  const snapshots = writeSnapshots({
    '2026-11-20/crypto.spot.ndjson': ndjson([reading('btc', { price_usd: 90_123.5 })]),
  });
  const { data } = await compileFolder(snapshots);
  const made = await compileFolder(snapshots, { data, asOf: '2026-11-21T12:00:00Z' });
  release = { data, root: made.folder, did: made.release.issuer_did };
});
afterAll(removeFolders);

describe('I24: the flip campaign, its short form', () => {
  it('I24: runFlips() finds one changed byte of each class in every file named, and no other', async () => {
    const result = await runFlips(release, { random: seeded(24), own: 20 });
    expect(result.wrong).toEqual([]);
    expect(result.flips).toBeGreaterThan(100);
    expect(Object.keys(result.byClass)).toEqual(
      expect.arrayContaining(['signature', 'hash', 'key', 'digit', 'letter', 'structure', 'head']),
    );
  });

  it('I24: runHarms() finds what is swapped, dropped, added and replayed named', async () => {
    const result = await runHarms({ ...release, random: seeded(24), rounds: 3 });
    expect(result.wrong).toEqual([]);
  });

  it('runFlips() tells a file that is not named, when nobody vouches for the head', async () => {
    const stranger = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
    const options = { random: seeded(24), own: 0, classes: ['digit' as const] };
    expect((await runFlips({ ...release, did: stranger }, options)).wrong).toContain(
      'release.json',
    );
  });
});

describe('byteClasses()', () => {
  it('puts each byte into one class', () => {
    const text = `{"a_b": "x1", "signature": "Q-8", "h": "${'0a'.repeat(32)}"}`;
    const classes = byteClasses(Buffer.from(text));
    const all = [...classes.values()].flat().sort((a, b) => a - b);
    expect(all).toEqual(Array.from(text, (_, at) => at));
    expect(classes.get('hash')).toHaveLength(64);
    expect(classes.get('signature')).toHaveLength(3);
    expect(classes.get('key')?.[0]).toBe(2);
  });
});
