// What an answer of `/resolve` gives back of its request. Nobody signs it: the same signed answer is sold for every cutoff
// of its interval.

const ECHOES = ['cutoff_time', 'market_or_event'] as const;

/** The members of a body that only repeat its request; null for any other body than a settlement answer. */
export function settlementEchoes(body: object): Record<string, unknown> | null {
  if (!isSettlement(body)) return null;
  const found = Object.entries(body).filter(([name]) => isEcho(name));
  return Object.fromEntries(found);
}

/** A body without what only repeats its request. */
export function withoutEchoes<Body extends object>(body: Body): Body {
  if (!isSettlement(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !isEcho(name))) as Body;
}

/** A signed answer as it is delivered to a request; its citation stays the last member. */
export function withEchoes(
  { _citation, ...signed }: { readonly _citation?: unknown },
  echoes: Readonly<Record<(typeof ECHOES)[number], string | null>>,
): object {
  return { ...signed, ...echoes, _citation };
}

function isEcho(name: string): boolean {
  return (ECHOES as readonly string[]).includes(name);
}

/** Only a settlement answer is about an interval of cutoffs, and that is signed: nobody adds echoes to another body. */
export function isSettlement(body: object): boolean {
  return ['basis', 'valid_from', 'valid_until', 'valid_days'].every((name) =>
    Object.hasOwn(body, name),
  );
}
