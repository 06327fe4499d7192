import { type AddressRow, endOf, isOpen, rowOf, type SourceRow } from '../../catalog/register.ts';
import type { FetchNote, Imported, Payload } from './payload.ts';

/** A source that can be imported. Its row in SOURCES adds it to `import`, `fetch` and `run`. */
export interface Source extends Pick<SourceRow, 'id' | 'agency' | 'format' | 'feeds'> {
  /** Its row in the register, with what an operator says in its place; null for a table that only files hold. */
  readonly row: SourceRow | null;
  /** Raised when the same bytes give other readings than before. */
  readonly version: number;
  /**
   * Makes readings of one payload. Pure: the same payload gives the same readings. Throws an ImportError for a payload
   * that is not what the source documents, or of which a part that matters cannot be read.
   */
  readonly read: (payload: Payload) => Imported;
  /** How the agency says that there is no value, where it does not leave it out. None of them becomes a value. */
  readonly sentinels?: readonly (string | number | null)[];
  /** The note that the payload itself holds; absent where it holds no time of its own. */
  readonly ownNote?: (bytes: Uint8Array, subject: string) => FetchNote;
  /** Stands for the address of a payload that came without a note; the first host of the row where it is absent. */
  readonly home?: string;
  /**
   * What to ask for. `entities` are those that the operator wants; empty asks for all that the source knows by itself.
   * Absent where each address of the row is asked as it stands.
   */
  readonly asks?: (wanted: Wanted) => readonly Ask[];
  /** What asks for the page behind a payload, where the address names a parameter for it; null behind the last one. */
  readonly nextCursor?: (payload: Payload) => string | null;
}

/** One question: an address of the row by its name, the only one where there is no other, and what stands in its braces. */
export interface Ask {
  readonly to?: string;
  readonly with?: Readonly<Record<string, string>>;
  /** The entity that it is about, where it is one; messages name it. */
  readonly about?: string;
}

export interface Wanted {
  readonly entities: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** An address as it is asked, without a key. */
export interface Address extends Pick<AddressRow, 'cursor'>, Pick<Ask, 'about'> {
  readonly url: string;
}

/** What a source has of its row in the register; throws a RangeError for an id that it does not name. */
export function registered(id: string) {
  const row = rowOf(id);
  const { agency, format, feeds } = row;
  return { id, agency, format, feeds, row };
}

/** Whether an operator wants an entity; where none is named, all are wanted. */
export function isWanted({ entities }: Pick<Wanted, 'entities'>, entity: string): boolean {
  return entities.length === 0 || entities.includes(entity);
}

/**
 * The addresses of each question that answer now: the first is asked, the next ones where it fails. A name of which all have
 * ended asks for nothing. Throws a RangeError where that leaves nothing, or leaves a whole incomplete.
 */
export function addressesAt(
  { row, asks }: Pick<Source, 'row' | 'asks'>,
  wanted: Wanted,
): (readonly [Address, ...Address[]])[] {
  const { addresses = {}, is_whole } = row ?? {};
  const names = Object.keys(addresses);
  const ended = names.filter((name) => !addresses[name]?.some((one) => isOpen(one, wanted.now)));
  const [name] = ended;
  if (name !== undefined && (is_whole === true || ended.length === names.length)) {
    const [{ page } = {}] = addresses[name]?.filter((one) => endOf(one) !== null) ?? [];
    const see = page === undefined ? '' : `; see ${page}`;
    throw new RangeError(
      `its address "${name}" has ended${see}; name its successor in "addresses"`,
    );
  }
  const asked = asks?.(wanted) ?? names.map((to) => ({ to }));
  return asked.flatMap(({ to = names[0] ?? '', with: values = {}, about }: Ask) => {
    const open = addresses[to]?.filter((one) => isOpen(one, wanted.now)) ?? [];
    const [first, ...others] = open.map(({ url, cursor }) => ({
      url: filled(url, values),
      ...(cursor === undefined ? {} : { cursor }),
      ...(about === undefined ? {} : { about }),
    }));
    return first === undefined ? [] : [[first, ...others] as const];
  });
}

/** An address with values in its braces; what stands for a key stays. */
function filled(url: string, values: Readonly<Record<string, string>>): string {
  return url.replaceAll(/\{(\w+)\}/g, (place, name: string) => {
    if (name === 'key') return place;
    const value = values[name];
    if (value === undefined) throw new RangeError(`its address has an unknown place, ${place}`);
    return value;
  });
}

/** The same address for the page that a cursor stands for. */
export function pageAddress({ url, cursor = '' }: Address, value: string): string {
  const [start = '', query = ''] = url.split('?');
  const others = query.split('&').filter((text) => text !== '' && !text.startsWith(`${cursor}=`));
  return `${start}?${[...others, `${cursor}=${encodeURIComponent(value)}`].join('&')}`;
}
