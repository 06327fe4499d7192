import type { Catalog } from '../catalog/catalog.ts';
import type { SiteSignal, SiteWorst, SiteWorstRow } from '../catalog/site.ts';
import { chartUrl, lineUrl, recordUrl } from '../catalog/thing-urls.ts';
import { type Html, html } from '../format/html.ts';
import { FRESHNESS_THRESHOLDS } from '../products/shapes/freshness.ts';
import {
  bandFor,
  classColour,
  className,
  type Said,
  say,
  sayTime,
  scaleFor,
  shown,
  valueIn,
} from '../products/shapes/say.ts';
import type { Issuer } from '../system/sealer.ts';
import type { Shelf } from './examples.ts';
import {
  byWorst,
  classesAbove,
  hasActionLevel,
  previewOf,
  shareOfClass,
  worstPath,
} from './worst.ts';

/** A reading that the home page shows. */
interface Standing extends SiteWorstRow {
  readonly signal: SiteSignal;
  readonly zone: string | undefined;
}

/** What stands worst in a release, over all signals. */
export interface World {
  /** Signals whose agency names an action level. */
  readonly judged: number;
  /** Readings at or above it. */
  readonly total: number;
  /** The worst first; those below the level too. */
  readonly rows: readonly Standing[];
  /** Shown where no agency names a level for anything; null where nothing has a number. */
  readonly example: Standing | null;
}

interface WorldMaterial {
  readonly shelf: Shelf;
  readonly catalog: Catalog;
  readonly signals: readonly SiteSignal[];
  /** Signal and entity of the example of the page. */
  readonly pair: { readonly signal_id: string; readonly entity: string } | null;
}

/** Reads the small lists that `write-pieces.ts` keeps for each signal. */
export function worldOf({ shelf, catalog, signals, pair }: WorldMaterial): World {
  const zoneOf = (id: string, entity: string): string | undefined =>
    catalog.entryById.get(id)?.named[entity]?.zone;
  const lists = signals.filter(hasActionLevel).flatMap((signal) => {
    const path = worstPath(signal.signal_id);
    if (!shelf.has(path)) return [];
    const list = JSON.parse(new TextDecoder().decode(shelf.read(path))) as SiteWorst;
    return [{ signal, list }];
  });
  const rows = lists.flatMap(({ signal, list }) =>
    list.rows.map((row) => ({ ...row, signal, zone: zoneOf(list.signal_id, row.entity) })),
  );
  const signal = signals.find(({ signal_id }) => signal_id === pair?.signal_id);
  const preview = pair === null ? null : previewOf(shelf, pair);
  const newest = preview?.rows.at(-1);
  const example =
    pair === null || preview === null || signal === undefined || newest === undefined
      ? null
      : {
          signal,
          entity: pair.entity,
          entity_name: preview.entity_name,
          observed_at: newest.observed_at,
          current: newest.current,
          above: classesAbove(signal, newest) ?? -1,
          since: null,
          is_at_least: false,
          zone: zoneOf(pair.signal_id, pair.entity),
        };
  return {
    judged: lists.length,
    total: lists.reduce((sum, { list }) => sum + list.total, 0),
    rows: rows.sort(byWorst((row) => shareOfClass(row.signal, row))),
    example,
  };
}

/** Readings that the page lists. */
const LISTED_MAX = 12;

/** What stands at or above the level from which an agency advises action. */
export function nowSection({ judged, total, rows }: World, signals: readonly SiteSignal[]): Html {
  const listed = rows.filter(({ above }) => above >= 0).slice(0, LISTED_MAX);
  const more = total - listed.length;
  const title = judged === 0 ? null : html`<h2 id="now-title">Above its action level now</h2>`;
  if (title === null) return html``;
  const named = signals.filter(hasActionLevel).map((signal) => signal.title);
  const none = html`<p class="lead">Nothing stands above its action level in this release. An agency names one for ${named.join(', ')}.</p>`;
  return html`<section id="now" aria-labelledby="now-title">${title}
${
  listed.length === 0
    ? none
    : html`<p class="soft">At or above the class from which the agency advises action, on its official scale or by the thresholds of the gauge. The worst first.</p>
<ol class="worst">${listed.map(worstItem)}</ol>`
}${more > 0 ? html`<p>And ${more.toLocaleString('en')} more, <a href="#map">on the map</a>.</p>` : null}</section>`;
}

