/** Hands out the account nonces of one account, each to one transaction at a time. */
interface AccountNonces {
  /** The lowest free nonce; waits while too many are in use. */
  take(): Promise<number>;
  /** The nonce was not used: somebody else may have it. */
  giveBack(nonce: number): void;
  /** The nonce is used by something that is not ours: the chain must be asked where to go on. */
  skip(nonce: number): void;
  /** The transaction of this nonce is over. */
  done(nonce: number): void;
  /** Takes the nonces that were given back below one that is out; those already used are forgotten. */
  takeGaps(range: { readonly used: number; readonly below: number }): readonly number[];
}

interface AccountNoncesOptions {
  /** Nonces that may be out at once. */
  readonly max: number;
  /** The account's next nonce as the node sees it, what waits there included. */
  readonly onChain: () => Promise<number>;
}

export function accountNonces({ max, onChain }: AccountNoncesOptions): AccountNonces {
  const out = new Set<number>();
  const gaps = new Set<number>();
  const waiting: (() => void)[] = [];
  let next: number | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const allot = async (): Promise<number> => {
    while (out.size >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    if (out.size === 0) {
      // Nobody is on the way, so the chain knows best.
      gaps.clear();
      next = null;
    }
    const [gap] = [...gaps].sort((left, right) => left - right);
    const nonce = gap ?? next ?? Math.max(await onChain(), ...[...out].map((used) => used + 1));
    if (gap === undefined) next = nonce + 1;
    else gaps.delete(gap);
    out.add(nonce);
    return nonce;
  };
  const release = (nonce: number): void => {
    out.delete(nonce);
    waiting.shift()?.();
  };
  return {
    take() {
      // One after another: two must not find the same nonce free.
      const taken = last.then(allot);
      last = taken.catch(() => {});
      return taken;
    },
    giveBack(nonce) {
      if (next === nonce + 1) next = nonce;
      else gaps.add(nonce);
      release(nonce);
    },
    skip(nonce) {
      next = null;
      release(nonce);
    },
    done: release,
    takeGaps({ used, below }) {
      const taken = [...gaps].filter((nonce) => nonce < below);
      for (const nonce of taken) gaps.delete(nonce);
      const open = taken.filter((nonce) => nonce >= used);
      for (const nonce of open) out.add(nonce);
      return open;
    },
  };
}
