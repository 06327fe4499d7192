import { createPublicKey, hash, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import { openNote } from '../../../compiler/format/checkpoint.ts';
import {
  CITATION_SEAL_FIELDS,
  citationSchema,
  citationStatement,
  REQUEST_TIME_FIELDS,
} from '../../../compiler/format/citation.ts';
import { leafHash } from '../../../compiler/format/merkle.ts';
import { CORE_FIELDS, hashCore, SOURCE_CORE_FIELDS } from '../../../compiler/format/record-hash.ts';
import { releaseSchema } from '../../../compiler/format/release.ts';
import { parseJson } from '../../../compiler/format/strict-json.ts';
import { isLeafProven, parseTlogProof } from '../../../compiler/format/tlog-proof.ts';
import {
  COLLECTIONS,
  isRosterKind,
  rosterCoreFields,
} from '../../../compiler/products/collections.ts';
import {
  isStatementProven,
  parseProofExtra,
} from '../../../compiler/products/shapes/body-proof.ts';
import {
  ANSWERED,
  answered,
  FIRST,
  hashText,
  proven,
  record,
  sha256,
} from '../../verify/made-bodies.ts';

const TEXT = readFileSync(new URL('../../../compiler/format/FORMAT.md', import.meta.url), 'utf8');
const example = TEXT.slice(TEXT.indexOf('## 10. Worked example'));
const [delivered = '', core = '', content = '', statement = '', entry = '', leaf = ''] = [
  ...example.matchAll(/```json\n(.*)\n```/g),
].map((match) => match[1] ?? '');
const hashes = [...example.matchAll(/^`(sha256:[0-9a-f]{64})`$/gm)].map((match) => match[1]);
const [signed = '', path = '', checkpoint = ''] = [...example.matchAll(/```text\n([^`]+)```/g)].map(
  (match) => match[1] ?? '',
);
const [signature = '', ...pem] = signed.split('\n');

type Body = Parameters<typeof hashCore>[0] & { record_hash: string; _citation: unknown };
const body = parseJson(delivered) as unknown as Body & { _proof: string };
const citation = citationSchema.parse(body._citation);

describe('the worked example of FORMAT.md', () => {
  it('is the body that the tests make', () => {
    expect(delivered).toBe(JSON.stringify(proven(answered(record(), ANSWERED))));
    expect(example).toContain(`\`${FIRST.did}\``);
  });

  it('shows the bytes that are hashed', () => {
    const { _proof, _citation, provenance, ...rest } = body as unknown as Record<string, unknown>;
    const {
      answered_at: _at,
      age_hours_now: _age,
      freshness: _word,
      ...kept
    } = provenance as Record<string, unknown>;
    expect(core).toBe(canonicalJson(hashCore(body)));
    expect(content).toBe(canonicalJson({ ...rest, provenance: kept }));
    expect(statement).toBe(canonicalJson(citationStatement(citation)));
    expect(hashes).toEqual([core, content, statement].map(hashText));
    expect(hashes).toEqual([body.record_hash, citation.source.content_hash, citation.record_hash]);
  });

  it('is signed by the key that it prints, and by no other', () => {
    const key = createPublicKey(pem.join('\n'));
    const bytes = Buffer.from(signature, 'base64url');
    expect(citation.signature).toBe(signature);
    expect(verify(null, Buffer.from(statement), key, bytes)).toBe(true);
    expect(verify(null, Buffer.from(`${statement} `), key, bytes)).toBe(false);
  });

  it('leads from its leaf to the entry, and from the entry to its checkpoint', () => {
    const proof = parseTlogProof(body._proof);
    const extra = parseProofExtra(proof.extra ?? new Uint8Array());
    const [target = '', named = ''] = parseJson(leaf) as string[];
    expect(Buffer.from(extra.entryBytes).toString()).toBe(entry);
    expect(proof.checkpoint).toBe(checkpoint);
    expect(named).toBe(citation.record_hash);
    expect(leaf).toBe(canonicalJson([target, named]));
    expect(extra.hashes.map((one) => Buffer.from(one).toString('hex'))).toEqual([path.trim()]);
    const proves = (to: string, statementHash: string): boolean =>
      isStatementProven(extra, { target: to, statement: statementHash }, sha256);
    expect(proves(target, named)).toBe(true);
    expect(proves(`${target}&x=1`, named)).toBe(false);
    expect(proves(target, hashText('another'))).toBe(false);
    expect(isLeafProven(proof, leafHash(extra.entryBytes, sha256), sha256)).toBe(true);
    expect(isLeafProven(proof, leafHash(Buffer.from(leaf), sha256), sha256)).toBe(false);
    const opened = openNote(checkpoint);
    const key = createPublicKey(pem.join('\n'));
    const line = opened?.note.signatures[0]?.signature ?? new Uint8Array();
    expect(verify(null, Buffer.from(opened?.note.text ?? ''), key, line)).toBe(true);
    expect(verify(null, Buffer.from(entry), key, line)).toBe(false);
  });

  it('spells its roots as it says', () => {
    const digest = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');
    const leaf0 = digest(Buffer.concat([Buffer.of(0), Buffer.from(leaf)]));
    const root = digest(Buffer.concat([Buffer.of(1), leaf0, Buffer.from(path.trim(), 'hex')]));
    expect(entry).toContain(`"all":{"count":2,"root":"sha256:${root.toString('hex')}"}`);
    const log = digest(Buffer.concat([Buffer.of(0), Buffer.from(entry)]));
    expect(checkpoint.split('\n')[2]).toBe(log.toString('base64'));
  });
});

