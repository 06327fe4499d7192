import { inOtherForm, type Key } from '../../verify/alterations.ts';
import { BUILTIN } from '../../../compiler/catalog/builtin.ts';
import { NOTE_CHARS_MAX } from '../../../compiler/format/checkpoint.ts';
import { defined } from '../../../compiler/format/errors.ts';
import { questionOf } from '../../../compiler/verify/answer-fault.ts';
import type { Delivery, Open } from '../forgeries/body-forgeries.ts';
import { BODIES_NAME, type BodyVector, type BodyVectors, type ReaderCase, type ReaderDemands } from './body-vector.ts';
import { atomicAmount, usdAmount } from '../../../compiler/products/shapes/price.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { encodeBase64Url } from '../../../compiler/format/did-key.ts';
import { historyOf, type KeyHistory, readKeyHistory } from '../../../compiler/format/key-history.ts';
import { jwsInput, type ReceiptPayload } from '../../../compiler/products/shapes/receipt.ts';
import { signBytes } from '../../../compiler/system/sealer.ts';
import { FIRST, RECEIPTS, SECOND, statementsAround, THIEF } from './key-cases.ts';
import { canonicalJson } from '../../../compiler/format/canonical.ts';
import { type Citation, citationStatement, citedBase, keyIdOf, verifyUrl } from '../../../compiler/format/citation.ts';
import { type JsonObject, parseJson } from '../../../compiler/format/strict-json.ts';
import { canonicalHash } from '../../../compiler/verify/body-check.ts';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Verification, verify } from '../../../compiler/client/verify.ts';
import { isoTime } from '../../../compiler/format/iso-time.ts';
import { trustedBy } from '../../../compiler/verify/key-trust.ts';
import { isSignedBy } from '../../../compiler/verify/verify-citation.ts';
import { receiptIn, verifyReceipt } from '../../../compiler/verify/verify-receipt.ts';
import { runVerify } from '../../../compiler/verify/verify-command.ts';
import { trustText } from '../../seeded-keys.ts';

/** Longer bodies show nothing that shorter ones of the kind do not. */
const TEXT_CHARS_MAX = 12_000;
const SERIES = '/gauge/history-series';
/** Requests that a body is expected to answer beside its own. */
const OTHERS = 2;

/** Bodies that are expected to answer their own request, those of others, and to be young. */
export function demandCases(bodies: readonly Delivery[], now: number): ReaderCase[] {
  const read = bodies
    .map(({ target, body }) => ({ target, body, text: JSON.stringify(body) }))
    .filter(({ text }) => text.length <= TEXT_CHARS_MAX);
  return read.flatMap(({ target, body, text }, at) => {
    const others = Array.from({ length: OTHERS }, (_, step) =>
      defined(read[(at + step + 1) % read.length], 'another body'),
    );
    const asked = others.filter((other) => other.target !== target);
    return [
      ...ownRequests(target, body).map((expect) => demanded('own request', text, expect)),
      ...asked.map((other) => refused('request of another body', text, other.target)),
      ...otherRequests(target).map((expect) => refused('another request', text, expect)),
      ...ageCases(body, text, now),
      ...proofCases(target, body),
      ...(at === 0 && body._proof !== undefined ? longProofs(body) : []),
    ];
  });
}

/** Ways to spell the request that a body answers. */
function ownRequests(target: string, body: Delivery['body']): string[] {
  const isSeries = target.startsWith(SERIES) && !target.includes('verifiable');
  const table = isSeries ? [withMore(target, 'format=csv-signed')] : [];
  const whole = `  GET  ${addressOf(body)}${target}`;
  return [target, `GET ${withMore(target, 'proof=0')}`, whole, ...table];
}

/** Legal requests that differ in one thing. */
function otherRequests(target: string): string[] {
  const entity = target.replace(/entity=[^&]+/, 'entity=ANOTHER');
  const isSeries = target.startsWith(SERIES) && !target.includes('verifiable');
  const series = [target.replace(/&days=\d+/, '&days=3'), withMore(target, 'verifiable=1')];
  const made = [entity, ...(isSeries ? series : [])].filter((other) => {
    return other !== target && questionOf(other, BUILTIN) !== null;
  });
  return [`https://other.example${target}`, ...made];
}

function withMore(target: string, more: string): string {
  return `${target}${target.includes('?') ? '&' : '?'}${more}`;
}

function demanded(name: string, text: string, expect: string): ReaderCase {
  return { class: name, about: expect, text, want: 'verified', reader: { expect } };
}

