import { hash, type KeyObject } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkpointText, formatNote, noteKeyHash } from '../../compiler/format/checkpoint.ts';
import { citationSchema, citedTarget, keyIdOf } from '../../compiler/format/citation.ts';
import { parseDidKey } from '../../compiler/format/did-key.ts';
import {
  historyOf,
  type KeyHistory,
  type Revocation,
  type Rotation,
  statementBytes,
} from '../../compiler/format/key-history.ts';
import {
  completeLevels,
  inclusionRanges,
  leafHash,
  rangeHash,
} from '../../compiler/format/merkle.ts';
import { releaseName } from '../../compiler/format/release.ts';
import {
  type ReleaseEntry,
  releaseEntryBytes,
  takenLeaf,
} from '../../compiler/format/release-entry.ts';
import { statementLeaf } from '../../compiler/format/statement-tree.ts';
import type { JsonObject } from '../../compiler/format/strict-json.ts';
import { encodeBundle, tilePath } from '../../compiler/format/tiles.ts';
import { formatTlogProof } from '../../compiler/format/tlog-proof.ts';
import { formatProofExtra } from '../../compiler/products/shapes/body-proof.ts';
import { issuerDid, makeSealer, signBytes, signingKey } from '../../compiler/system/sealer.ts';
import { seed } from '../seeded-keys.ts';

// Bodies, releases and a log of one issuer, made by the core alone: nothing is compiled. A key is named by its seed.

export const BASE = 'https://readings.example';
const ORIGIN = 'readings.example/log';

export const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer');
export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
export const noon = (day: number): string => `2026-11-${String(day).padStart(2, '0')}T12:00:00Z`;
const keyOf = (fill: number): KeyObject => signingKey(seed(fill));

/** A tree of leaf hashes, and the path of each. */
export class Tree {
  readonly #levels: readonly (readonly Uint8Array[])[];
  readonly size: number;

  constructor(leaves: readonly Uint8Array[]) {
    this.size = leaves.length;
    this.#levels = completeLevels(leaves, sha256);
  }

