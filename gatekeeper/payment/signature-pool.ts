import type { Network } from '../money/networks.ts';
import type { Payment } from '../money/payment.ts';
import { noteSigner, transferDigest } from '../money/signature.ts';
import { packJobs, type SignatureJob, unpackSigners } from './signature-batch.ts';

/** The other thread, as far as the pool needs it. */
interface SignaturePort {
  postMessage(block: Uint8Array, transfer: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (results: Uint8Array) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Recovers signers in another thread, in blocks: it is the dearest step of a payment. */
export interface SignaturePool {
  /** When it resolves, signedBy() knows who signed, or finds out by itself. */
  judge(payment: Payment, network: Network): Promise<void>;
}

/** Jobs of one block: while its payments are written down, the next block is recovered. */
const BLOCK_JOBS_MAX = 64;

interface WaitingJob extends SignatureJob {
  readonly payment: Payment;
  readonly network: Network;
  readonly resolve: () => void;
}

/** One block is under way at a time; what comes meanwhile makes the next one. */
export function signaturePool(port: SignaturePort): SignaturePool {
  const waiting: WaitingJob[] = [];
  let under: WaitingJob[] = [];
  let isScheduled = false;
  let isBroken = false;
  const send = (): void => {
    isScheduled = false;
    if (under.length > 0 || waiting.length === 0) return;
    under = waiting.splice(0, BLOCK_JOBS_MAX);
    const block = packJobs(under);
    port.postMessage(block, [block.buffer]);
  };
  port.on('message', (results) => {
    const done = under;
    under = [];
    send();
    settle(done, unpackSigners(results));
  });
  // Without the thread every signature is recovered where it is needed.
  port.on('error', () => {
    isBroken = true;
    for (const { resolve } of [...under, ...waiting.splice(0)]) resolve();
    under = [];
  });
  return {
    judge(payment, network) {
      if (isBroken) return Promise.resolve();
      return new Promise((resolve) => {
        const { authorization, signature } = payment;
        const digest = transferDigest(network, authorization);
        waiting.push({ digest, signature, payment, network, resolve });
        if (isScheduled || under.length > 0) return;
        isScheduled = true;
        setImmediate(send);
      });
    },
  };
}

function settle(done: readonly WaitingJob[], signers: readonly (string | null)[]): void {
  for (const [index, { digest, signature, payment, network, resolve }] of done.entries()) {
    const payer = signers[index];
    if (payer !== undefined) {
      noteSigner(payment.authorization, { network, signature, digest, payer });
    }
    resolve();
  }
}