function refused(name: string, text: string, expect: string): ReaderCase {
  return { ...demanded(name, text, expect), want: 'failed' };
}

/** Without its proof a body owes it; whoever demands it refuses, and whoever does not cares for nothing. */
function proofCases(target: string, { _proof, ...bare }: Delivery['body']): ReaderCase[] {
  const text = JSON.stringify(bare);
  const of = (want: ReaderCase['want'], demands_proof: boolean | null): ReaderCase => {
    return { class: 'no proof', about: target, text, want, reader: { demands_proof } };
  };
  return [of('unproven', null), of('failed', true), of('verified', false)];
}

/** Whoever delivers a body may add lines of signers that nobody knows, up to the length of a note. */
function longProofs({ _proof, ...body }: Delivery['body']): ReaderCase[] {
  const lengthened = (chars: number, want: ReaderCase['want']): ReaderCase => {
    const proof = `${String(_proof)}\u2014 stranger ${'A'.repeat(chars)}\n`;
    const text = JSON.stringify({ ...body, _proof: proof });
    return { class: 'long note', about: `${chars} characters more`, text, want, reader: {} };
  };
  return [lengthened(NOTE_CHARS_MAX / 2, 'verified'), lengthened(NOTE_CHARS_MAX, 'failed')];
}

/** A body is as old as its citation says; a settlement answer as the last look at the list. */
function ageCases({ _citation, coverage }: Delivery['body'], text: string, now: number) {
  const observed = (coverage as { readonly observed_at?: string } | undefined)?.observed_at;
  const { source } = _citation as unknown as { readonly source: { readonly published_at: string } };
  const age = now - Date.parse(observed ?? source.published_at);
  const about = (max_age_ms: number, want: ReaderCase['want']): ReaderCase => ({
    class: 'age',
    about: `at most ${max_age_ms} ms, ${age} ms old`,
    text,
    want,
    reader: { max_age_ms },
  });
  return [about(age, 'verified'), about(age - 1, 'failed')];
}

/** The address of the service that sold a body. */
function addressOf({ _citation }: Delivery['body']): string {
  const { verify_url } = _citation as unknown as { readonly verify_url: string };
  return verify_url.slice(0, verify_url.indexOf('/v/'));
}

/** Answers of one basket. */
const SIZE = 3;

interface Part {
  readonly request: string;
  readonly price_usd: string;
  readonly answer: Open;
}

interface Basket {
  readonly endpoint: string;
  readonly total_usd: string;
  readonly parts: readonly (Part | { readonly request: string; readonly not_sold: string })[];
}

/** Baskets of some bodies, and each way of forging one that we know. */
export function basketCases(bodies: readonly Delivery[]): ReaderCase[] {
  const cases: ReaderCase[] = [];
  for (let at = 0; at + SIZE <= bodies.length; at += SIZE) {
    const parts = bodies.slice(at, at + SIZE).map(partOf);
    for (const [about, want, made] of variants(parts)) {
      const text = JSON.stringify(made);
      cases.push({ class: 'basket', about: `${at / SIZE} ${about}`, text, want });
    }
  }
  return cases;
}

function partOf({ target, body }: Delivery): Part {
  const asked = defined(questionOf(target, BUILTIN), target);
  return {
    request: asked.target,
    price_usd: defined(asked.endpoint.priceUsd, 'a price'),
    answer: body,
  };
}

const UNSOLD = { request: '/gauge?entity=nobody&signal_id=airquality.aqi', not_sold: 'no data' };

type Made = readonly [about: string, want: ReaderCase['want'], basket: object];

