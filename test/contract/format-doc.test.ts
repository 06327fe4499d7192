import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../compiler/contract/canonical.ts';
import {
  CITATION_SEAL_FIELDS,
  citationSchema,
  citationStatement,
  contentOf,
  REQUEST_TIME_FIELDS,
} from '../../compiler/contract/citation.ts';
import {
  COLLECTIONS,
  isRosterKind,
  rosterCore,
  rosterCoreFields,
  rosterKindOf,
} from '../../compiler/contract/collections.ts';
import {
  historyOf,
  type Rotation,
  readKeyHistory,
  statementBytes,
} from '../../compiler/contract/key-history.ts';
import { verifyInclusion } from '../../compiler/contract/merkle.ts';
import { CORE_FIELDS, hashCore, SOURCE_CORE_FIELDS } from '../../compiler/contract/record-hash.ts';
import {
  CONTRACT_VERSION,
  formatCatalogRow,
  formatVerifyEntry,
  releaseSchema,
} from '../../compiler/contract/release.ts';
import {
  CHAIN_ORIGIN,
  type ChainState,
  chainLink,
  SERIES_COLUMNS,
  type SeriesRow,
} from '../../compiler/contract/series.ts';
import { parseJson } from '../../compiler/contract/strict-json.ts';
import { issuerDid, signingKey } from '../../compiler/stages/seal/sealer.ts';
import { verifyBody } from '../../compiler/verify/verify-body.ts';
import { isSignedBy } from '../../compiler/verify/verify-citation.ts';

const TEXT = readFileSync(new URL('../../compiler/contract/FORMAT.md', import.meta.url), 'utf8');
/** Words, since lines can be made longer. */
const WORDS_MAX = 7300;

const sections = new Map(
  TEXT.split(/^## /m).map((part) => [part.slice(0, part.indexOf('\n')), part] as const),
);
const section = (title: string): string => sections.get(title) ?? '';
const words = (text: string): string[] =>
  [...text.matchAll(/`([A-Za-z0-9_]+)`/g)].map((match) => match[1] ?? '');

const example = section('1. Worked example');
const [delivered = '', core = '', content = '', statement = ''] = [
  ...example.matchAll(/```json\n(.*)\n```/g),
].map((match) => match[1] ?? '');
const hashes = [...example.matchAll(/^`(sha256:[0-9a-f]{64})`$/gm)].map((match) => match[1]);
const did = /`(did:key:\w+)`/.exec(example)?.[1] ?? '';
const seed = /`([0-9a-f]{64})`/.exec(example)?.[1] ?? '';
const [, signature = '', pem = ''] = /```text\n([^\n]+)\n([^`]+)```/.exec(example) ?? [];

type Body = Parameters<typeof hashCore>[0] & { record_hash: string; _citation: unknown };
const body = parseJson(delivered) as unknown as Body;
const citation = citationSchema.parse(body._citation);
const sha256 = (text: string): string =>
  `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;

