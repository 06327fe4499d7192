import { isListed, type ShortageRow, type State } from './shortage-rows.ts';

/** What a list says of a drug. */
export interface DrugCounts {
  readonly status: Counts & { readonly packages_count: number; readonly band: string | null };
  /** Null where no package has the status Current: then the list says nothing of who supplies it. */
  readonly supply: { readonly companies_count: number; readonly band: string } | null;
}

export function drugCounts(rows: readonly ShortageRow[]): DrugCounts {
  const counts = {
    unavailable_count: packages(rows, 'unavailable'),
    limited_count: packages(rows, 'limited'),
    available_count: packages(rows, 'available'),
    discontinued_count: packages(rows, 'discontinued'),
    companies_count: companies(rows),
  };
  const suppliers = companies(
    rows.filter(({ state }) => state === 'available' || state === 'limited'),
  );
  const packages_count = new Set(rows.map(({ ndc }) => ndc)).size;
  return {
    status: { packages_count, ...counts, band: bandOf(counts) },
    supply:
      isListed(rows) === true ? { companies_count: suppliers, band: supplyBand(suppliers) } : null,
  };
}

function packages(rows: readonly ShortageRow[], wanted: State): number {
  return new Set(rows.filter(({ state }) => state === wanted).map(({ ndc }) => ndc)).size;
}

function companies(rows: readonly ShortageRow[]): number {
  return new Set(rows.map(({ company }) => company)).size;
}

interface Counts {
  readonly unavailable_count: number;
  readonly limited_count: number;
  readonly available_count: number;
  readonly discontinued_count: number;
  readonly companies_count: number;
}

/** Null where all packages are resolved: then the list says only that there was a shortage. */
function bandOf(counts: Counts): string | null {
  const { unavailable_count, limited_count, available_count, discontinued_count } = counts;
  if (unavailable_count + limited_count + available_count === 0) {
    return discontinued_count > 0 ? 'discontinuing' : null;
  }
  if (unavailable_count + limited_count === 0) return 'available';
  if (limited_count + available_count === 0) return 'severe-shortage';
  return unavailable_count === 0 && available_count > 0 ? 'limited' : 'in-shortage';
}

function supplyBand(companies: number): string {
  const bands = ['none', 'sole-source', 'narrow', 'adequate', 'adequate'];
  return bands[companies] ?? 'broad';
}