function variants(parts: readonly Part[]): Made[] {
  const partAt = (at: number): Part => defined(parts[at], 'a part');
  const [one, two, three] = [partAt(0), partAt(1), partAt(2)];
  // No basket: deeper inside of a body a proof is a member like any other, which nobody signed, and a settlement answer has
  // no content of its own.
  const isOdd = ({ answer }: Part): boolean =>
    answer._proof !== undefined || answer.coverage !== undefined;
  const other = parts.some(isOdd) ? 'failed' : 'unsigned';
  const genuine = basketOf([one, two, three]);
  return [
    ['genuine', 'verified', genuine],
    ['genuine, one not sold', 'verified', basketOf([one, UNSOLD, three])],
    ['of nothing', 'unsigned', basketOf([UNSOLD])],
    ['with another sum', 'failed', { ...genuine, total_usd: '99.00' }],
    ['with its sum in another spelling', other, { ...genuine, total_usd: `0${genuine.total_usd}` }],
    [
      'answers swapped',
      'failed',
      basketOf([
        { ...one, answer: two.answer },
        { ...two, answer: one.answer },
      ]),
    ],
    ['under the request of another', 'failed', basketOf([{ ...one, request: two.request }])],
    ['a part altered', 'failed', basketOf([one, { ...two, answer: { ...two.answer, x: 1 } }])],
    [
      'a part without its citation',
      'failed',
      basketOf([one, { ...two, answer: uncited(two.answer) }]),
    ],
    ['of another name', other, { ...genuine, endpoint: 'gauge/baskets' }],
    ['with a member more', other, { ...genuine, note: 'x' }],
    [
      'a part with a member more',
      isOdd(one) ? 'failed' : 'unsigned',
      basketOf([{ ...one, note: 'x' } as Part]),
    ],
    ['a request that is none', 'unsigned', basketOf([{ ...one, request: 'gauge' }])],
  ];
}

function basketOf(parts: Basket['parts']): Basket {
  const sum = parts.reduce(
    (total, part) => total + ('answer' in part ? BigInt(atomicAmount(part.price_usd)) : 0n),
    0n,
  );
  return { endpoint: 'gauge/basket', total_usd: usdAmount(String(sum)), parts };
}

function uncited({ _citation, ...answer }: Open): Open {
  return answer;
}

const PAYER = `0x${'2'.repeat(40)}`;

/** What is said of a receipt: a name, the verdict, what its reader knows, and another receipt. */
type ReceiptRow = readonly [about: string, want: ReaderCase['want'], reader: ReaderDemands, text?: string];

/** Receipts for a body, judged with what their reader knows of the sale and of the keys. */
export function receiptCases({ target, body }: Delivery): ReaderCase[] {
  const { retrieved_at } = body._citation as unknown as { readonly retrieved_at: string };
  const by = statementsAround(retrieved_at);
  const delivered = JSON.stringify(body);
  const payload: ReceiptPayload = {
    ...{ version: 1, network: 'eip155:8453', payer: PAYER, transaction: `0x${'3'.repeat(64)}` },
    resourceUrl: `https://shop.example${target}`,
    issuedAt: Math.floor(Date.parse(retrieved_at) / 1000),
    bodyHash: `sha256:${bytesToHex(sha256(utf8ToBytes(delivered)))}`,
  };
  const good = listed(by.withReceipts(by.list(2), by.receiptKey(-1, null)));
  const rows = [
    ...keyRows(by, good),
    ...saleRows({ target, delivered }, good),
    ...textRows(payload, good),
  ];
  return rows.map(([about, want, reader, text = receipt(payload)]) => ({
    class: 'receipt',
    about: `${target} ${about}`,
    text,
    want,
    reader: { issuers: [FIRST.did], ...reader },
  }));
}

function listed(history: KeyHistory): ReaderDemands {
  return { keys: JSON.stringify(history) };
}

/** Which key signed it, by which list. */
function keyRows(by: ReturnType<typeof statementsAround>, good: ReaderDemands): ReceiptRow[] {
  const receipts = (...keys: Parameters<typeof by.withReceipts>[1][]): ReaderDemands =>
    listed(by.withReceipts(by.list(2), ...keys));
  const open = by.receiptKey(-2, null);
  const rooted = by.root({ receipt_keys: [{ did: RECEIPTS.did, since: by.at(-1), until: null }] });
  const revoked = by.withReceipts(by.list(2, [by.revocation(5)]), by.receiptKey(-1, null));
  const unlisted = by.withReceipts(by.rooted(by.root()), by.receiptKey(-1, null));
  return [
    ['by a listed key', 'verified', good],
    ['without a list', 'unlisted', {}],
    ['by a key of another list', 'failed', listed(by.list(2))],
    ['by a key that ended', 'failed', receipts(open, by.receiptKey(-2, -1))],
    ['by a key that ends later', 'verified', receipts(open, by.receiptKey(-2, 1))],
    ['by a key of later', 'failed', receipts(by.receiptKey(1, null))],
    ['listed by a revoked key', 'failed', listed(revoked)],
    ['listed by the key before', 'failed', { ...good, issuers: [SECOND.did] }],
    ['listed by the root', 'verified', listed(by.rooted(rooted))],
    ['not listed by the root', 'failed', listed(unlisted)],
    ['of a trusted stranger', 'failed', { ...good, issuers: [THIEF.did] }],
  ];
}