describe('FORMAT.md', () => {
  it('I28: shows a rotation that the key of section 1 signed, with the members of the schema', () => {
    const keys = section('10. Issuer keys');
    const [, text = '', signed = ''] = /```json\n(.*)\n```\n`([\w-]+)`/.exec(keys) ?? [];
    const statement = parseJson(text) as unknown as Omit<Rotation, 'signature'>;
    const full = { ...statement, signature: signed };
    expect(Buffer.from(statementBytes(full)).toString()).toBe(text);
    const history = historyOf(statement.old_did, [full], []);
    expect(readKeyHistory(history, isSignedBy)).toEqual(history);
    expect(statement.old_did).toBe(did);
    const named = new Set(words(keys));
    for (const member of [...Object.keys(history.keys[0] ?? {}), ...Object.keys(full)]) {
      expect([
        member,
        named.has(member) || keys.includes(`${member},`) || keys.includes(`${member}}`),
      ]).toEqual([member, true]);
    }
  });

  it('stays short and speaks of no machine', () => {
    expect(TEXT.split(/\s+/).length).toBeLessThanOrEqual(WORDS_MAX);
    expect(TEXT).not.toMatch(/\/(home|tmp|work|root)\//);
  });

  it('lists the members of each roster core as COLLECTIONS does', () => {
    const items = section('3. Record hash (core v3)').split(/^- /m).slice(1);
    const listed = items.map((item) => {
      const [kind = '', text = ''] = item.split(/\n\n/, 1)[0]?.split(/: (.*)/s) ?? [];
      return [kind, words(text)];
    });
    const kinds = COLLECTIONS.map(({ id }) => id).filter(isRosterKind);
    const cores = kinds.map((kind) => {
      const { fields, demand_v1_fields = [] } = rosterCoreFields(kind);
      return [kind, [...fields.slice(1), ...demand_v1_fields]];
    });
    expect(listed).toEqual(cores);
  });

  it('lists the members of the hash core as CORE_FIELDS does', () => {
    const rows = [...section('3. Record hash (core v3)').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)];
    expect(rows.map((row) => row[1])).toEqual([...CORE_FIELDS]);
    const sources = rows.find((row) => row[1] === 'sources')?.[2] ?? '';
    expect(words(sources)).toEqual([...SOURCE_CORE_FIELDS]);
  });

  it('lists the request-time members and the members of a citation', () => {
    expect(words(section('4. Content hash'))).toEqual(
      expect.arrayContaining(Object.entries(REQUEST_TIME_FIELDS).flat(2)),
    );
    const named = new Set(words(section('7. Citation')));
    for (const name of CITATION_SEAL_FIELDS) expect(named).toContain(name);
    for (const name of Object.keys(citationStatement(citation))) {
      expect(section('7. Citation')).toMatch(new RegExp(`\`${name}\\b`));
    }
  });

  it('lists the members of a release head and of the lines beside it', () => {
    const release = section('8. Release');
    for (const name of Object.keys(releaseSchema.shape)) expect(release).toMatch(`\`${name}`);
    const entry = {
      record_hash: 'record_hash',
      kind: 'kind',
      file: 'file',
      signal_id: 'signal_id',
      entity: 'entity',
      observed_at: 'observed_at',
    } as unknown as Parameters<typeof formatVerifyEntry>[0] & { signal_id: string };
    const row = {
      ...entry,
      entity_name: 'entity_name',
      band: 'band',
      last_looked_at: 'last_looked_at',
    };
    for (const line of [formatVerifyEntry(entry), formatCatalogRow(row)]) {
      expect(release).toMatch(`\`[${(JSON.parse(line) as string[]).join(', ')}]\``);
    }
  });

  it('names the version of this contract', () => {
    const named = /`contract_version` is (\d+)/.exec(section('14. Versions of the contract'));
    expect(Number(named?.[1])).toBe(CONTRACT_VERSION);
  });
});

describe('the worked example of FORMAT.md', () => {
  it('shows the bytes that the contract makes of the body', () => {
    expect(core).toBe(canonicalJson(hashCore(body)));
    expect(content).toBe(canonicalJson(contentOf(body)));
    expect(statement).toBe(canonicalJson(citationStatement(citation)));
  });

  it('hashes as it says', () => {
    expect(hashes).toEqual([sha256(core), sha256(content), sha256(statement)]);
    expect(hashes).toEqual([body.record_hash, citation.source.content_hash, citation.record_hash]);
  });

  it('is signed by the key that it prints, and by no other', () => {
    const bytes = Buffer.from(signature, 'base64url');
    expect(verify(null, Buffer.from(statement), createPublicKey(pem), bytes)).toBe(true);
    expect(verify(null, Buffer.from(`${statement} `), createPublicKey(pem), bytes)).toBe(false);
    expect(issuerDid(signingKey(Buffer.from(seed, 'hex')))).toBe(did);
    expect(citation).toMatchObject({ signature, issuer_DID: did });
  });

  it('verifies, and no longer after one changed digit', () => {
    const verdict = (text: string): string => verifyBody(parseJson(text), { trust: [did] }).verdict;
    expect(verdict(delivered)).toBe('verified');
    expect(verdict(delivered.replace('13.6', '13.7'))).toBe('failed');
  });
});

