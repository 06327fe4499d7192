import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../compiler/contract/defined.ts';
import { formatKeyHistory } from '../../compiler/contract/key-history.ts';
import { readKeys } from '../../compiler/keys/key-store.ts';
import { runVerify, type VerifyCommandOptions } from '../../compiler/verify/verify-command.ts';
import { makeFolder } from '../../test/snapshot-folder.ts';
import { type Forgery, forgeries } from './forged.ts';
import { monthTime, type Signed, signedIn } from './plan.ts';
import type { Bought, ShopLife } from './shop-life.ts';

/** What a reader has beside the first key and a body. */
const READERS = ['list', 'witnesses', 'release', 'releases'] as const;
export type Reader = (typeof READERS)[number];

/** What `verify` says first. */
export const WORDS = {
  verified: 'verified',
  reading:
    'its readings are older than the theft of the key that signed it, its other words unproven',
  revoked: 'cannot be judged: signed by a key that was revoked later',
  unproven: 'cannot be judged: not proven to be in the log',
  failed: 'FAILED',
} as const;
type Word = keyof typeof WORDS;

const ALL = (word: Word) => ({ list: word, witnesses: word, release: word, releases: word });

/**
 * What each reader has to be told. Whoever has a log, or a policy of witnesses, is never told that a body cannot be judged; the
 * list of keys alone shows no age.
 */
export const EXPECTED: Readonly<
  Record<Signed, Readonly<Record<'reading' | 'statement', Readonly<Record<Reader, Word>>>>>
> = {
  'first key': { reading: ALL('verified'), statement: ALL('verified') },
  'second key': {
    reading: { list: 'revoked', witnesses: 'reading', release: 'reading', releases: 'verified' },
    statement: {
      list: 'revoked',
      witnesses: 'verified',
      release: 'verified',
      releases: 'verified',
    },
  },
  'second key, stolen': { reading: ALL('failed'), statement: ALL('failed') },
  'third key': { reading: ALL('verified'), statement: ALL('verified') },
};

/** What the entry in the log is of. */
const ENTRY_OF = { record: 'reading', series: 'reading', census: 'statement' } as const;

/**
 * What each reader has to be told of a forgery. Other words around a genuine reading are never verified. Of a key that ended,
 * the list alone cannot tell a back-dated statement from a genuine one, but one that came without a proof is left open.
 */
const EXPECTED_OF_FORGERIES: Readonly<Record<Forgery['name'], Readonly<Record<Reader, Word>>>> = {
  'words around a reading': { ...ALL('reading'), list: 'revoked' },
  'joined, old proof': ALL('failed'),
  'joined, no proof': { ...ALL('failed'), list: 'revoked' },
  'retired key': { ...ALL('failed'), list: 'unproven' },
};

export interface Judged {
  /** Who signed it, and of what its entry in the log is; or which forgery it is. */
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
  const judge = judgeAt(life);
  const sold = life.bodies.map(({ month, product, text }) => {
    const signed = signedIn(month, life.plan);
    const entry = ENTRY_OF[product];
    return { text, kind: `${signed}: ${entry}`, row: EXPECTED[signed][entry] };
  });
  const forged = forgeries(life).map(({ name, text }) => {
    return { text, kind: name, row: EXPECTED_OF_FORGERIES[name] };
  });
  const all = async (shown: readonly Shown[]): Promise<Judged[]> => {
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

interface Shown extends Pick<Judged, 'kind'>, Pick<Bought, 'text'> {
  readonly row: Readonly<Record<Reader, Word>>;
}

type Judge = (text: string, reader: Reader) => Promise<Pick<Judged, 'words' | 'logged'>>;

function judgeAt({ data, issuer, plan, witnesses }: ShopLife): Judge {
  const list = join(makeFolder(), 'keys.json');
  writeFileSync(list, formatKeyHistory(defined(readKeys(data) ?? undefined, 'the list of keys')));
  const { policy } = witnesses;
  const by: Readonly<Record<Reader, VerifyCommandOptions>> = {
    list: { keys: list },
    witnesses: { keys: list, policy },
    release: { keys: newestAlone(data) },
    releases: { keys: data },
  };
  const now = Date.parse(monthTime(plan.months, 20));
  return async (text, reader) => {
    const readStdin = (): Uint8Array => Buffer.from(text);
    const report = await runVerify('-', { issuer: [issuer], now, readStdin, ...by[reader] });
    const [first = '', ...lines] = report.text.split('\n');
    const logged = lines.find((line) => /^ +\S+ +logged/.test(line)) ?? '';
    return { words: first.replace(/ +-$/, ''), logged: logged.trim() };
  };
}

/** The data folder without any release but the newest. */
function newestAlone(data: string): string {
  const copy = join(makeFolder(), 'data');
  cpSync(data, copy, { recursive: true, verbatimSymlinks: true });
  const names = readdirSync(join(copy, 'releases')).sort();
  for (const name of names.slice(0, -1)) rmSync(join(copy, 'releases', name), { recursive: true });
  return copy;
}
