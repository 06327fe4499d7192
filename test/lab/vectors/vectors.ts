import { keyIdOf, verifyUrl } from '../../../compiler/format/citation.ts';
import { decodeBase64Url, didKey, encodeBase58, encodeBase64Url } from '../../../compiler/format/did-key.ts';
import { jcs } from '../../../compiler/system/jcs.ts';
import { createHash, sign } from 'node:crypto';
import { type Vector, canonicalVectors, checkpointVectors, keyOf, merkleVectors, recordHashVectors, rosterCoreVectors, seriesChainVectors } from './core-rows.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { campaign } from '../campaign.ts';

const TEST_KEY = keyOf('signalpress test key, not secret');
const OTHER_KEY = keyOf('signalpress test key, the second');
const BASE_URL = 'https://records.example';
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const STATEMENT = {
  schema_version: '1.0',
  statement_type: 'description',
  not_advice: true,
  claim: 'Example River at Example Town stood at 13.6 ft',
  fact: 'stage_ft 13.6, band normal',
  source: {
    issuer: 'Example Survey',
    type: 'aggregator',
    url: 'https://records.example/gauge?signal_id=hydrology.stage&entity=00000000',
    content_hash: `sha256:${'0'.repeat(64)}`,
    published_at: '2026-01-02T03:45:00Z',
  },
  retrieved_at: '2026-01-02T04:00:00Z',
  status: 'as_published',
  translated: false,
};

/** `input` is a citation and the trust, `want` the status of each check, `error` the names of the failed ones. */
export function citationVectors(): readonly Vector[] {
  return [...accepted(), ...altered(), ...spellings(), ...missing()];
}

function seal(statement: object, signer = TEST_KEY) {
  const bytes = Buffer.from(jcs(statement), 'utf8');
  const record_hash = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return {
    ...statement,
    record_hash,
    signature: encodeBase64Url(new Uint8Array(sign(null, bytes, signer.key))),
    key_id: keyIdOf(signer.did),
    issuer_DID: signer.did,
    verify_url: verifyUrl(BASE_URL, record_hash),
  };
}

function pass(
  comment: string,
  citation: object,
  trust: readonly string[] | 'any' = [TEST_KEY.did],
) {
  const statuses = { shape: 'pass', record_hash: 'pass', signature: 'pass' };
  const issuer = trust === 'any' ? 'not_applicable' : 'pass';
  const { key_id } = citation as { key_id: string };
  const key = key_id.startsWith('did:') ? 'pass' : 'not_applicable';
  const want = { ...statuses, issuer, key_id: key, verify_url: 'pass' };
  return { comment, input: { citation, trust }, want };
}

function fail(comment: string, citation: object, error: readonly string[]): Vector {
  return { comment, input: { citation, trust: [TEST_KEY.did] }, error };
}

function accepted(): Vector[] {
  const { claim, ...foreign } = STATEMENT;
  const whole = seal(STATEMENT);
  return [
    pass('ours', whole),
    pass('members in another order', Object.fromEntries(Object.entries(whole).reverse())),
    pass('without claim and with a key id of its own', { ...seal(foreign), key_id: 'kid-test' }),
    pass('text beyond ASCII', seal({ ...STATEMENT, fact: 'niveau 13,6 pi à Sao Tomé 😀' })),
    pass('no url and no date of publication', seal(statementOf({ url: null, published_at: null }))),
    pass('any issuer', seal(STATEMENT, OTHER_KEY), 'any'),
    pass('one of two issuers', seal(STATEMENT, OTHER_KEY), [TEST_KEY.did, OTHER_KEY.did]),
    pass('another host that looks up the hash', {
      ...whole,
      verify_url: verifyUrl('http://[::1]', whole.record_hash),
    }),
  ];
}

function statementOf(source: object) {
  return { ...STATEMENT, source: { ...STATEMENT.source, ...source } };
}

/** Every signed member changed by one character after signing. */
function altered(): Vector[] {
  const whole = seal(STATEMENT);
  const both = ['record_hash', 'signature'];
  const changed = (name: string, part: object, error: readonly string[] = both) =>
    fail(`${name} is altered`, { ...whole, ...part }, error);
  const source = (part: object) => ({ source: { ...STATEMENT.source, ...part } });
  return [
    changed('schema_version', { schema_version: '1.1' }, ['shape']),
    changed('statement_type', { statement_type: 'descriptioN' }, ['shape']),
    changed('not_advice', { not_advice: false }, ['shape']),
    changed('claim', { claim: STATEMENT.claim.replace('13.6', '13.7') }),
    changed('fact', { fact: STATEMENT.fact.replace('13.6', '13.7') }),
    changed('source.issuer', source({ issuer: 'Example survey' })),
    changed('source.type', source({ type: 'aggregatof' })),
    changed('source.url', source({ url: `${STATEMENT.source.url}1` })),
    changed('source.content_hash', source({ content_hash: `sha256:${'0'.repeat(63)}1` })),
    changed('source.published_at', source({ published_at: '2026-01-02T03:45:01Z' })),
    changed('retrieved_at', { retrieved_at: '2026-01-02T04:00:01Z' }),
    changed('status', { status: 'as_publisheD' }),
    changed('translated', { translated: true }),
    changed('an unsigned member is added', { extra: 1 }, ['shape']),
    changed('a lone surrogate', { fact: '\ud800' }),
  ];
}