describe('the further examples of FORMAT.md', () => {
  const more = section('13. More worked examples');
  const [rowCore = '', link = '', head = ''] = [...more.matchAll(/```json\n(.*)\n```/g)].map(
    (match) => match[1] ?? '',
  );
  const printed = [...more.matchAll(/^`(sha256:[0-9a-f]{64})`$/gm)].map((match) => match[1] ?? '');
  const [leaf0 = '', leaf1 = '', root = ''] = (/```text\n([^`]+)```/.exec(more)?.[1] ?? '').split(
    '\n',
  );
  const digest = (...parts: readonly (string | Buffer)[]): Buffer => {
    const hash = createHash('sha256');
    for (const part of parts) hash.update(part);
    return hash.digest();
  };

  it('hashes the core of a roster row', () => {
    const core = parseJson(rowCore) as Record<string, unknown>;
    expect(rosterKindOf(core)).toBe('mcp.server');
    expect(canonicalJson(rosterCore('mcp.server', core))).toBe(rowCore);
    expect(printed[0]).toBe(sha256(rowCore));
    expect(sha256(rowCore.replace('active', 'absent'))).not.toBe(printed[0]);
  });

  it('chains the reading of the first example', () => {
    const [state, row] = parseJson(link) as unknown as [ChainState, SeriesRow];
    expect(state).toEqual(CHAIN_ORIGIN);
    expect(Object.keys(row).sort()).toEqual([...SERIES_COLUMNS].sort());
    expect(row.record_hash).toBe(body.record_hash);
    expect(canonicalJson(chainLink(state, row))).toBe(link);
    expect(printed[1]).toBe(sha256(link));
  });

  it('proves two entries of a log by the leaf hash of the other', () => {
    expect(leaf0).toBe(digest(Buffer.of(0), body.record_hash).toString('hex'));
    expect(leaf1).toBe(digest(Buffer.of(0), printed[0] ?? '').toString('hex'));
    const [left, right] = [Buffer.from(leaf0, 'hex'), Buffer.from(leaf1, 'hex')];
    expect(root).toBe(digest(Buffer.of(1), left, right).toString('hex'));
    const claim = { index: 0, size: 2, leaf: left, proof: [right], root: Buffer.from(root, 'hex') };
    const hash = (bytes: Uint8Array): Uint8Array => new Uint8Array(digest(Buffer.from(bytes)));
    expect(verifyInclusion(claim, hash)).toBe(true);
    expect(verifyInclusion({ ...claim, index: 1 }, hash)).toBe(false);
  });

  it('I72: shows a proof of the first example, which holds at no other place', () => {
    const proof = /```text\n(c2sp\.org[^`]+)```/.exec(more)?.[1] ?? '';
    const verdict = (text: string): string => verifyBody(parseJson(text), { trust: [did] }).verdict;
    const proven = (text: string): string =>
      delivered.replace(',"_citation":', `,"_proof":${JSON.stringify(text)},"_citation":`);
    expect(verdict(proven(proof))).toBe('verified');
    expect(verdict(proven(proof.replace('index 0', 'index 1')))).toBe('failed');
    expect(verdict(proven(proof.replace('readings.example', 'other.example')))).toBe('failed');
  });

  it('spells the key of the log and its signature line from the bytes that section 9 names', () => {
    const block = /```text\n(sha256:[^`]+)```/.exec(section('9. Transparency log'))?.[1] ?? '';
    const [, , vkey = '', name = '', size = '', tree = '', , line = ''] = block.split('\n');
    const key = createPublicKey(pem).export({ format: 'der', type: 'spki' }).subarray(-32);
    const typed = Buffer.concat([Buffer.of(1), key]);
    const hashOfKey = digest(Buffer.from(`${name}\n`), typed).subarray(0, 4);
    expect(vkey).toBe(`${name}+${hashOfKey.toString('hex')}+${typed.toString('base64')}`);
    expect(line.startsWith(`\u2014 ${name} `)).toBe(true);
    const bytes = Buffer.from(line.slice(name.length + 3), 'base64');
    expect(bytes.subarray(0, 4)).toEqual(hashOfKey);
    const isSigned = (text: string): boolean =>
      verify(null, Buffer.from(text), createPublicKey(pem), bytes.subarray(4));
    expect(isSigned(`${name}\n${size}\n${tree}\n`)).toBe(true);
    expect(isSigned(`${name}\n2\n${tree}\n`)).toBe(false);
  });

  it('signs and hashes the head of a release', () => {
    const [line = ''] = /[0-9a-f]{64} 2 free\/merkle-spec\.json/.exec(more) ?? [];
    const unsigned = parseJson(head) as Record<string, unknown>;
    const own = /^`([A-Za-z0-9_-]{86})`$/m.exec(more)?.[1] ?? '';
    expect(releaseSchema.parse({ ...unsigned, signature: own })).toMatchObject({ issuer_did: did });
    expect(canonicalJson(unsigned)).toBe(head);
    expect(unsigned.files_sha256).toBe(sha256(`${line}\n`));
    const isSigned = (text: string): boolean =>
      verify(null, Buffer.from(text), createPublicKey(pem), Buffer.from(own, 'base64url'));
    expect([isSigned(head), isSigned(`${head} `)]).toEqual([true, false]);
    expect(printed[2]).toBe(sha256(canonicalJson({ ...unsigned, signature: own })));
  });
});
