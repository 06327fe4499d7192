/** Small lists of our own in the shape of openFDA drug shortages; fetched on 2026-11-20. */
export const BULK = {
  url: 'https://download.open.fda.gov/drug/shortages/drug-shortages-0001-of-0001.json.zip',
  fetched_at: '2026-11-20T11:05:00Z',
};

export const row = (
  generic_name: string,
  availability: string | undefined,
  over: Record<string, unknown> = {},
) => ({
  generic_name,
  package_ndc: `0409-${generic_name.length}-${availability?.length ?? 0}`,
  company_name: 'Example Labs',
  therapeutic_category: ['Oncology'],
  status: 'Current',
  ...(availability === undefined ? {} : { availability }),
  update_date: '11/17/2026',
  initial_posting_date: '10/31/2017',
  ...over,
});

export const shortages = (
  results: readonly unknown[],
  { total = results.length, skip = 0, last_updated = '2026-11-18' } = {},
) => ({
  meta: { disclaimer: 'x', last_updated, results: { skip, limit: total, total } },
  results,
});
