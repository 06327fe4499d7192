import type { TablePath } from '../endpoints.ts';

// What a shop need not offer. A paid operation is left out by having no price; a catalogue that takes prices over, or that
// has no use for a free operation, names it.

const VERIFY = 'buyers verify by it';
const FIND = 'answers, descriptions and the page lead to it';

/** How the path of a free preview of a collection ends. */
const PREVIEW = '/preview';

/** Free operations that every shop offers, and why. */
const NEEDED: Readonly<Partial<Record<TablePath, string>>> = {
  '/gauge/verify': VERIFY,
  '/v/:record_hash': VERIFY,
  '/verify': VERIFY,
  '/proof/:record_hash': VERIFY,
  '/gauge/anchor': VERIFY,
  '/gauge/coverage': FIND,
  '/gauge/catalog': FIND,
  '/gauge/preview': FIND,
  '/gauge/sample': FIND,
  '/gauge/history-preview': FIND,
  '/gauge/channels': FIND,
  '/manifest': FIND,
  '/.well-known/x402': FIND,
  '/.well-known/agent-card.json': FIND,
  '/.well-known/agent.json': FIND,
  '/mcp': FIND,
};

/** What an operation cannot be offered without. */
const NEEDS: Readonly<Partial<Record<TablePath, TablePath>>> = {
  '/resolve': '/resolve/preview',
  '/resolve/proposer': '/resolve/preview',
  '/gauge/watch': '/gauge/subscribe',
  '/gauge/watch-changes': '/gauge/subscribe',
  '/gauge/manifest-sweep': '/gauge/subscribe',
};

/** Why an operation cannot be left out, as the predicate of a sentence; null for one that can. */
export function neededFor(path: string): string | null {
  return NEEDED[path as TablePath] ?? null;
}

/** Whether an operation lacks another one, of those that a catalogue offers. */
export function lacksOther(path: string, offered: ReadonlySet<string>): boolean {
  const other = NEEDS[path as TablePath];
  return other !== undefined && !offered.has(other);
}

/** Whether an operation is the free preview of a collection of which nothing is sold. */
export function previewsNothing(path: string, priced: readonly string[]): boolean {
  if (!path.endsWith(PREVIEW) || neededFor(path) !== null) return false;
  const shown = path.slice(0, -PREVIEW.length);
  return !priced.some((sold) => sold === shown || sold.startsWith(`${shown}/`));
}

/** An operation that is offered and cannot be without a path; null where none is. */
export function userOf(path: string, offered: ReadonlySet<string>): string | null {
  const users = Object.entries(NEEDS).filter(
    ([user, other]) => other === path && offered.has(user),
  );
  return users[0]?.[0] ?? null;
}
