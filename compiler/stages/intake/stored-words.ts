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
const ADDRESS = /^https?:\/\/\S+$/i;

/** A text that does not describe, by the member it stands at. */
export interface WordFault {
  readonly path: readonly string[];
  readonly message: string;
}

/**
 * What is stored is signed and sold, so every text of it describes, wherever it stands: names, scopes, grades and notes as
 * well as what a source says. Finds the texts that forecast, advise or recommend.
 */
export function wordFaults(stored: object): WordFault[] {
  const faults: WordFault[] = [];
  gather(stored, [], faults);
  return faults;
}

function gather(value: unknown, path: readonly string[], faults: WordFault[]): void {
  if (typeof value === 'string') {
    const message = ADDRESS.test(value) ? null : neutralFault(value);
    if (message !== null) faults.push({ path, message });
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (!IDENTIFIERS.has(name)) gather(member, [...path, name], faults);
    }
  }
}
