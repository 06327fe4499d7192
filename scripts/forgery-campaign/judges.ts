import { ClientError } from '../../compiler/client/client-error.ts';
import { judgePurchase } from '../../compiler/client/judge-purchase.ts';
import { verify } from '../../compiler/client/verify.ts';
import { BUILTIN } from '../../compiler/contract/catalog/builtin.ts';
import type { BodyReport } from '../../compiler/verify/body-check.ts';
import { runVerify } from '../../compiler/verify/verify-command.ts';
import { check } from '../../gatekeeper/rooms/check.ts';
import { jsonOf, question } from '../../test/gatekeeper/tiny-service.ts';
import type { Handed, Trusted } from './forgery.ts';
import { pythonJudges } from './python-judges.ts';

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
  /** The client in Python that paid for it; null without Python. */
  readonly pythonBuyer: 'taken' | 'refused' | null;
}

export const UNREADABLE = 'unreadable';
/** Failed for what lights a built-in signal, which `verify_record.py` does not know (FORMAT.md, section 4). */
export const OF_CATALOG = 'failed by the catalogue';
const IN_CATALOG = /(^|\.)lit$/;

/** Every judge on every text. */
export async function allVerdicts(given: readonly Handed[], trusted: Trusted): Promise<Verdicts[]> {
  const second = pythonJudges(given, trusted);
  const found: Verdicts[] = [];
  for (const [at, handed] of given.entries()) {
    found.push({
      command: await ofCommand(handed, trusted),
      service: await ofService(handed, trusted),
      library: ofLibrary(handed, trusted),
      python: spelled(second?.[at]?.[0] ?? null),
      buyer: ofBuyer(handed, trusted),
      pythonBuyer: second?.[at]?.[1] ?? null,
    });
  }
  return found;
}

async function ofCommand({ text }: Handed, { did, now }: Trusted): Promise<string> {
  const readStdin = (): Uint8Array => Buffer.from(text);
  const own = { issuer: [did], now, json: true, proof: false };
  const outcome = await runVerify('-', { ...own, readStdin });
  const { verdict, checks = [] } = JSON.parse(outcome.text) as Pick<BodyReport, 'checks'> & {
    readonly verdict: string;
  };
  const failed = checks.filter(({ status }) => status === 'fail');
  const isOfCatalog = failed.length > 0 && failed.every(({ where }) => IN_CATALOG.test(where));
  if (isOfCatalog) return OF_CATALOG;
  return spelled(verdict);
}

/** The word for what is no body. */
function spelled<Word extends string | null>(verdict: Word) {
  return verdict === 'undecided' ? UNREADABLE : verdict;
}

async function ofService({ text }: Handed, { service }: Trusted): Promise<string> {
  const posted = question('/gauge/verify', 'application/json', Buffer.from(text));
  const answered = await check(posted, service);
  return answered.kind === 'content' ? String(jsonOf(answered).verdict) : UNREADABLE;
}

function ofLibrary({ text }: Handed, { did, now }: Trusted): string {
  const { verdict, body } = verify(text, { issuer: did, now, demandsProof: false });
  return body === null ? UNREADABLE : verdict;
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
