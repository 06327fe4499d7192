import { z } from 'zod';
import { DAY_MS } from '../format/iso-time.ts';
import { REGISTER_ROWS } from './builtin-files.ts';

/**
 * The register of agencies: where each is asked, until when, how often, and what its terms say. It is data, one row a
 * source in `register.json`, and an operator's configuration may replace parts of a row. Pure: instants are parameters.
 */

const day = z.iso.date('not a day such as 2026-11-29');
/** A month stands for its last day. */
const dayOrMonth = z.union([day, z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'not a month')]);
const page = z.url({ protocol: /^https$/ });

/** One address, and when it answers. Of those that do, the first is asked, and the next ones where it fails. */
const addressSchema = z.strictObject({
  /** With `{name}` for each value that the importer fills in, and `{key}` for a key that is part of the path. */
  url: z.string().regex(/^https:\/\/[a-z0-9.-]+\/\S*$/, 'not an https address with a path'),
  /** Absent where it has always answered. */
  from: day.exactOptional(),
  /** The last day or month; absent where no end is announced. */
  ends: dayOrMonth.exactOptional(),
  /** Who says so. */
  page: page.exactOptional(),
  /** The parameter that asks for the page behind this one. */
  cursor: z.string().min(1).exactOptional(),
});
export type AddressRow = z.infer<typeof addressSchema>;

/** Where a data key goes. Its value comes from the environment alone. */
const keySchema = z
  .strictObject({
    variable: z.string().regex(/^SIGNALPRESS_[A-Z0-9_]+_KEY$/, 'not a name like SIGNALPRESS_…_KEY'),
    in: z.enum(['query', 'path', 'header']),
    /** Of the parameter or the header. */
    name: z.string().min(1).exactOptional(),
    /** Why there must be one and how it is had, in words that "and set VARIABLE" ends; absent where it is free. */
    because: z.string().min(1).exactOptional(),
    /** Without one the agency answers too, to fewer requests. */
    is_optional: z.literal(true).exactOptional(),
  })
  .refine((key) => key.in === 'path' || key.name !== undefined, {
    error: 'a key in a query or header has a "name"',
    path: ['name'],
  });

/** As the agency states them; a limit that it does not state is absent. */
const paceSchema = z.strictObject({
  /** How often it publishes. */
  every_minutes: z.int().min(1),
  /** What is asked at most; ours where the agency states no limit. */
  per_minute: z.number().positive(),
  per_hour: z.int().min(1).exactOptional(),
  per_day: z.int().min(1).exactOptional(),
});

const termsSchema = z.strictObject({
  /** Works of the US government have no copyright: 17 USC 105. */
  licence: z.enum([
    'us-government',
    'public-domain',
    'attribution',
    'non-commercial',
    'own-terms',
    'unstated',
  ]),
  /** False: it is asked only with the key of a paid plan. */
  may_be_sold: z.boolean(),
  /** The words that the terms ask for, or that name the agency where they ask for its name. */
  attribution: z.string().min(1).max(400).exactOptional(),
  /** What the terms ask to say of figures that are not final. */
  preliminary: z.string().min(1).max(400).exactOptional(),
  /** Who says so, and the day it was read; absent where that is yet to be done. */
  page,
  read_on: day.exactOptional(),
});

export const sourceRowSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/),
  /** Who publishes it, as a noun phrase. */
  agency: z.string().min(1),
  /** Ids of signals and of kinds of roster. */
  feeds: z.tuple([z.string()], z.string()),
  format: z.enum(['json', 'csv', 'xml', 'text']),
  /** By name; each name is asked. None for a source that can only be imported from files. */
  addresses: z.record(z.string(), z.tuple([addressSchema], addressSchema)),
  /** Other hosts of the agency that an address may lead to. */
  hosts: z.array(z.string().min(1)).exactOptional(),
  /** Value of the `Accept` header; the media type of the format where it is absent. */
  accept: z.string().exactOptional(),
  /** Media types that it answers with beside the usual ones of its format. */
  media_types: z.array(z.string()).exactOptional(),
  pace: paceSchema,
  key: keySchema.exactOptional(),
  /** The agency refuses requests that name no contact. */
  needs_contact: z.literal(true).exactOptional(),
  /** Nothing is imported unless every address answered: what is missing from the answers counts as absent. */
  is_whole: z.literal(true).exactOptional(),
  terms: termsSchema,
});
export type SourceRow = z.infer<typeof sourceRowSchema>;

