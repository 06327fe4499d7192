import { hash } from 'node:crypto';
import { logOrigin } from '../../../compiler/format/checkpoint.ts';
import { keyIdOf } from '../../../compiler/format/citation.ts';
import {
  firstHistory,
  formatKeyHistory,
  historyOf,
  type KeyHistory,
  type Revocation,
  type Rotation,
} from '../../../compiler/format/key-history.ts';
import { CONTRACT_VERSION, type Release } from '../../../compiler/format/release.ts';
import { type ReleaseEntry, releaseEntryBytes } from '../../../compiler/format/release-entry.ts';
import { signCheckpoint } from '../../../compiler/publish/log/continue-log.ts';
import { appendEntries, rootOf, type TreeEdge } from '../../../compiler/release/log-tree.ts';
import { jcs } from '../../../compiler/system/jcs.ts';
import { issuerDid, makeSealer, signingKey } from '../../../compiler/system/sealer.ts';
import { canonicalHash } from '../../../compiler/verify/body-check.ts';
import type { Fetch } from '../../../compiler/verify/monitor/log-client.ts';

export const BASE_URL = 'https://shop.example';
export const SEED = 7;
export const DID = didOfSeed(SEED);

export function didOfSeed(seed: number): string {
  return issuerDid(signingKey(new Uint8Array(32).fill(seed)));
}

/** What an address answers at a path; null for nothing there. */
export type Files = Map<string, Buffer | Uint8Array | string | null>;

/** A service in memory that publishes releases, each with its entry in the log. */
export interface Published {
  readonly head: Release;
  readonly text: string;
  /** Files of the log by their paths. */
  readonly log: ReadonlyMap<string, Uint8Array | string>;
  readonly edge: TreeEdge;
}

/** Distinct record hashes from a number on. */
export function hashes(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    return `sha256:${hash('sha256', `record ${from + at}`, 'hex')}`;
  });
}

/** The entry of a head. */
export function entryOf(head: Release): ReleaseEntry {
  const { as_of, sequence, valid_until = null } = head;
  const tree = { count: 1, root: `sha256:${'1'.repeat(64)}` };
  return { all: tree, as_of, head: canonicalHash(head), new: tree, sequence, valid_until };
}

/** The signed note of a log, by the key of a seed. */
export function noteOf(edge: TreeEdge, seed: number): string {
  const key = signingKey(new Uint8Array(32).fill(seed));
  const did = issuerDid(key);
  const issuer = { name: 'Test issuer', did, keyId: keyIdOf(did), baseUrl: BASE_URL };
  const signed = { origin: logOrigin(BASE_URL), size: edge.size, root: rootOf(edge) };
  return signCheckpoint(signed, makeSealer(issuer, key));
}

/** A head with these members, signed with the key of a seed. */
export function signedHeadText(members: Partial<Release>, seed = SEED): string {
  const key = signingKey(new Uint8Array(32).fill(seed));
  const did = issuerDid(key);
  const hash = `sha256:${'0'.repeat(64)}`;
  const counts = { readings: 1, entities: 1, records: 1, bundles: 0, revisions: 0, repeats: 0 };
  const unsigned = {
    format: 'signalpress-release/1' as const,
    contract_version: CONTRACT_VERSION,
    sequence: 1,
    as_of: '2026-11-20T12:00:00Z',
    base_url: BASE_URL,
    issuer_name: 'Test issuer',
    issuer_did: did,
    key_id: keyIdOf(did),
    table_digest: hash,
    files_sha256: hash,
    files_count: 1,
    previous: null,
    counts,
    ...members,
  };
  const issuer = { name: 'Test issuer', did, keyId: keyIdOf(did), baseUrl: BASE_URL };
  const signature = makeSealer(issuer, key).signText(jcs(unsigned));
  return `${JSON.stringify({ ...unsigned, signature }, null, 2)}\n`;
}

/** The statement by which the key of a seed announces that of another one, with these times in place of the usual ones. */
export function rotation(
  from: number,
  to: number,
  times: Partial<Pick<Rotation, 'stated_at' | 'valid_from' | 'overlap_until'>> = {},
): Rotation {
  const key = signingKey(new Uint8Array(32).fill(from));
  const did = issuerDid(key);
  const unsigned = {
    type: 'rotation' as const,
    old_did: did,
    new_did: didOfSeed(to),
    stated_at: '2026-11-20T12:00:00Z',
    valid_from: '2026-11-20T12:30:00Z',
    overlap_until: '2027-11-20T12:00:00Z',
    ...times,
  };
  const issuer = { name: 'Test issuer', did, keyId: keyIdOf(did), baseUrl: BASE_URL };
  const signature = makeSealer(issuer, key).signText(jcs(unsigned));
  return { ...unsigned, signature };
}

