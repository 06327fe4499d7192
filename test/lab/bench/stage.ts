import { capture, signedRequests } from './cases.ts';
import { throwAwayPayer } from './payer.ts';
import type { RecordedAnswer } from './server.ts';

/** What is bought in every run. */
const PRODUCT = '/gauge?entity=us-denver&signal_id=airquality.aqi';

/** Makes payments for the product as requests on the wire. */
export type Signer = (count: number) => Buffer[];

/** Asks a gatekeeper what the product costs, and pays that. */
export async function signerFor(port: number): Promise<Signer> {
  const challenge = await capture(port, PRODUCT);
  if (challenge.status !== 402) throw new Error(`Cannot bench: status ${challenge.status}`);
  const payer = throwAwayPayer(Date.now());
  return (count) => signedRequests(payer, challenge, count);
}

/** One purchase, so that other servers can sell the same bytes. */
export async function boughtBody(port: number, sign: Signer): Promise<string> {
  const [request = Buffer.alloc(0)] = sign(1);
  const payment = /X-PAYMENT: (\S+)/.exec(request.toString())?.[1];
  const answer: RecordedAnswer = await capture(port, PRODUCT, payment);
  if (answer.status !== 200) throw new Error(`Cannot bench: status ${answer.status}`);
  return answer.body;
}

/** The value that a share of all values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
