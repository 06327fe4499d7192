import { hiddenFault } from '../../contract/hidden-signs.ts';
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

/** Texts of several lines, and what is freely named; everything else is a name or one sentence. */
const LINES = 'text';
const LINE_ENDS = /[\t\n\r]/g;

/** A text that is not stored, by the member it stands at. */
interface WordFault {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * What is stored is signed and sold, so every text of it describes, wherever it stands: names, scopes, grades and notes as
 * well as what a source says. Finds the texts that forecast, advise or recommend, and those, ids too, that hold signs
 * which nobody sees or which turn the text around them.
 */
export function wordFaults(stored: object): WordFault[] {
  const faults: WordFault[] = [];
  gather(stored, { path: [], isFree: false, isId: false }, faults);
  return faults;
}

interface MemberPlace {
  readonly path: readonly string[];
  /** Whether a member here may have any name. */
  readonly isFree: boolean;
  /** It names something and says nothing. */
  readonly isId: boolean;
}

function gather(value: unknown, place: MemberPlace, faults: WordFault[]): void {
  const { path, isFree, isId } = place;
  if (typeof value === 'string') {
    const message = textFault(value, place);
    if (message !== null) faults.push({ path, message });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const below = {
      path: [...path, name],
      isFree: isFree || FREELY_NAMED.has(name),
      isId: isId || (!isFree && isIdentifier(name, member)),
    };
    gather(member, below, faults);
  }
}

function textFault(text: string, { path, isFree, isId }: MemberPlace): string | null {
  const line = isFree || path.at(-1) === LINES ? text.replace(LINE_ENDS, ' ') : text;
  return isId || ADDRESS.test(text) ? hiddenFault(line) : neutralFault(line);
}

/** A text of several words is no id, whatever its member is called. */
function isIdentifier(name: string, member: unknown): boolean {
  return IDENTIFIERS.has(name) && !(typeof member === 'string' && /\s/.test(member));
}