/** The statement by which the key of a seed revokes itself from the first day on. */
export function revocation(seed: number): Revocation {
  const key = signingKey(new Uint8Array(32).fill(seed));
  const did = issuerDid(key);
  const unsigned = {
    type: 'revocation' as const,
    did,
    revoked_from: '2026-11-20T10:00:00Z',
    stated_at: '2026-11-22T12:00:00Z',
    signed_by: did,
  };
  const issuer = { name: 'Test issuer', did, keyId: keyIdOf(did), baseUrl: BASE_URL };
  const signature = makeSealer(issuer, key).signText(jcs(unsigned));
  return { ...unsigned, signature };
}

/** The list of keys of these statements. */
export function keysOf(rotations: readonly Rotation[]): KeyHistory {
  return historyOf(DID, rotations, []);
}

interface Publish {
  readonly as_of: string;
  /** What the release took in: another number makes another history of the log. */
  readonly taken?: number;
  readonly head?: Partial<Release>;
  readonly seed?: number;
  /** Members in place of those that the entry of the head has. */
  readonly entry?: Partial<ReleaseEntry>;
  /** An entry in place of that of the head. */
  readonly bytes?: Uint8Array;
}

/** The release after another one, as an honest compile makes it, and with the lies that are asked for. */
export function publish(
  before: Published | null,
  { as_of, taken = 0, head = {}, seed = SEED, entry = {}, bytes }: Publish,
): Published {
  const previous = before === null ? null : canonicalHash(before.head);
  const sequence = (before?.head.sequence ?? 0) + 1;
  const text = signedHeadText({ sequence, as_of, previous, ...head }, seed);
  const parsed = JSON.parse(text) as Release;
  const edge = structuredClone(before?.edge ?? { size: 0, rows: [], bundle: [] });
  const [root = ''] = hashes(taken, 1);
  const made = { ...entryOf(parsed), new: { count: 1, root }, ...entry };
  const own = bytes ?? releaseEntryBytes(made);
  const files = new Map<string, Uint8Array | string>(before?.log);
  for (const [path, content] of appendEntries(edge, [own])) files.set(path, content);
  files.set('log/checkpoint', noteOf(edge, seed));
  return { head: parsed, text, log: files, edge };
}

/** Releases an hour apart, from a time on. */
export function publishHours(count: number, start = '2026-11-20T12:00:00Z'): Published[] {
  const releases: Published[] = [];
  for (let hour = 0; hour < count; hour += 1) {
    const as_of = new Date(Date.parse(start) + hour * 3_600_000)
      .toISOString()
      .replace('.000Z', 'Z');
    releases.push(publish(releases.at(-1) ?? null, { as_of }));
  }
  return releases;
}

/** The files that a service shows of a release. */
export function filesOf(
  { text, log }: Published,
  keys = formatKeyHistory(firstHistory(DID)),
): Files {
  const files: Files = new Map([...log].map(([path, bytes]) => [`/${path}`, bytes]));
  files.set('/.well-known/release.json', text);
  files.set('/.well-known/keys.json', keys);
  return files;
}

/** Answers from the files of each address; `asked` counts. */
export class Network {
  readonly sites = new Map<string, Files>();
  /** Answers in place of files, by whole address. */
  readonly odd = new Map<string, () => Promise<Response>>();
  asked = 0;

  readonly fetch: Fetch = async (url, { signal }) => {
    this.asked += 1;
    signal?.throwIfAborted();
    const odd = this.odd.get(url);
    if (odd !== undefined) return odd();
    const site = [...this.sites.keys()].find((address) => url.startsWith(`${address}/`));
    if (site === undefined)
      throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
    const content = this.sites.get(site)?.get(url.slice(site.length)) ?? null;
    if (content === null) return new Response('nothing here', { status: 404 });
    return new Response(typeof content === 'string' ? content : Buffer.from(content));
  };
}
