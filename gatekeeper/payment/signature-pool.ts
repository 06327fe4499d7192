import type { Network } from '../money/networks.ts';
import type { Payment } from '../money/payment.ts';
import { noteSigner, transferDigest } from '../money/signature.ts';

/** Recovers signers in another thread, in blocks: it is the dearest step of a payment. */
export interface SignaturePool {
  /** When it resolves, signedBy() knows who signed, or finds out by itself. */
  judge(payment: Payment, network: Network): Promise<void>;
}

/** Jobs of one block: while its payments are written down, the next block is recovered. */
const BLOCK_JOBS_MAX = 64;

/** One signature to recover. */
export interface SignatureJob {
  readonly digest: Uint8Array;
  readonly signature: string;
}

interface WaitingJob extends SignatureJob {
  readonly payment: Payment;
  readonly network: Network;
  readonly resolve: () => void;
}

/** One block is under way at a time; what comes meanwhile makes the next one. */
export function signaturePool(port: {
  postMessage(block: readonly SignatureJob[]): void;
  /** Who signed each of a block, null where nobody did. */
  on(event: 'message', listener: (signers: readonly (string | null)[]) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}): SignaturePool {
  const waiting: WaitingJob[] = [];
  let under: WaitingJob[] = [];
  let isScheduled = false;
  let isBroken = false;
  const send = (): void => {
    isScheduled = false;
    if (under.length > 0 || waiting.length === 0) return;
    under = waiting.splice(0, BLOCK_JOBS_MAX);
    port.postMessage(under.map(({ digest, signature }) => ({ digest, signature })));
  };
  port.on('message', (signers) => {
    const done = under;
    under = [];
    send();
    for (const [at, { digest, signature, payment, network, resolve }] of done.entries()) {
      const payer = signers[at];
      if (payer !== undefined)
        noteSigner(payment.authorization, { network, signature, digest, payer });
      resolve();
    }
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