/** What an operator may say of a source in place of its row: a name of addresses is replaced whole. */
export const rowChangesSchema = sourceRowSchema
  .pick({ addresses: true, key: true, hosts: true })
  .partial();
export type RowChanges = z.infer<typeof rowChangesSchema>;

/** Every source, in the order of its id. */
export const REGISTER: readonly SourceRow[] = REGISTER_ROWS.map((row) =>
  sourceRowSchema.parse(row),
);

/** What is said of a signal or a collection that no row feeds. */
export const UNSOURCED = 'no public source known';

/** The rows that feed a signal or a collection. */
export function sourcesOf(id: string): SourceRow[] {
  return REGISTER.filter(({ feeds }) => feeds.includes(id));
}

/** The row of a source; throws a RangeError for an id that no row has. */
export function rowOf(id: string): SourceRow {
  const found = REGISTER.find((row) => row.id === id);
  if (found === undefined) throw new RangeError(`Cannot find source "${id}": not in the register`);
  return found;
}

/** Every host that may answer for a row. */
export function hostsOf({ addresses, hosts = [] }: SourceRow): string[] {
  const asked = Object.values(addresses)
    .flat()
    .map(({ url }) => new URL(url).host);
  return [...new Set([...asked, ...hosts])];
}

/** The first instant after the end of an address, in epoch milliseconds; null without an end. */
export function endOf({ ends }: AddressRow): number | null {
  if (ends === undefined) return null;
  if (ends.length > 7) return Date.parse(ends) + DAY_MS;
  const [year = 0, month = 0] = ends.split('-').map(Number);
  return Date.UTC(year, month);
}

/** Whether an address answers at an instant in epoch milliseconds, as far as the register knows. */
export function isOpen(address: AddressRow, now: number): boolean {
  const { from } = address;
  return (from === undefined || Date.parse(from) <= now) && now < (endOf(address) ?? Infinity);
}

/** Why nothing says that what a source gives may be sold; null where its terms were read, or where it needs none. */
export function saleDoubt({ terms }: SourceRow): string | null {
  const { licence, may_be_sold, page, read_on } = terms;
  if (!may_be_sold || read_on !== undefined || licence === 'us-government') return null;
  return `nobody has read its terms, so nothing says that it may be sold: ${page}`;
}

/** What an operator should know of a source. */
export interface SourceNotice {
  readonly id: string;
  /** Ended or ending addresses, terms that forbid sale or are not known to allow it, words to show, and pages yet to be read. */
  readonly about: 'end' | 'sale' | 'attribution' | 'terms';
  /** An end that is yet to come, or that leaves nothing to ask. */
  readonly isPressing: boolean;
  readonly text: string;
}

/** An end that is nearer than this is told. */
const NOTICE_MS = 90 * DAY_MS;

/** What the register says of a source at an instant in epoch milliseconds. */
export function noticesOf(row: SourceRow, now: number): SourceNotice[] {
  const { id, addresses, key, terms } = row;
  const doubt = saleDoubt(row);
  const { licence, may_be_sold, attribution, page, read_on } = terms;
  const ends = Object.values(addresses).flatMap((list) => {
    const lasting = list.find((one) => isOpen(one, now) && isOpen(one, now + NOTICE_MS));
    return list.flatMap((one) => {
      const end = endOf(one);
      if (end === null || end > now + NOTICE_MS) return [];
      const when = `${end <= now ? 'ended' : 'ends'} on ${one.ends}`;
      const see = one.page === undefined ? '' : ` (${one.page})`;
      const after =
        lasting === undefined ? 'nothing is known' : `${plainUrl(lasting.url)} is asked`;
      const text = `${plainUrl(one.url)} ${when}${see}; ${after} in its place`;
      const isPressing = end > now || lasting === undefined;
      return [{ id, about: 'end', isPressing, text } as const];
    });
  });
  const told = (about: SourceNotice['about'], text: string) =>
    [{ id, about, isPressing: false, text }] as const;
  const paid = key === undefined ? '' : `, with its key in ${key.variable}`;
  return [
    ...ends,
    ...(may_be_sold
      ? []
      : told('sale', `its terms (${licence}) forbid sale without a paid plan${paid}: ${page}`)),
    ...(attribution === undefined ? [] : told('attribution', `its terms want: "${attribution}"`)),
    ...(doubt === null ? [] : told('sale', doubt)),
    ...(read_on === undefined && doubt === null
      ? told('terms', `its page of terms (${licence}) is yet to be read: ${page}`)
      : []),
  ];
}

/** An address without its query, as people know it. */
function plainUrl(url: string): string {
  return url.replace(/\?.*$/, '');
}
