import {
  offersIn,
  SITE_SIGNALS_URL,
  type SitePrice,
  type SiteSignal,
  type SiteSignals,
} from '../../../compiler/catalog/site.ts';
import { endpointAt } from '../../../compiler/products/products.ts';
import { knownFilePath } from '../../../compiler/products/shapes/path.ts';
import { type Said, say } from '../../../compiler/products/shapes/say.ts';
import type { Body, ReleaseReader } from '../../heart/release/release-index.ts';

// What the pages of things are made of: bodies that anybody may have, as their doors give them.

/** One of the free last seven, as `/gauge/history-preview` gives it. */
interface PreviewRow {
  readonly observed_at: string;
  readonly current: Readonly<Record<string, unknown>>;
  readonly record_hash: string;
}

interface Preview {
  readonly entity_name: string | null;
  /** Oldest first. */
  readonly rows: readonly PreviewRow[];
}

/** A signal of this shop, with the prices of what is sold about it. */
export interface ShopSignal extends SiteSignal {
  readonly offers: readonly SitePrice[];
}

export interface Shop extends Omit<SiteSignals, 'signals'> {
  readonly signals: ReadonlyMap<string, ShopSignal>;
}

const parsed = ({ bytes }: Body): unknown => JSON.parse(bytes.toString('utf8'));

function shopIn(body: Body): Shop {
  const sold = parsed(body) as SiteSignals;
  const offersOf = offersIn(sold);
  const signals = sold.signals.map((signal): [string, ShopSignal] => {
    return [signal.signal_id, { ...signal, offers: offersOf(signal) }];
  });
  return { ...sold, signals: new Map(signals) };
}

/** What the shop sells now, parsed once for as long as it is in memory. */
export async function shopOf({ release, spend }: ReleaseReader): Promise<Shop> {
  const body = await release.body(SITE_SIGNALS_URL.slice(1), spend);
  return body.own.once(shopIn, body);
}

type FreePath = '/gauge/history-preview' | '/gauge/sample' | '/gauge/raw';

async function bodyOf(
  path: FreePath,
  values: Readonly<Record<string, string>>,
  { release, spend }: ReleaseReader,
): Promise<unknown> {
  const file = knownFilePath(endpointAt(path), values);
  if (!release.has(file)) return null;
  return parsed(await release.body(file, spend));
}

/** The last seven readings of an entity; null where none is stored. */
async function previewOf(signal_id: string, entity: string, reader: ReleaseReader) {
  return (await bodyOf('/gauge/history-preview', { signal_id, entity }, reader)) as Preview | null;
}

/** The members of a free record that people are told of. */
export interface FreeRecord {
  readonly entity?: string;
  readonly entity_name?: string | null;
  readonly source_ref?: unknown;
  readonly summary_en?: unknown;
  readonly sources?: readonly { readonly name?: unknown }[] | null;
  readonly provenance?: {
    readonly data_lineage?: readonly { readonly evidence?: { readonly attribution?: unknown } }[];
  };
  readonly stat_ruler?: {
    readonly current_percentile?: number | null;
    readonly window_years?: number;
    readonly n?: number;
  } | null;
  readonly standard_ruler?: { readonly pct_to_action?: number | null } | null;
}

/** The whole record that is the free sample of a signal; null for none. */
export async function sampleOf(
  signal_id: string,
  reader: ReleaseReader,
): Promise<FreeRecord | null> {
  const body = (await bodyOf('/gauge/sample', { signal_id }, reader)) as {
    readonly sample?: FreeRecord;
  } | null;
  return body?.sample ?? null;
}

/** The bare record, of signals that give it. */
export async function rawOf(signal_id: string, entity: string, reader: ReleaseReader) {
  return (await bodyOf('/gauge/raw', { signal_id, entity }, reader)) as FreeRecord | null;
}

/** One entity of a signal, with all of it that is free. */
export interface FreeReading {
  readonly signal: ShopSignal;
  readonly entity: string;
  readonly name: string;
  readonly zone: string | undefined;
  readonly preview: Preview;
  readonly row: PreviewRow;
}

/** What is free of an entity; null where nothing is stored. */
export async function freeReading(
  { signal_id: signalId, entity }: { readonly signal_id: string; readonly entity: string },
  reader: ReleaseReader,
): Promise<FreeReading | null> {
  const signal = (await shopOf(reader)).signals.get(signalId);
  if (signal === undefined) return null;
  const preview = await previewOf(signalId, entity, reader);
  const row = preview?.rows.at(-1);
  if (preview === null || row === undefined) return null;
  const zone = reader.release.catalog.entryById.get(signalId)?.named[entity]?.zone;
  return { signal, entity, name: preview.entity_name ?? entity, zone, preview, row };
}

/** A reading in words. */
export function saidOf({ signal, entity, name, zone, row }: FreeReading): Said {
  return say(signal, { ...row, entity, entity_name: name, zone });
}
