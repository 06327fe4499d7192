import { neutralFault } from '../../contract/neutral-text.ts';

/** Members that hold an id, a query or an address: they name something and say nothing. */
const IDENTIFIERS: ReadonlySet<string> = new Set([
  'entity',
  'cik',
  'tickers',
  'host',
  'server_id',
  'coin_id',
  'symbol',
  'signal_id',
  'leg',
  'operation',
  'params',
  'accession',
  'form',
  'items',
  'source',
  'source_ref',
  'first_endpoint',
  'url',
]);
/** Members whose own members are named by whoever stores them: below them a name tells nothing of its value. */
const FREELY_NAMED: ReadonlySet<string> = new Set([
  'current',
  'context',
  'rows',
  'death_context',
  'pre_death_payload',
]);
const ADDRESS = /^https?:\/\/\S+$/i;

/** A text that does not describe, by the member it stands at. */
interface WordFault {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * What is stored is signed and sold, so every text of it describes, wherever it stands: names, scopes, grades and notes as
 * well as what a source says. Finds the texts that forecast, advise or recommend.
 */
export function wordFaults(stored: object): WordFault[] {
  const faults: WordFault[] = [];
  gather(stored, { path: [], isFree: false }, faults);
  return faults;
}

interface MemberPlace {
  readonly path: readonly string[];
  /** Whether a member here may have any name. */
  readonly isFree: boolean;
}

function gather(value: unknown, { path, isFree }: MemberPlace, faults: WordFault[]): void {
  if (typeof value === 'string') {
    const message = ADDRESS.test(value) ? null : neutralFault(value);
    if (message !== null) faults.push({ path, message });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (!isFree && isIdentifier(name, member)) continue;
    gather(member, { path: [...path, name], isFree: isFree || FREELY_NAMED.has(name) }, faults);
  }
}

/** A text of several words is no id, whatever its member is called. */
function isIdentifier(name: string, member: unknown): boolean {
  return IDENTIFIERS.has(name) && !(typeof member === 'string' && /\s/.test(member));
}
