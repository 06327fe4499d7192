import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../../compiler/format/errors.ts';
import { formatKeyHistory } from '../../../compiler/format/key-history.ts';
import { leafHash } from '../../../compiler/format/merkle.ts';
import { releaseEntryBytes } from '../../../compiler/format/release-entry.ts';
import { formatTlogProof, parseTlogProof } from '../../../compiler/format/tlog-proof.ts';
import { parseProofExtra } from '../../../compiler/products/shapes/body-proof.ts';
import { readKeys } from '../../../compiler/publish/keys/key-store.ts';
import { signCheckpoint } from '../../../compiler/publish/log/continue-log.ts';
import { signBytes, signingKey } from '../../../compiler/system/sealer.ts';
import { runVerify, type VerifyCommandOptions } from '../../../compiler/verify/verify-command.ts';
import type { Body } from '../../shop.ts';
import { makeFolder } from '../../snapshot-folder.ts';
import { Release, sha256, Tree } from '../../verify/invented-issuer.ts';
import { reseal } from '../../verify/resign.ts';
import { campaign, countsOf } from '../campaign.ts';
import {
  didOf,
  FIVE_YEARS,
  monthTime,
  type Plan,
  SHORT,
  type Signed,
  signedIn,
  YEAR,
} from './plan.ts';
import { type Bought, ShopLife } from './shop-life.ts';

/** How often each words were said, by kind of body and by reader. */
function countedRows(judged: readonly Judged[]): string[] {
  const rows = judged.map(({ kind, reader, words, expected }) => {
    const odd = words === expected ? '' : `   EXPECTED: ${expected}`;
    return `${kind.padEnd(32)} ${reader.padEnd(10)} ${words}${odd}`;
  });
  return Object.entries(countsOf(rows))
    .sort()
    .map(([row, count]) => `${String(count).padStart(3)}  ${row}`);
}

const PLANS: Readonly<Record<string, Plan>> = {
  'five-years': FIVE_YEARS,
  year: YEAR,
  short: SHORT,
};

/**
 * Five years of a small shop: monthly releases, two rotations under a root, a theft that is noticed late, a witness that dies, a
 * rollback, a fork and a freeze. Says what was noticed, and how `verify` judges what was bought over the years (I29).
 */
export const experiment = campaign({ seed: 24, plan: 'five-years' }, async ({ flags, say }) => {
  const plan = PLANS[flags.plan];
  if (plan === undefined) return [`there is no plan "${flags.plan}": ${Object.keys(PLANS)}`];
  const life = new ShopLife(flags.seed, plan);
  await life.live();
  const { sold, forged } = await judgeAll(life);
  say(`seed ${flags.seed}: ${life.plan.months} months, ${life.bodies.length} bodies`);
  for (const { month, event, noticed } of life.incidents) {
    say(`month ${month}: ${event}`);
    for (const each of noticed) say(`  ${each}`);
  }
  for (const row of [...countedRows(sold), ...countedRows(forged)]) say(row);
  const odd = [...sold, ...forged].filter(({ words, expected }) => words !== expected);
  const alarms = life.falseAlarms.map((alarm) => `noticed though nothing was wrong: ${alarm}`);
  return [...odd.map(({ kind, reader, words }) => `${kind} ${reader}: ${words}`), ...alarms];
});

/** What a reader has beside the first key and a body. */
const READERS = ['list', 'witnesses', 'log'] as const;
type Reader = (typeof READERS)[number];

/** What `verify` says first. */
const WORDS = {
  verified: 'verified',
  past: 'cannot be judged',
  failed: 'failed',
} as const;
type Word = keyof typeof WORDS;

const ALL = (word: Word) => ({ list: word, witnesses: word, log: word });

/**
 * What each reader has to be told. Whoever has the log, or a policy of witnesses, is never told that a body cannot be judged;
 * the list of keys alone shows no age.
 */
const EXPECTED: Readonly<Record<Signed, Readonly<Record<Reader, Word>>>> = {
  'first key': { ...ALL('verified'), list: 'past' },
  'second key': { ...ALL('verified'), list: 'past' },
  'second key, stolen': ALL('failed'),
  'third key': ALL('verified'),
};

/** What each reader has to be told of a forgery: none is verified. The list alone cannot tell it from a genuine body. */
const EXPECTED_OF_FORGERIES: Readonly<Record<Forgery['name'], Readonly<Record<Reader, Word>>>> = {
  'words around a reading': ALL('failed'),
  'joined, old proof': ALL('failed'),
  'joined, no proof': { ...ALL('past'), witnesses: 'failed' },
  'joined, own log': { ...ALL('failed'), list: 'past' },
  'retired key': { ...ALL('past'), witnesses: 'failed' },
  'retired key, words around a reading': ALL('failed'),
  'retired key, own log': { ...ALL('failed'), list: 'past' },
};

interface Judged {
  /** Who signed it, and what it is; or which forgery it is. */
  readonly kind: string;
  readonly reader: Reader;
  /** The first words of the report. */
  readonly words: string;
  readonly expected: string;
  /** What the report says of the log. */
  readonly logged: string;
}

