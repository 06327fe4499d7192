import { ENDPOINTS, type Endpoint } from '../../contract/endpoints.ts';
import { atomicAmount } from '../../contract/price.ts';
import { type Examples, exampleValues } from './examples.ts';
import { requestText, type StoredBodies } from './stored-bodies.ts';

/** One operation as `/manifest` describes it. */
export interface ManifestEntry {
  readonly path: string;
  readonly method: string;
  readonly price_usd: string;
  readonly price_atomic: string;
  readonly description: string;
  readonly input_required: readonly string[];
  /** Answers 402 or 200 on this very release wherever anything is stored for the operation. */
  readonly input_example_request: string;
  readonly params: Endpoint['params'];
  readonly returns: string;
  readonly sells_now: boolean;
}

/** Every row of the table but the retired, in its order. */
export function manifestEntries(stored: StoredBodies, examples: Examples): ManifestEntry[] {
  const rows: readonly Endpoint[] = ENDPOINTS;
  return rows
    .filter((row) => row.answer !== 'gone')
    .map((row) => manifestEntry(row, { stored, examples }));
}

function manifestEntry(
  row: Endpoint,
  { stored, examples }: { stored: StoredBodies; examples: Examples },
): ManifestEntry {
  const values = exampleValues(row, { stored, examples });
  const price = row.priceUsd ?? '0';
  return {
    path: row.path,
    method: row.method,
    price_usd: price,
    price_atomic: atomicAmount(price),
    description: `${row.tag} ${row.summary}`,
    input_required: Object.keys(row.params).filter((name) => row.params[name]?.required),
    input_example_request: requestText(row, values ?? {}),
    params: row.params,
    returns: 'application/json',
    sells_now: values !== null,
  };
}

const NOTE = 'sells_now is false where nothing is stored at present; all=1 lists those too';

/** The body of `/manifest`: what can be asked for now, or everything. */
export function manifestBody(entries: readonly ManifestEntry[]): object {
  return { x402Version: 1, count: entries.length, note: NOTE, entries };
}