/** What its reader knows of the sale. */
function saleRows(
  { target, delivered }: { readonly target: string; readonly delivered: string },
  good: ReaderDemands,
): ReceiptRow[] {
  const [path] = target.split('?');
  return [
    ['for the body', 'verified', { ...good, delivered }],
    ['for another body', 'failed', { ...good, delivered: `${delivered} ` }],
    ['for the request', 'verified', { ...good, expect: `GET ${target}` }],
    ['at its address', 'verified', { ...good, expect: `https://SHOP.example${target}` }],
    ['elsewhere', 'failed', { ...good, expect: `https://other.example${target}` }],
    ['for another request', 'failed', { ...good, expect: `GET ${path}?entity=x` }],
    ['of the payer', 'verified', { ...good, payer: PAYER }],
    ['of another payer', 'failed', { ...good, payer: `0x${'4'.repeat(40)}` }],
  ];
}

/** The ways in which it comes, and how it must not be spelled. */
function textRows(payload: ReceiptPayload, good: ReaderDemands): ReceiptRow[] {
  const genuine = receipt(payload);
  const info = { receipt: { format: 'jws', signature: genuine } };
  const value = JSON.stringify({ success: true, extensions: { 'offer-receipt': { info } } });
  const changed = (members: object): string => receipt({ ...payload, ...members });
  return [
    ['as the value of its header', 'verified', good, btoa(value)],
    ['as the JSON of its header', 'verified', good, value],
    ['signed by another', 'failed', good, receipt(payload, THIEF)],
    ['signed by another in its name', 'failed', good, receipt(payload, RECEIPTS, THIEF)],
    ['with a member more', 'failed', good, changed({ note: 'x' })],
    ['simulated', 'verified', good, changed({ simulated: true })],
    ['not simulated', 'failed', good, changed({ simulated: false })],
    ['of another version', 'failed', good, changed({ version: 2 })],
    ['altered', 'failed', good, genuine.replace(/.{9}$/, 'AAAAAAAAA')],
    ['in another spelling', 'failed', good, respelled(payload)],
  ];
}

function receipt(payload: ReceiptPayload, named: Key = RECEIPTS, signer: Key = named): string {
  return signed(jwsInput(named.did, payload), signer);
}

function signed(input: string, { secret }: Key): string {
  return `${input}.${signBytes(utf8ToBytes(input), secret)}`;
}

/** Signed, but not in canonical JSON. */
function respelled(payload: ReceiptPayload): string {
  const parts = [{ alg: 'EdDSA', kid: RECEIPTS.did }, payload];
  return signed(
    parts.map((part) => encodeBase64Url(utf8ToBytes(JSON.stringify(part, null, 1)))).join('.'),
    RECEIPTS,
  );
}

type FormRow = readonly [about: string, want: ReaderCase['want'], body: object, reader?: ReaderDemands];

/** A body as another issuer signs it, whose citation has no claim: nothing signs the content, and ours never look so. */
export function otherFormCases({ target, body }: Delivery): ReaderCase[] {
  const { _proof, ...bare } = body;
  const genuine = inOtherForm(bare, FIRST);
  const { _citation } = genuine;
  const keyed = { ..._citation, key_id: keyIdOf(FIRST.did) };
  const basket = basketOf([partOf({ target, body: genuine as Delivery['body'] })]);
  const rows: FormRow[] = [
    ['as it came', 'partly_verified', genuine],
    ['with other content', 'partly_verified', { ...genuine, grade: 'other' }],
    ['with another fact', 'failed', { ...genuine, _citation: { ..._citation, fact: 'other' } }],
    ['with a claim', 'failed', { ...genuine, _citation: { ..._citation, claim: 'other' } }],
    ['of another issuer', 'failed', genuine, { issuers: [SECOND.did] }],
    ['with a DID URL as its key id', 'failed', { ...genuine, _citation: keyed }],
    ['with a proof', 'failed', { ...genuine, _proof: body._proof ?? 'c2sp.org/tlog-proof@v1\n' }],
    ['as a sample', 'failed', { sample: genuine }],
    ['beside another citation', 'failed', { ...genuine, more: { _citation } }],
    ['of a key in a list', 'failed', genuine, { keys: listOf(FIRST) }],
    ['for its request', 'failed', genuine, { expect: target }],
    ['where a proof is demanded', 'failed', genuine, { demands_proof: true }],
    ['by default', 'partly_verified', genuine, { demands_proof: null }],
    ['in a basket', 'unsigned', basket],
  ];
  return rows.map(([about, want, made, reader = {}]) => ({
    class: 'form of another issuer',
    about,
    text: JSON.stringify(made),
    want,
    reader: { issuers: [FIRST.did], demands_proof: false, ...reader },
  }));
}


