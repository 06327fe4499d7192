import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import { rosterCore, rosterKindOf } from '../../compiler/contract/collections.ts';
import { leafHash, verifyInclusion } from '../../compiler/contract/merkle.ts';
import { type ChainState, chainLink, type SeriesRow } from '../../compiler/contract/series.ts';
import { canonicalHash } from '../../compiler/verify/body-check.ts';
import { judgeNote } from '../../compiler/verify/log-notes.ts';
import { hasPython, VERIFY_RECORD } from '../verify/python-judge.ts';

const FOLDER = join(import.meta.dirname, '../vectors');

interface Row {
  readonly comment: string;
  readonly input: never;
  readonly want?: unknown;
  readonly error?: string;
}

function rowsOf(name: string): [string, Row][] {
  const rows = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Row[];
  return rows.map((row) => [row.comment, row]);
}

/** What the contract makes of a row; throws for what it refuses. */
const MADE: Readonly<Record<string, (input: never) => unknown>> = {
  'roster-core.json'(row: Readonly<Record<string, unknown>>) {
    const kind = rosterKindOf(row);
    if (kind === null) throw new TypeError('no row of a roster: source_tier');
    const core = rosterCore(kind, row);
    return { kind, core: canonicalJson(core), record_hash: canonicalHash(core) };
  },
  'series-chain.json'({ before, rows, end }: SeriesInput) {
    const states: ChainState[] = [];
    for (const row of rows) {
      const state = states.at(-1) ?? before;
      const chain = canonicalHash(chainLink(state, row));
      states.push({ rows: state.rows + 1, snapshot_date: row.snapshot_date, chain });
    }
    const leads = end === undefined || canonicalJson(states.at(-1)) === canonicalJson(end);
    if (!leads) throw new RangeError('the chain leads elsewhere');
    return { states };
  },
  'merkle.json'({ entry, index, size, proof, root }: MerkleInput) {
    const leaf = leafHash(utf8ToBytes(entry), sha256);
    const claim = { index, size, leaf, proof: proof.map(hexToBytes), root: hexToBytes(root) };
    if (!verifyInclusion(claim, sha256)) throw new RangeError('no proof of inclusion');
    return { leaf: bytesToHex(leaf) };
  },
  'checkpoint.json'({ note, issuer }: { note: string; issuer: string }) {
    const { checkpoint } = judgeNote(note, [issuer]);
    if (checkpoint === null) throw new RangeError('no checkpoint of this issuer');
    return { ...checkpoint, root: bytesToHex(checkpoint.root) };
  },
};

interface SeriesInput {
  readonly before: ChainState;
  readonly rows: readonly SeriesRow[];
  readonly end?: ChainState;
}

interface MerkleInput {
  readonly entry: string;
  readonly index: number;
  readonly size: number;
  readonly proof: readonly string[];
  readonly root: string;
}

describe.each(Object.entries(MADE))('the contract agrees with %s', (name, made) => {
  it.each(rowsOf(name))('I30: %s', (_, { input, want, error }) => {
    if (error === undefined) expect(made(input)).toEqual(want);
    else expect(() => made(input)).toThrow(error);
  });
});

describe.skipIf(!hasPython)('verify_record.py (skipped without python3)', () => {
  it('I30: agrees with every vector file', () => {
    const { status, stdout } = spawnSync('python3', [VERIFY_RECORD, '--vectors', FOLDER], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d{2,} vectors, 0 differ\n$/)]);
  });
});
