import { ClientError } from '../../compiler/client/client-error.ts';
import { judgePurchase } from '../../compiler/client/judge-purchase.ts';
import { verify } from '../../compiler/client/verify.ts';
import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import type { BodyReport } from '../../compiler/verify/verify-body.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import type { Service } from '../../gatekeeper/answers/service.ts';
import { check } from '../../gatekeeper/rooms/check.ts';
import { jsonOf, question } from '../../test/gatekeeper/tiny-service.ts';
import { hasPython, pythonVerdicts } from '../../test/verify/python-judge.ts';

/** Bodies that one Python process judges. */
const PYTHON_BATCH = 500;

/** Whom a judge believes, and when. */
export interface Trusted {
  readonly did: string;
  readonly service: Service;
  /** Clock of the reader, epoch milliseconds. */
  readonly now: number;
}

/** A text, and the request that it is handed out for. */
export interface Handed {
  readonly target: string;
  readonly text: string;
}

/** What each judge says; `unreadable` for a text that it does not take for a body. */
export interface Verdicts {
  /** `signalpress verify FILE`. */
  readonly command: string;
  /** `POST /gauge/verify`. */
  readonly service: string;
  /** `verify()` of the client. */
  readonly library: string;
  /** `verify_record.py`; null without Python. */
  readonly python: string | null;
  /** The client that paid for the request. */
  readonly buyer: 'taken' | 'refused';
}

export const UNREADABLE = 'unreadable';
/** Failed for the classes that the catalogue names, which `verify_record.py` does not have (FORMAT.md, sections 4 and 11). */
export const OF_CATALOG = 'failed by the catalogue';
const IN_CATALOG = /(^|\.)lit$/;

/** Every judge on every text. */
export async function allVerdicts(given: readonly Handed[], trusted: Trusted): Promise<Verdicts[]> {
  const second = hasPython ? inPython(given, trusted) : [];
  const found: Verdicts[] = [];
  for (const [at, handed] of given.entries()) {
    found.push({
      command: await ofCommand(handed, trusted),
      service: await ofService(handed, trusted),
      library: ofLibrary(handed, trusted),
      python: second[at] ?? null,
      buyer: ofBuyer(handed, trusted),
    });
  }
  return found;
}

async function ofCommand({ text }: Handed, { did, now }: Trusted): Promise<string> {
  const readStdin = (): Uint8Array => Buffer.from(text);
  const outcome = await runVerify('-', { issuer: [did], now, readStdin, json: true });
  const { verdict, checks = [] } = JSON.parse(outcome.text) as Pick<BodyReport, 'checks'> & {
    readonly verdict: string;
  };
  const failed = checks.filter(({ status }) => status === 'fail');
  const isOfCatalog =
    failed.length > 0 &&
    failed.every(({ check: name, where }) => name === 'catalog' || IN_CATALOG.test(where));
  if (isOfCatalog) return OF_CATALOG;
  return verdict === 'undecided' ? UNREADABLE : verdict;
}

async function ofService({ text }: Handed, { service }: Trusted): Promise<string> {
  const posted = question('/gauge/verify', 'application/json', Buffer.from(text));
  const answered = await check(posted, service);
  return answered.kind === 'content' ? String(jsonOf(answered).verdict) : UNREADABLE;
}

function ofLibrary({ text }: Handed, { did, now }: Trusted): string {
  const { verdict, body } = verify(text, { issuer: did, now });
  return body === null ? UNREADABLE : verdict;
}

function inPython(given: readonly Handed[], { did, now }: Trusted): string[] {
  const verdicts: string[] = [];
  for (let from = 0; from < given.length; from += PYTHON_BATCH) {
    const texts = given.slice(from, from + PYTHON_BATCH).map(({ text }) => text);
    verdicts.push(...pythonVerdicts(texts, [did], now).map(({ verdict }) => verdict));
  }
  return verdicts;
}

function ofBuyer({ target, text }: Handed, { did, now }: Trusted): Verdicts['buyer'] {
  const payment = { url: `https://shop.example${target}`, header: 'x-payment', value: '' } as const;
  const asked = { trusted: { trust: [did] }, target, now, catalog: BUILTIN, isSoldNow: true };
  try {
    judgePurchase({ bytes: Buffer.from(text), receipt: null, payment }, asked);
    return 'taken';
  } catch (error) {
    if (error instanceof ClientError) return 'refused';
    throw error;
  }
}
