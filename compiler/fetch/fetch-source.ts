/**
 * One source, asked once: every address, page after page, politely.
 *
 *  1. `addressesOf()` says why it is not asked at all: no contact, no key, no entity.
 *  2. `askAll()` asks one address after the other. One that fails is left behind; an agency that turns us away, or fails at
 *     several addresses in a row, is asked nothing more.
 *  3. `noteAnswers()` archives what came. Bytes that came before, and a 304, are a look: it is remembered, and noted only once
 *     the agency was due to publish again.
 */
import type { Source } from '../import/source.ts';
import type { Archived } from './archive.ts';
import { type Asked, askAll, type FetchBy } from './ask-agency.ts';
import { forgetOldLooks, noteAnswers } from './note-answers.ts';

const FAILURES_SHOWN_MAX = 3;
/** A clock that is further off than this is worth a remark. */
const CLOCK_SKEW_MS_MAX = 300_000;

/** What came of asking a source. */
export interface FetchOutcome {
  readonly source: string;
  /** Fetches to import, in order. */
  readonly fetched: readonly Archived[];
  /** Addresses that answered. */
  readonly answered: number;
  /** Addresses that answered with other bytes than before. */
  readonly changed: number;
  /** Why it failed, wholly or in part; null when all is well. */
  readonly failure: string | null;
  /** It was cut short because this process is to end; nothing is wrong with the source. */
  readonly isCut: boolean;
  /** How long the agency asks to wait, in milliseconds. */
  readonly waitMs: number | null;
  readonly remarks: readonly string[];
}

/** Asks a source. Never throws for what an agency does; a disk that fails throws. */
export async function fetchSource(
  source: Source,
  entities: readonly string[],
  by: FetchBy,
): Promise<FetchOutcome> {
  const none = {
    source: source.id,
    fetched: [],
    answered: 0,
    changed: 0,
    waitMs: null,
    isCut: false,
  };
  const plan = source.fetch;
  const addresses = addressesOf(source, entities, { ...by, now: by.clock.now() });
  if (plan === null || typeof addresses === 'string') {
    return { ...none, failure: String(addresses), remarks: [] };
  }
  const looks = new Map(by.archive.looks(source.id));
  const run = { source, plan, looks, by };
  const asked = await askAll(addresses, run);
  const { fetched, changed } = noteAnswers(asked, run);
  forgetOldLooks(looks, by.clock.now());
  by.archive.saveLooks(source.id, looks);
  return {
    ...none,
    fetched,
    changed,
    answered: asked.answered.length,
    failure: failureOf(asked),
    isCut: asked.isCut,
    waitMs: longestWait(asked),
    remarks: skewRemarks(asked),
  };
}

/** What a source needs besides its entities. */
interface Needed extends Pick<FetchBy, 'contact' | 'keyOf'> {
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The addresses to ask, or why none can be asked. */
export function addressesOf(
  { id, fetch: plan }: Source,
  entities: readonly string[],
  { now, contact, keyOf }: Needed,
): readonly string[] | string {
  if (plan === null) return 'it cannot be fetched; import its files with "signalpress import"';
  if (plan.needsContact === true && contact === null) {
    return 'it refuses requests that name no contact; set SIGNALPRESS_CONTACT to mailto:you@example.org';
  }
  if (plan.key !== undefined && (keyOf(plan.key.variable) ?? '') === '') {
    const { variable, because = 'it needs a data key; get one from the agency' } = plan.key;
    return `${because} and set ${variable}`;
  }
  try {
    const addresses = plan.addresses({ entities, now });
    if (addresses.length > 0) return addresses;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return `it does not know what to ask for; name entities, as in --entities or in the configuration of "${id}"`;
}

function longestWait({ failures }: Asked): number | null {
  const waits = failures.flatMap(({ fault }) => fault.waitMs ?? []);
  return waits.length === 0 ? null : Math.max(...waits);
}

function failureOf({ answered, failures, unasked }: Asked): string | null {
  if (failures.length === 0) return null;
  const shown = failures.slice(0, FAILURES_SHOWN_MAX).map(({ message }) => message);
  const asked = answered.length + failures.length;
  const more = failures.length > shown.length ? [`${failures.length - shown.length} more`] : [];
  const rest = unasked === 0 ? [] : [`${unasked} more addresses were not asked`];
  const share = asked === 1 ? [] : [`${failures.length} of ${asked} addresses failed`];
  return [...shown, ...more, ...share, ...rest].join('; ');
}

/** The agency's clock does not decide anything here, but a wrong one explains odd times. */
function skewRemarks({ answered }: Asked): string[] {
  const skews = answered.flatMap(({ answer, at }) => {
    const skew = Date.parse(answer.headers.http_date ?? '') - Date.parse(at);
    return Math.abs(skew) > CLOCK_SKEW_MS_MAX ? [Math.round(skew / 60_000)] : [];
  });
  const [first] = skews;
  if (first === undefined) return [];
  const way = first > 0 ? 'ahead of' : 'behind';
  return [
    `its clock is ${Math.abs(first)} minutes ${way} this one; times of fetch are of this one`,
  ];
}