/** Other spellings of the seal, and seals of others. */
function spellings(): Vector[] {
  const whole = seal(STATEMENT);
  const { signature, record_hash } = whole;
  const other = seal(STATEMENT, OTHER_KEY);
  const sealed = (comment: string, part: object, error: readonly string[]) =>
    fail(comment, { ...whole, ...part }, error);
  const next = ALPHABET.charAt(ALPHABET.indexOf(signature.slice(-1)) + 1);
  const url = (hash: string) => verifyUrl(BASE_URL, hash);
  const upper = record_hash.toUpperCase().replace('SHA256', 'sha256');
  const hash = `sha256:${'1'.repeat(64)}`;
  return [
    sealed('upper-case hex', { record_hash: upper }, ['shape']),
    sealed('a hash without its prefix', { record_hash: record_hash.slice(7) }, ['shape']),
    sealed('another hash', { record_hash: hash, verify_url: url(hash) }, ['record_hash']),
    sealed('a padded signature', { signature: `${signature}==` }, ['signature']),
    sealed('a signature with a character more', { signature: `${signature}A` }, ['signature']),
    sealed('a signature with unused bits', { signature: signature.slice(0, -1) + next }, [
      'signature',
    ]),
    sealed('a signature in hex', { signature: hexOf(signature) }, ['signature']),
    sealed('a signature with a line feed', { signature: `${signature}\n` }, ['signature']),
    sealed('a signature of 63 bytes', { signature: signature.slice(0, 84) }, ['signature']),
    sealed('no signature', { signature: '' }, ['shape']),
    sealed('S plus the group order', { signature: plusOrder(signature) }, ['signature']),
    sealed('the signature of another key', { signature: other.signature }, ['signature']),
    sealed('the DID of another key', { issuer_DID: OTHER_KEY.did }, [
      'signature',
      'issuer',
      'key_id',
    ]),
    fail('an issuer who is not trusted', other, ['issuer']),
    sealed('the key id of another DID', { key_id: other.key_id }, ['key_id']),
    sealed('a key id that only starts alike', { key_id: `${TEST_KEY.did}x#1` }, ['key_id']),
    sealed('an address of another hash', { verify_url: url(hash) }, ['verify_url']),
    sealed('an address that goes on', { verify_url: `${whole.verify_url}?x` }, ['verify_url']),
    sealed('an issuer without DID', { issuer_DID: 'records.example' }, [
      'signature',
      'issuer',
      'key_id',
    ]),
    fail('a key of small order, which signs everything', weak(), ['signature', 'issuer']),
  ];
}

/** Under the neutral element R = A and S = 0 fit every message. */
function weak() {
  const neutral = Uint8Array.of(1, ...new Uint8Array(31));
  const issuer_DID = `did:key:z${encodeBase58(Uint8Array.of(0xed, 1, ...neutral))}`;
  const signature = encodeBase64Url(Uint8Array.of(...neutral, ...new Uint8Array(32)));
  return { ...seal(STATEMENT), issuer_DID, signature, key_id: keyIdOf(issuer_DID) };
}

function hexOf(signature: string): string {
  return Buffer.from(decodeBase64Url(signature)).toString('hex');
}

/** The same signature for a verifier that does not reduce S. */
function plusOrder(signature: string): string {
  const bytes = decodeBase64Url(signature);
  const s = BigInt(`0x${Buffer.from(bytes.slice(32)).reverse().toString('hex')}`) + GROUP_ORDER;
  const high = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse();
  return encodeBase64Url(Uint8Array.of(...bytes.slice(0, 32), ...high));
}

function missing(): Vector[] {
  const whole = seal(STATEMENT);
  const without = (object: object, name: string) =>
    Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
  const top = Object.keys(whole).map((name): Vector => {
    const error = name === 'claim' ? ['record_hash', 'signature'] : ['shape'];
    return fail(`${name} is missing`, without(whole, name), error);
  });
  const inner = Object.keys(STATEMENT.source).map((name): Vector => {
    const citation = { ...whole, source: without(STATEMENT.source, name) };
    return fail(`source.${name} is missing`, citation, ['shape']);
  });
  return [...top, ...inner];
}

const FOLDER = 'test/vectors';

/** The vector files by name; the same text on every run. */
export function vectorFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, readonly Vector[]>([
    ['canonical.json', canonicalVectors()],
    ['record-hash.json', recordHashVectors()],
    ['citation.json', citationVectors()],
    ['roster-core.json', rosterCoreVectors()],
    ['series-chain.json', seriesChainVectors()],
    ['merkle.json', merkleVectors()],
    ['checkpoint.json', checkpointVectors()],
  ]);
  return new Map(Array.from(files, ([name, rows]) => [name, `${JSON.stringify(rows, null, 1)}\n`]));
}

/** Writes them again. Hashes and signatures come from node:crypto; the checks that read the vectors use other code. */
export const experiment = campaign({}, async ({ say }) => {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of vectorFiles()) {
    writeFileSync(`${FOLDER}/${name}`, text);
    say(`${FOLDER}/${name} ${text.length}`);
  }
  return null;
});
