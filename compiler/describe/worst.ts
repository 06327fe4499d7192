import { SITE_DATA, SITE_WORST_MAX, type SiteWorst, type SiteWorstRow } from '../catalog/site.ts';
import { spokenOf } from '../catalog/units.ts';
import type { CatalogRow } from '../format/release.ts';
import { endpointAt } from '../products/products.ts';
import type { SignalEntry } from '../products/shapes/line.ts';
import { encodeSegment, knownFilePath } from '../products/shapes/path.ts';
import { classIndex, positionOn } from '../products/shapes/rulers.ts';
import {
  bandFor,
  type Classable,
  isOfficial,
  type Spoken,
  scaleFor,
} from '../products/shapes/say.ts';
import type { Shelf } from './examples.ts';

/** The free last seven of an entity, oldest first. */
export interface StoredPreview {
  readonly entity_name: string | null;
  readonly rows: readonly Classable[];
}

/** Null where nothing of it is stored. */
export function previewOf(
  shelf: Shelf,
  { signal_id, entity }: { readonly signal_id: string; readonly entity: string },
): StoredPreview | null {
  const path = knownFilePath(endpointAt('/gauge/history-preview'), { signal_id, entity });
  if (!shelf.has(path)) return null;
  return JSON.parse(new TextDecoder().decode(shelf.read(path))) as StoredPreview;
}

export function worstPath(signalId: string): string {
  return `${SITE_DATA}/worst/${encodeSegment(signalId)}.json`;
}

/** What gauges call the class from which they advise action, where each has thresholds of its own. */
const OWN_ACTION = 'action';

/** Whether a class of this signal is known from which action is advised: by its agency, or at each gauge. */
export function hasActionLevel({ scales, isOwn, bands }: Spoken): boolean {
  if (isOwn === true) return bands.includes(OWN_ACTION);
  return scales.some((scale) => isOfficial(scale) && scale.actionBand !== null);
}

/** Classes above the action class of its place, or of the official scale of its day; null without one, or without a class. */
export function classesAbove(spoken: Spoken, reading: Classable): number | null {
  const scale = spoken.isOwn === true ? null : scaleFor(spoken, reading);
  if (spoken.isOwn !== true && (scale === null || !isOfficial(scale))) return null;
  const classes = scale === null ? spoken.bands : scale.steps.map(({ band }) => band);
  const place = (band: string | null): number => (band === null ? -1 : classes.indexOf(band));
  const band = bandFor(spoken, reading);
  // Which thresholds a place has differs: below the lowest one it is below action too.
  if (scale === null && band?.startsWith('below-')) return -1;
  const [own, action] = [place(band), place(scale === null ? OWN_ACTION : scale.actionBand)];
  return own === -1 || action === -1 ? null : own - action;
}

/** How far a value has come through its class, 0 at its threshold and 1 at the next; 0 where its class has no number. */
export function shareOfClass(spoken: Spoken, reading: Classable): number {
  const scale = spoken.isOwn === true ? null : scaleFor(spoken, reading);
  const value = scale === null ? null : positionOn(scale, reading);
  if (scale === null || value === null) return 0;
  const at = (index: number): number => scale.steps[index]?.at ?? Number.NaN;
  const own = classIndex(scale, value);
  // The last class counts as wide as the one before it.
  const width = own < scale.steps.length - 1 ? at(own + 1) - at(own) : at(own) - at(own - 1);
  const share = (value - at(own)) / width;
  return Number.isFinite(share) ? share : 0;
}

interface Worse {
  readonly above: number;
  readonly observed_at: string;
  readonly entity: string;
}

/** The worst class first, in it what is nearest to the next one or beyond, then the newest. */
export function byWorst<Row extends Worse>(shareOf: (row: Row) => number) {
  return (a: Row, b: Row): number => {
    if (a.above !== b.above) return b.above - a.above;
    const further = shareOf(b) - shareOf(a);
    if (further !== 0) return further;
    const later = Date.parse(b.observed_at) - Date.parse(a.observed_at);
    return later === 0 ? (a.entity < b.entity ? -1 : 1) : later;
  };
}

/**
 * Who stands worst of a signal: classes stand in the list of latest readings, so the free last seven are read of those
 * alone that are shown. Null where no agency names an action class.
 */
export function worstOf(
  entry: SignalEntry,
  rows: Iterable<CatalogRow>,
  shelf: Shelf,
): SiteWorst | null {
  const spoken = spokenOf(entry);
  if (!hasActionLevel(spoken)) return null;
  const classed: Worse[] = [];
  for (const { entity, observed_at, band } of rows) {
    const above = classesAbove(spoken, { observed_at, current: { band } });
    if (above !== null) classed.push({ entity, observed_at, above });
  }
  // Only the class is known yet.
  const shown = classed.sort(byWorst(() => 0)).slice(0, SITE_WORST_MAX);
  const signal_id = entry.signal.id;
  return {
    signal_id,
    total: classed.filter(({ above }) => above >= 0).length,
    rows: shown
      .flatMap(({ entity }): SiteWorstRow[] => {
        const preview = previewOf(shelf, { signal_id, entity });
        return preview === null ? [] : rowOf(entity, preview, spoken);
      })
      .sort(byWorst((row) => shareOfClass(spoken, row))),
  };
}

function rowOf(
  entity: string,
  { entity_name, rows }: StoredPreview,
  spoken: Spoken,
): SiteWorstRow[] {
  const standings = rows.map((row) => classesAbove(spoken, row));
  const [newest, above] = [rows.at(-1), standings.at(-1) ?? null];
  if (newest === undefined || above === null) return [];
  const milder = standings.findLastIndex((one) => one === null || one < 0);
  const since = above < 0 ? null : (rows[milder + 1]?.observed_at ?? null);
  const { observed_at, current } = newest;
  const is_at_least = milder === -1;
  return [{ entity, entity_name, observed_at, current, above, since, is_at_least }];
}