function worstItem(row: Standing): Html {
  const { signal, entity, above } = row;
  const { topic, value, when } = sayingOf(row);
  const band = bandFor(signal, row) ?? '';
  const scale = signal.isOwn === true ? null : scaleFor(signal, row);
  const colour = classColour(signal, band);
  // Without colour the bar is as long as the class is bad, and the words say it.
  const bar = html`<svg class="bar" viewBox="0 0 6 40" preserveAspectRatio="none" aria-hidden="true"><rect width="6" height="40" fill="${colour ?? 'currentColor'}"/></svg>`;
  return html`<li>${bar}<p class="value"><strong class="main">${mainValue(row)}</strong> <span>${className(signal, band)}</span></p>
<p class="of"><a href="${recordUrl(signal.signal_id, entity)}"><bdi>${topic}</bdi></a></p>
<p>${value}</p>
<p class="soft">${levelText(above)} (${scale?.agency ?? 'by the thresholds of the gauge'}), ${sinceText(row)}. Observed ${when}.</p></li>
`;
}

/** The main number; nothing where the class is the value. */
function mainValue({ signal, current }: Standing): string {
  const name = signal.metrics[0]?.name;
  return name === undefined ? '' : valueIn(signal, current, name);
}

function levelText(above: number): string {
  if (above === 0) return 'At its action level';
  return above === 1
    ? 'One class above its action level'
    : `${above} classes above its action level`;
}

function sinceText({ signal, since, is_at_least, zone, observed_at }: Standing): string {
  const time = sayTime(since ?? observed_at, signal.cadence, zone);
  return `at or above it since ${is_at_least ? 'at least ' : ''}${time}`;
}

function sayingOf({ signal, entity, entity_name, observed_at, current, zone }: Standing): Said {
  return say(signal, { entity, entity_name, observed_at, current, zone });
}

const CHARTS = 3;

/** Charts of the free last seven: the worst of each line. */
export function chartsSection({ rows, example }: World): Html {
  const charted = new Map<string, Standing>();
  for (const row of [...rows, ...(example === null ? [] : [example])]) {
    const main = row.signal.metrics[0]?.name ?? '';
    const isNew = !charted.has(row.signal.line) && charted.size < CHARTS;
    if (isNew && typeof row.current[main] === 'number') charted.set(row.signal.line, row);
  }
  if (charted.size === 0) return html``;
  return html`<section id="charts" aria-labelledby="charts-title"><h2 id="charts-title">The last seven readings, free</h2>
<div class="charts">${[...charted.values()].map(chart)}</div></section>`;
}

function chart(row: Standing): Html {
  const { signal, entity } = row;
  const { topic, whole } = sayingOf(row);
  const id = signal.signal_id;
  return html`<figure><a href="${recordUrl(id, entity)}"><img src="${chartUrl(id, entity)}" alt="Chart of ${topic}" width="640" height="260" loading="lazy"></a>
<figcaption><strong class="topic"><bdi>${topic}</bdi></strong> ${whole}</figcaption></figure>
`;
}

/** The signal whose map the page shows: the worst one that has a map, else the first. */
export function mapSignal({ rows }: World, signals: readonly SiteSignal[]): string | null {
  const worst = rows.find(({ above, signal }) => above >= 0 && signal.map !== null);
  return worst?.signal.signal_id ?? signals.find(({ map }) => map !== null)?.signal_id ?? null;
}

/** Hours after which the most frequent data of a shop are no longer fresh. */
export function freshHours(signals: readonly SiteSignal[]): number {
  const hours = signals.map(({ cadence }) => FRESHNESS_THRESHOLDS[cadence].fresh_hours);
  return Math.min(...hours, FRESHNESS_THRESHOLDS.yearly.fresh_hours);
}

/** What the shop has, one data set for each line. */
export function catalogData(
  { name, baseUrl, did }: Issuer,
  { signals, asOf }: { readonly signals: readonly SiteSignal[]; readonly asOf: string },
): object {
  const lines = new Map(signals.map(({ line, line_title }) => [line, line_title]));
  const creator = { '@type': 'Organization', name, url: baseUrl, identifier: did };
  return {
    '@type': 'DataCatalog',
    name: `${name}: official readings, signed`,
    url: `${baseUrl}/`,
    dateModified: asOf,
    creator,
    dataset: [...lines].map(([id, title]) => {
      const own = signals.filter(({ line }) => line === id);
      return {
        '@type': 'Dataset',
        name: title,
        description: `Official readings of ${title}, signed: ${own.map((one) => one.title).join(', ')}.`,
        url: baseUrl + lineUrl(id),
        dateModified: asOf,
        creator: { '@type': 'Organization', name },
        isAccessibleForFree: false,
        variableMeasured: own.map((one) => shown(one.title)),
      };
    }),
  };
}