const words = (text: string): string[] =>
  [...text.matchAll(/`([A-Za-z0-9_]+)`/g)].map((match) => match[1] ?? '');
const wordsMax: readonly (readonly [name: string, max: number])[] = [
  ['FORMAT.md', 2500],
  ['AUDIT.md', 3000],
];
const read = (name: string): string =>
  readFileSync(new URL(`../../../compiler/format/${name}`, import.meta.url), 'utf8');

describe.each(wordsMax)('%s', (name, max) => {
  it(`has at most ${max} words and speaks of no machine`, () => {
    expect(read(name).split(/\s+/).length).toBeLessThanOrEqual(max);
    expect(read(name)).not.toMatch(/\/(home|tmp|work|root)\//);
  });
});

describe('FORMAT.md', () => {
  const named = new Set(words(TEXT));

  it('lists the members of each core as the code does', () => {
    for (const kind of COLLECTIONS.map(({ id }) => id).filter(isRosterKind)) {
      const [, item = ''] = new RegExp(`^- ${kind}: ([^]*?)\\n(?:- |\\n)`, 'm').exec(TEXT) ?? [];
      const { fields, demand_v1_fields = [] } = rosterCoreFields(kind);
      expect(words(item), kind).toEqual([...fields.slice(1), ...demand_v1_fields]);
    }
    for (const name of [...CORE_FIELDS, ...SOURCE_CORE_FIELDS]) expect(named).toContain(name);
  });

  it('names the members of request time, of a citation and of an entry', () => {
    for (const name of Object.values(REQUEST_TIME_FIELDS).flat()) expect(named).toContain(name);
    for (const name of [...CITATION_SEAL_FIELDS, ...Object.keys(citationStatement(citation))]) {
      expect(TEXT).toMatch(new RegExp(`\`${name}\\b`));
    }
    for (const name of Object.keys(parseJson(entry) as object)) {
      expect(TEXT).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });
});

describe('AUDIT.md', () => {
  it('names the members of a release head and of the lines beside it', () => {
    const text = read('AUDIT.md');
    const old = ['log_index'];
    const members = Object.keys(releaseSchema.shape).filter((name) => !old.includes(name));
    for (const name of members) expect(text).toMatch(`\`${name}`);
  });
});
