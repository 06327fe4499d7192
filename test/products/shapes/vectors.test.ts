import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import { leafHash, verifyInclusion } from '../../../compiler/format/merkle.ts';
import { rosterCore, rosterKindOf } from '../../../compiler/products/collections.ts';
import {
  type ChainState,
  chainLink,
  type SeriesRow,
} from '../../../compiler/products/shapes/series.ts';
import { canonicalHash } from '../../../compiler/verify/body-check.ts';
import { judgeNote } from '../../../compiler/verify/log-notes.ts';
import { hasPython, PYTHON_JUDGE } from '../../verify/python-judge.ts';

const FOLDER = join(import.meta.dirname, '../../vectors');

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

/** Compares each row of the vector files that are of the core; prints the comments of those that differ. */
const PROGRAM = `
import base64, json, sys
sys.path.insert(0, sys.argv[2])
import signalpress_verify as judge
def record(item):
    core = judge.core_of(item)
    return {"core": judge.canonical(core), "record_hash": judge.hash_of(core)} if core else None
def merkle(given):
    leaf = judge.sha256(b"\\0" + given["entry"].encode("ascii"))
    hashes = [bytes.fromhex(text) for text in given["proof"]]
    is_led = judge.leads_to(bytes.fromhex(given["root"]), leaf, given["index"], given["size"], hashes)
    return {"leaf": leaf.hex()} if is_led else None
def series(given):
    states = [given["before"]]
    for row in given["rows"]:
        before = states[-1]
        states.append({"rows": before["rows"] + 1, "snapshot_date": row["snapshot_date"], "chain": judge.hash_of([before, row])})
    return {"states": states[1:]} if "end" not in given or judge.is_same(states[-1], given["end"]) else None
def checkpoint(given):
    note = judge.read_note(given["note"])
    origin, size, root = judge.stated_tree(note.text)
    judge.checkpoint_signers(note, origin, given["issuer"], judge.Reader([given["issuer"]], 0))
    return {"origin": origin, "size": size, "root": root.hex()}
def roster(row):
    kind = next((kind for kind, names in judge.CORES.items() if all(name in row for name in names)), None)
    return dict(record(row), kind=kind) if kind else None
VECTORS = {"series-chain.json": series, "checkpoint.json": checkpoint, "roster-core.json": roster, "canonical.json": lambda text: judge.canonical(judge.parse(text.encode("utf-8"))), "merkle.json": merkle, "record-hash.json": record}
off, count = [], 0
for name, compute in VECTORS.items():
    for row in json.load(open("%s/%s" % (sys.argv[1], name), encoding="utf-8")):
        count += 1
        try:
            made = compute(row["input"])
        except (judge.Refused,) + judge.MALFORMED:
            made = None
        if made != row.get("want"): off.append(row["comment"])
print(json.dumps({"count": count, "off": off}))
`;

describe.skipIf(!hasPython)('signalpress_verify.py (skipped without python3)', () => {
  it('I30: agrees with the vector files of the core', () => {
    const args = ['-c', PROGRAM, FOLDER, dirname(PYTHON_JUDGE)];
    const { stdout } = spawnSync('python3', args, { encoding: 'utf8' });
    const { count, off } = JSON.parse(stdout);
    expect(off).toEqual([]);
    expect(count).toBeGreaterThan(60);
  });
});