/** Shows every body, and then every forgery, to every reader, at the end of the years. */
export async function judgeAll(life: ShopLife): Promise<{ sold: Judged[]; forged: Judged[] }> {
  const judge = await judgeAt(life);
  const sold = life.bodies.map(({ month, product, text }) => {
    const signed = signedIn(month, life.plan);
    return { text, kind: `${signed}: ${product}`, row: EXPECTED[signed] };
  });
  const forged = forgeries(life).map(({ name, text }) => {
    return { text, kind: name, row: EXPECTED_OF_FORGERIES[name] };
  });
  const all = async (shown: typeof sold): Promise<Judged[]> => {
    const judged: Judged[] = [];
    for (const { text, kind, row } of shown) {
      for (const reader of READERS) {
        judged.push({ kind, reader, expected: WORDS[row[reader]], ...(await judge(text, reader)) });
      }
    }
    return judged;
  };
  return { sold: await all(sold), forged: await all(forged) };
}

type Judge = (text: string, reader: Reader) => Promise<Pick<Judged, 'words' | 'logged'>>;

async function judgeAt({ data, issuer, plan, witnesses }: ShopLife): Promise<Judge> {
  const list = join(makeFolder(), 'keys.json');
  writeFileSync(list, formatKeyHistory(defined(readKeys(data) ?? undefined, 'the list of keys')));
  const { policy } = witnesses;
  const by: Readonly<Record<Reader, VerifyCommandOptions>> = {
    list: { keys: list },
    witnesses: { keys: list, policy },
    log: { keys: data },
  };
  const today = monthTime(plan.months, 20);
  const now = Date.parse(today);
  return async (text, reader) => {
    const readStdin = (): Uint8Array => Buffer.from(text);
    const options = { issuer: [issuer], now, verbose: true, readStdin, ...by[reader] };
    const report = await runVerify('-', options);
    const [first = '', ...lines] = report.text.split('\n');
    const logged = lines.find((line) => /^ +\S+ +logged/.test(line)) ?? '';
    const [words = ''] = first.split(/:| {2}/);
    return { words, logged: logged.trim() };
  };
}

/** What a thief makes of genuine bodies, with the time that they had. */
interface Forgery extends Pick<Bought, 'text'> {
  readonly name:
    | 'words around a reading'
    | 'joined, old proof'
    | 'joined, no proof'
    | 'joined, own log'
    | 'retired key'
    | 'retired key, words around a reading'
    | 'retired key, own log';
}

/** Bodies that the thief of the second key dates back to before the theft, and a thief of the first to before its end. */
function forgeries({ bodies, plan, seeds }: ShopLife): Forgery[] {
  const [first, second] = seeds.issuer;
  const bought = (product: 'record' | 'census', before: number): Delivered => {
    const last = bodies.findLast((each) => each.product === product && each.month < before);
    return JSON.parse(defined(last, `a ${product} that was bought before month ${before}`).text);
  };
  const words = forged(bought('record', plan.theft), second);
  const joined = forged(bought('census', plan.theft), second);
  const retired = forged(bought('census', plan.firstRotation), first);
  const around = forged(bought('record', plan.firstRotation), first);
  const text = (body: object): string => JSON.stringify(body);
  return [
    { name: 'words around a reading', text: text(words) },
    { name: 'joined, old proof', text: text(joined) },
    { name: 'joined, no proof', text: text({ ...joined, _proof: undefined }) },
    { name: 'joined, own log', text: text(inOwnLog(joined, second)) },
    { name: 'retired key', text: text({ ...retired, _proof: undefined }) },
    { name: 'retired key, words around a reading', text: text(around) },
    { name: 'retired key, own log', text: text(inOwnLog(retired, first)) },
  ];
}

/** A body as it was bought. */
type Delivered = Body & { readonly _proof: string };

/** The body with other words, signed with a key that was stolen, and with the proof that it had. */
function forged({ _proof, ...body }: Delivered, seed: Uint8Array): Delivered {
  return { ...reseal({ ...body, scope: 'other words' }, seed), _proof };
}

/** The body with a proof by a log that the thief made up, as long as the true one was, and with the times of its release. */
function inOwnLog({ _proof, ...body }: Delivered, seed: Uint8Array): Delivered {
  const { index, signed, extra } = parseTlogProof(_proof);
  const { sequence, as_of } = parseProofExtra(defined(extra, 'what a proof adds')).entry;
  const release = new Release([body], sequence, as_of);
  const entry = releaseEntryBytes(release.entry);
  const tree = new Tree(Array<Uint8Array>(index + 1).fill(leafHash(entry, sha256)));
  const signText = (text: string): string => signBytes(Buffer.from(text), signingKey(seed));
  const root = { origin: signed.origin, size: tree.size, root: tree.root() };
  const checkpoint = signCheckpoint(root, { logSigners: [{ did: didOf(seed), signText }] });
  const path = { index, hashes: tree.path(index) };
  return { ...body, _proof: formatTlogProof({ ...path, checkpoint, extra: release.extra(body) }) };
}
