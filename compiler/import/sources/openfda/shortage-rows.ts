import { z } from 'zod';
import { ImportError, jsonOf, type Payload } from '../../payload.ts';
import { unzipped } from '../../unzipped.ts';

export type State =
  | 'available'
  | 'limited'
  | 'unavailable'
  | 'discontinued'
  | 'resolved'
  | 'unreadable';

/** One package of one maker; days in epoch milliseconds, null where they cannot be read. */
export interface ShortageRow {
  /** Generic name with salt and dosage form, in lower case. */
  readonly name: string;
  readonly ndc: string;
  readonly company: string;
  /** Null where the row names none. */
  readonly classes: readonly string[] | null;
  readonly state: State;
  readonly updated: number | null;
  readonly posted: number | null;
}
interface ShortageList {
  readonly rows: readonly ShortageRow[];
  /** Day of the batch, in epoch milliseconds. */
  readonly lastUpdated: number;
}

/** A word that stands for nothing would be counted as one more name. */
const NOTHING = /^(?:n\/?a|null|none|unknown|-*)$/i;
const stated = z
  .string()
  .trim()
  .refine((text) => !NOTHING.test(text), 'a word for nothing');
const rowSchema = z.looseObject({
  generic_name: stated,
  package_ndc: z.string().trim(),
  company_name: z.string().trim(),
  therapeutic_category: z.array(stated).min(1).optional(),
  status: z.string(),
  availability: z.string().optional(),
  update_date: z.string(),
  initial_posting_date: z.string(),
});
const listSchema = z.looseObject({
  meta: z.looseObject({
    last_updated: z.iso.date(),
    results: z.looseObject({ skip: z.int(), total: z.int() }),
  }),
  results: z.array(rowSchema).min(1),
});

const US_DAY = /^(\d{2})\/(\d{2})\/(\d{4})$/;
/** First letters, because the list misspells the words. */
const AVAILABILITY: readonly (readonly [start: string, state: State])[] = [
  ['avail', 'available'],
  ['limit', 'limited'],
  ['un', 'unavailable'],
];

/**
 * The whole list of shortages, from the bulk file or an answer that holds all of it. Throws an ImportError for a part: what
 * is left out would count as not short.
 */
export function shortageList(payload: Payload): ShortageList {
  const { subject, note } = payload;
  const { meta, results } = jsonOf(unzipped(payload), listSchema, 'a list of drug shortages');
  const { skip, total } = meta.results;
  if (skip !== 0 || total !== results.length) {
    const state = `it announces ${total} rows and holds ${results.length} from ${skip} on; counts need the whole list, import the bulk file`;
    throw new ImportError({ subject, state });
  }
  if (new URL(note.url).searchParams.has('search')) {
    const state = 'an answer to a search, which is not the whole list; import the bulk file';
    throw new ImportError({ subject, state });
  }
  return { rows: results.map(rowOf), lastUpdated: Date.parse(meta.last_updated) };
}

function rowOf(row: z.infer<typeof rowSchema>): ShortageRow {
  return {
    name: row.generic_name.toLowerCase().replace(/\s+/g, ' '),
    ndc: row.package_ndc,
    company: row.company_name.toLowerCase(),
    classes: row.therapeutic_category ?? null,
    state: stateOf(row),
    updated: usDay(row.update_date),
    posted: usDay(row.initial_posting_date),
  };
}

function stateOf(row: z.infer<typeof rowSchema>): State {
  const { status, availability, package_ndc, company_name } = row;
  if (NOTHING.test(package_ndc) || NOTHING.test(company_name)) return 'unreadable';
  if (status === 'To Be Discontinued') return 'discontinued';
  if (status === 'Resolved') return 'resolved';
  const word = availability?.toLowerCase() ?? '';
  const found = AVAILABILITY.find(([start]) => word.startsWith(start));
  return status === 'Current' && found !== undefined ? found[1] : 'unreadable';
}

/** "06/09/2026"; null where it is written otherwise or no such day exists. */
export function usDay(text: string): number | null {
  const [, month, day, year] = US_DAY.exec(text) ?? [];
  const iso = `${year}-${month}-${day}`;
  return z.iso.date().safeParse(iso).success ? Date.parse(iso) : null;
}

/** Whether a package has the status Current; null where one that cannot be read decides. */
export function isListed(rows: readonly ShortageRow[]): boolean | null {
  const current: readonly State[] = ['available', 'limited', 'unavailable'];
  if (rows.some(({ state }) => current.includes(state))) return true;
  return rows.some(({ state }) => state === 'unreadable') ? null : false;
}