  root(size = this.size): Uint8Array {
    return rangeHash({ start: 0, end: size }, this.#levels, sha256);
  }

  path(index: number, size = this.size): Uint8Array[] {
    return inclusionRanges(index, size).map((range) => rangeHash(range, this.#levels, sha256));
  }
}

/** A body that a key signed, of a reading that was collected on a day. */
export function signedBody(
  fill: number,
  {
    entity = 'btc',
    day = 5,
    observed_at = noon(day),
    words = 'a price',
    base = BASE,
  }: { entity?: string; day?: number; observed_at?: string; words?: string; base?: string } = {},
): JsonObject {
  const did = issuerDid(keyOf(fill));
  const by = { name: 'Readings', did, keyId: keyIdOf(did), baseUrl: base };
  const content = { signal_id: 'crypto.spot', entity, observed_at, words };
  return makeSealer(by, keyOf(fill)).seal(content, {
    claim: 'A price',
    fact: words,
    target: `/gauge?entity=${entity}&signal_id=crypto.spot`,
    observed_at,
    retrieved_at: observed_at,
  }) as unknown as JsonObject;
}

const hashText = (text: string): string => `sha256:${hash('sha256', text, 'hex')}`;

/** A release: what answers each request, and what it took in. */
export class Release {
  readonly entry: ReleaseEntry;
  readonly #statements: readonly { readonly target: string; readonly statement: string }[];
  readonly #tree: Tree;
  readonly taken: readonly string[];
  readonly takenTree: Tree;

  constructor(bodies: readonly JsonObject[], sequence: number, as_of: string) {
    this.#statements = bodies
      .map(({ _citation }) => {
        const cited = citationSchema.parse(_citation);
        return { target: citedTarget(cited) ?? '', statement: cited.record_hash };
      })
      .sort((a, b) => (a.target < b.target ? -1 : 1));
    this.#tree = new Tree(
      this.#statements.map(({ target, statement }) => statementLeaf(target, statement, sha256)),
    );
    this.taken = [1, 2, 3].map((at) => hashText(`${sequence} ${at}`)).sort();
    this.takenTree = new Tree(this.taken.map((one) => takenLeaf(one, sha256)));
    const headOf = ({ root, size }: { root: Uint8Array; size: number }) => ({
      count: size,
      root: `sha256:${hex(root)}`,
    });
    this.entry = {
      all: headOf({ root: this.#tree.root(), size: this.#tree.size }),
      as_of,
      head: hashText(`head ${sequence}`),
      new: headOf({ root: this.takenTree.root(), size: this.takenTree.size }),
      sequence,
      valid_until: null,
    };
  }

  /** Its `extra` for a body, or for the one that answers the same request. */
  extra(body: JsonObject): Uint8Array {
    const asked = citedTarget(citationSchema.parse(body._citation));
    const index = this.#statements.findIndex(({ target }) => target === asked);
    const hashes = this.#tree.path(index);
    return formatProofExtra({ entryBytes: releaseEntryBytes(this.entry), index, hashes });
  }
}

interface Checkpoint {
  /** How many entries it has; all of the log by default. */
  readonly size?: number;
  readonly signers: readonly number[];
  readonly change?: (note: string) => string;
}

export class Log {
  readonly entries: Uint8Array[] = [];
  readonly releases: Release[] = [];
  readonly #origin: string;

  constructor(origin = ORIGIN) {
    this.#origin = origin;
  }

  add(bodies: readonly JsonObject[], as_of: string, sequence = this.releases.length + 1): Release {
    const release = new Release(bodies, sequence, as_of);
    this.releases.push(release);
    this.entries.push(releaseEntryBytes(release.entry));
    return release;
  }

  get tree(): Tree {
    return new Tree(this.entries.map((entry) => leafHash(entry, sha256)));
  }

  note({ size = this.entries.length, signers, change = (note) => note }: Checkpoint): string {
    const name = this.#origin;
    const text = checkpointText({ origin: name, size, root: this.tree.root(size) });
    const signatures = signers.map((fill) => ({
      name,
      keyHash: noteKeyHash(name, parseDidKey(issuerDid(keyOf(fill))), sha256),
      signature: Buffer.from(signBytes(Buffer.from(text), keyOf(fill)), 'base64url'),
    }));
    return change(formatNote({ text, signatures }));
  }

  /** A body with the proof of a release, by a checkpoint of some size. */
  proven(body: JsonObject, release: Release, checkpoint: Checkpoint): JsonObject {
    const index = this.releases.indexOf(release);
    const { size = this.entries.length } = checkpoint;
    const hashes = this.tree.path(index, size);
    const extra = release.extra(body);
    const proof = { index, hashes, checkpoint: this.note(checkpoint), extra };
    return { ...body, _proof: formatTlogProof(proof) };
  }

  /** The answer of `/gauge/anchor?hash=` for a hash that a release took in. */
  answer(release: Release, at: number, checkpoint: Checkpoint): JsonObject {
    const { size = this.entries.length } = checkpoint;
    const entry_index = this.releases.indexOf(release);
    return {
      endpoint: 'gauge/anchor',
      hash: release.taken[at] ?? '',
      found: true,
      batch: releaseName(release.entry),
      index: at,
      inclusion_proof: release.takenTree.path(at).map(hex),
      root: release.entry.new.root,
      entry: { ...release.entry },
      entry_index,
      entry_proof: this.tree.path(entry_index, size).map(hex),
      log_root: hex(this.tree.root(size)),
      checkpoint: this.note(checkpoint),
      note: 'words',
    };
  }

  /** Writes it into a folder, as it stands beside the releases. */
  write(folder: string, checkpoint: Checkpoint): void {
    const width = checkpoint.size ?? this.entries.length;
    const entries = this.entries.slice(0, width);
    const hashes = entries.map((entry) => leafHash(entry, sha256));
    const files = {
      'log/checkpoint': this.note(checkpoint),
      [tilePath({ level: 0, index: 0, width })]: Buffer.concat(hashes),
      [tilePath({ level: 'entries', index: 0, width })]: encodeBundle(entries),
    };
    rmSync(join(folder, 'log'), { recursive: true, force: true });
    for (const [path, bytes] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
  }
}

/** Keys that follow one another, each from a time on, while the one before it ends; `revoked` is of the first. */
export function listOf(
  fills: readonly number[],
  windows: { from: string; until: string } | readonly { from: string; until: string }[],
  revoked?: string,
): KeyHistory {
  const dids = fills.map((fill) => issuerDid(keyOf(fill)));
  const [root = ''] = dids;
  const rotations = [windows].flat().map(({ from, until }, at) => {
    const [old_did = '', new_did = ''] = dids.slice(at);
    const times = { stated_at: from, valid_from: from, overlap_until: until };
    const rotation = { type: 'rotation', old_did, new_did, ...times, signature: '' } as const;
    return signed<Rotation>(rotation, fills[at] ?? 0);
  });
  if (revoked === undefined) return historyOf(root, rotations, []);
  const [{ overlap_until: stated_at = '' } = {}] = rotations;
  const by = { did: root, signed_by: dids[1] ?? '' };
  const times = { revoked_from: revoked, stated_at };
  const revocation = { type: 'revocation', ...by, ...times, signature: '' } as const;
  return historyOf(root, rotations, [signed<Revocation>(revocation, fills[1] ?? 0)]);
}

function signed<T extends Rotation | Revocation>(statement: T, fill: number): T {
  const signature = signBytes(Buffer.from(statementBytes(statement)), keyOf(fill));
  return { ...statement, signature };
}
