import type { Facilitator, FacilitatorRequest, NoVerdict } from './facilitator.ts';

/** Settlements of one payer that are asked for at once; more wait for their turn. */
export const SETTLEMENTS_PER_PAYER_MAX = 64;
/** Settlements of one payer that wait; a payment beyond them is told to come again before anybody is charged. */
export const WAITING_PER_PAYER_MAX = 256;
/** Longest wait for a turn. */
export const TURN_TIMEOUT_MS = 30_000;

export interface PayerLimitOptions {
  readonly settlements?: number;
  readonly waiting?: number;
  readonly turnTimeoutMs?: number;
}

interface Line {
  running: number;
  readonly waiting: Set<(turn: boolean) => void>;
}

/** Keeps one payer from taking all of a facilitator's time. */
export function payerLimit(facilitator: Facilitator, options: PayerLimitOptions = {}): Facilitator {
  const { settlements = SETTLEMENTS_PER_PAYER_MAX, waiting = WAITING_PER_PAYER_MAX } = options;
  const { turnTimeoutMs = TURN_TIMEOUT_MS } = options;
  const lines = new Map<string, Line>();
  return {
    async verify(request) {
      const line = lines.get(payerOf(request));
      if (line !== undefined && line.waiting.size >= waiting) return TOO_MANY;
      return facilitator.verify(request);
    },
    async settle(request) {
      const payer = payerOf(request);
      const line = lines.get(payer) ?? { running: 0, waiting: new Set() };
      lines.set(payer, line);
      if (line.running >= settlements) {
        const mayWait = line.waiting.size < waiting;
        if (!mayWait || !(await turn(line, turnTimeoutMs))) return TOO_MANY;
      }
      line.running += 1;
      try {
        return await facilitator.settle(request);
      } finally {
        line.running -= 1;
        next(line);
        if (line.running === 0 && line.waiting.size === 0) lines.delete(payer);
      }
    },
    supported: () => facilitator.supported(),
  };
}

function turn({ waiting }: Line, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const come = (isTurn: boolean): void => {
      clearTimeout(timer);
      waiting.delete(come);
      resolve(isTurn);
    };
    const timer = setTimeout(come, timeoutMs, false);
    waiting.add(come);
  });
}

function next({ waiting }: Line): void {
  const [first] = waiting;
  first?.(true);
}

function payerOf({ paymentPayload }: FacilitatorRequest): string {
  return paymentPayload.payload.authorization.from.toLowerCase();
}

const TOO_MANY: NoVerdict = {
  verdict: 'none',
  detail: 'too many settlements of this payer at once',
  unsent: true,
};