function listOf({ did }: Key): string {
  return JSON.stringify(historyOf(did, [], []));
}

// Bodies with what their reader demands, and the verdict that follows, written by hand for each case.

interface Reading {
  readonly did: string;
  readonly now: number;
}

/** The rows of some cases, and where the command, the library or Python come to another verdict. */
export async function readerVectors(
  cases: readonly ReaderCase[],
  reading: Reading,
): Promise<BodyVectors> {
  const rows: BodyVector[] = [];
  const disputed: string[] = [];
  for (const [at, one] of cases.entries()) {
    const { row, stated } = await judged(one, reading, at + 1);
    const isOff = stated.some((verdict) => verdict !== one.want);
    if (isOff) disputed.push(`${row.class}: ${row.about}: ${stated.join()}, not ${one.want}`);
    rows.push(row);
  }
  return { rows, disputed };
}

async function judged(
  { want, reader = {}, ...one }: ReaderCase,
  { did, now }: Reading,
  id: number,
): Promise<{ readonly row: BodyVector; readonly stated: readonly string[] }> {
  const issuers = reader.issuers ?? [did];
  const report = reportOf(one.text, { ...reader, issuers }, now);
  const command = await commandOf(one.text, { ...reader, issuers }, now);
  const check = report?.checks.find(({ status }) => status === 'fail')?.check ?? null;
  const row = { id, ...one, issuer: did, now: isoTime(now), ...reader, verdict: want, check };
  return { row, stated: [...(report === null ? [] : [report.verdict]), command] };
}

type Reader = ReaderDemands & { readonly issuers: readonly string[] };

/** What the library says; null for a receipt, which it does not judge, and for a list of keys that it refuses. */
function reportOf(text: string, reader: Reader, now: number): Verification | null {
  const { issuers, roots = [], keys, expect, max_age_ms: maxAgeMs } = reader;
  const demandsProof = proofDemand(reader);
  const list = keys === undefined ? null : (parseJson(keys) as unknown);
  const whom =
    roots.length === 0
      ? { issuer: issuers, ...(list === null ? {} : { keys: list }) }
      : { trust: trustText({ issuers: [...issuers], roots: [...roots], keys: list }) };
  const options = {
    ...whom,
    now,
    ...(demandsProof === null ? {} : { demandsProof }),
    ...(expect === undefined ? {} : { expect }),
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
  };
  try {
    return receiptIn(text) === null ? verify(text, options) : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function proofDemand({ demands_proof = false }: ReaderDemands): boolean | null {
  return demands_proof;
}

async function commandOf(text: string, reader: Reader, now: number): Promise<string> {
  const { issuers, roots = [], keys, expect, max_age_ms: maxAgeMs, delivered, payer } = reader;
  const receipt = receiptIn(text);
  if (payer !== undefined && receipt !== null) {
    // The command prints who paid, and leaves the comparison to its reader.
    const list = keys === undefined ? {} : { keys: readKeyHistory(parseJson(keys), isSignedBy) };
    const sale = { payer, expect, body: delivered === undefined ? undefined : Buffer.from(delivered) };
    return verifyReceipt(receipt, { ...trustedBy(issuers, roots), ...list }, sale).verdict;
  }
  const folder = mkdtempSync(join(tmpdir(), 'signalpress-reader-'));
  const saved = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  try {
    const outcome = await runVerify('-', {
      ...{ issuer: issuers, root: roots, now, json: true },
      readStdin: () => Buffer.from(text),
      ...(keys === undefined ? {} : { keys: saved('keys.json', keys) }),
      ...(delivered === undefined ? {} : { body: saved('body.json', delivered) }),
      ...(expect === undefined ? {} : { expect }),
      ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
    });
    const { verdict } = JSON.parse(outcome.text) as { verdict: string };
    // The command leaves open what comes without a proof; the library can be told to take it, or to refuse it.
    const demanded = proofDemand(reader);
    if (demanded === true && ['unproven', 'partly_verified'].includes(verdict)) return 'failed';
    return demanded === false && verdict === 'unproven' ? 'verified' : verdict;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
