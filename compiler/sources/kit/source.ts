import type { FetchNote, Imported, Payload } from './payload.ts';

/** An official source. Its row in SOURCES adds it to `import`, `fetch` and `run`. */
export interface Source {
  readonly id: string;
  /** Who publishes it, as a noun phrase. */
  readonly agency: string;
  /** Raised when the same bytes give other readings than before. */
  readonly version: number;
  readonly format: 'json' | 'csv' | 'xml' | 'text';
  readonly feeds: readonly [string, ...string[]];
  /**
   * Makes readings of one payload. Pure: the same payload gives the same readings. Throws an ImportError for a payload
   * that is not what the source documents, or of which a part that matters cannot be read.
   */
  readonly read: (payload: Payload) => Imported;
  /** The note that the payload itself holds; absent where it holds no time of its own. */
  readonly ownNote?: (bytes: Uint8Array, subject: string) => FetchNote;
  /** Stands for the address of a payload that came without a note; the first host of the plan where it is absent. */
  readonly home?: string;
  /** How the agency is asked; null for a source that an operator can only import from files. */
  readonly fetch: FetchPlan | null;
}

export interface FetchPlan {
  /** Hosts that answer for the agency; a redirect elsewhere is refused. */
  readonly hosts: readonly [string, ...string[]];
  /**
   * Addresses to ask, without keys. `entities` are those that the operator wants; empty asks for all that the source
   * knows by itself.
   */
  readonly addresses: (wanted: Wanted) => readonly string[];
  /** Value of the `Accept` header; the media type of the format where it is absent. */
  readonly accept?: string;
  readonly everyMinutes: number;
  readonly perMinute: number;
  /** Media types that it answers with beside the usual ones of its format, such as "text/html" for a table in a page. */
  readonly mediaTypes?: readonly string[];
  /**
   * The environment variable with the data key, and the query parameter that carries it; "{key}" in an address stands for
   * a key that is part of the path. `because` says why there must be one, and how it is had.
   */
  readonly key?: {
    readonly variable: string;
    readonly parameter: string;
    readonly because?: string;
  };
  /** The agency refuses requests that name no contact. */
  readonly needsContact?: true;
  /** Nothing is imported unless every address answered: what is missing from the answers counts as absent. */
  readonly isWhole?: true;
  /** Address of the page behind a payload; null behind the last one. */
  readonly nextPage?: (payload: Payload) => string | null;
}

/** Whether an operator wants an entity; where none is named, all are wanted. */
export function isWanted({ entities }: Pick<Wanted, 'entities'>, entity: string): boolean {
  return entities.length === 0 || entities.includes(entity);
}

export interface Wanted {
  readonly entities: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
}
