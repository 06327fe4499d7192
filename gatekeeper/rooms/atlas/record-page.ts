import { howToBuy } from '../../../compiler/catalog/how-to-buy.ts';
import { type SourceRow, sourcesOf } from '../../../compiler/catalog/register.ts';
import type { SiteBundle, SitePrice } from '../../../compiler/catalog/site.ts';
import {
  chainUrl,
  chartUrl,
  lineUrl,
  placeUrl,
  recordUrl,
} from '../../../compiler/catalog/thing-urls.ts';
import { csvLine } from '../../../compiler/format/csv-line.ts';
import { type Html, html } from '../../../compiler/format/html.ts';
import { canonicalTarget } from '../../../compiler/products/shapes/path.ts';
import { CLASS } from '../../../compiler/products/shapes/rulers.ts';
import {
  bandFor,
  className,
  figure,
  furtherValues,
  hasValue,
  isOfficial,
  sayChange,
  sayTime,
  scaleFor,
  scaleText,
  shown,
  valueIn,
} from '../../../compiler/products/shapes/say.ts';
import type { ReleaseReader } from '../../heart/release/release-index.ts';
import { chart } from './chart.ts';
import {
  type FreeReading,
  type FreeRecord,
  rawOf,
  type ShopSignal,
  saidOf,
  sampleOf,
  shopOf,
} from './free-reading.ts';
import { badge, capital, crumbs, shadeClass, type ThingPage, tableOf } from './parts.ts';

/** A reading with its chart, its source, its proof, and what is sold about it. */
export async function recordPage(reading: FreeReading, reader: ReleaseReader): Promise<ThingPage> {
  const { signal, entity, name, preview, row } = reading;
  const said = saidOf(reading);
  const pair = { signal_id: signal.signal_id, entity };
  const url = recordUrl(signal.signal_id, entity);
  const [sample, raw, { bundles }] = await Promise.all([
    sampleOf(signal.signal_id, reader),
    signal.raw ? rawOf(signal.signal_id, entity, reader) : null,
    shopOf(reader),
  ]);
  const { base_url: baseUrl, issuer_did: did } = reader.release.head;
  const sources = sourcesOf(signal.signal_id);
  const target = canonicalTarget('/gauge', pair);
  const main = html`<article class="record">
${crumbs([lineUrl(signal.line), signal.line_title], [`/site/#/${encodeURIComponent(signal.signal_id)}`, signal.title])}
<h1><bdi>${shown(said.topic)}</bdi></h1>
<p class="lead"><bdi>${shown(said.value)}</bdi></p>
<p>${badge(signal, row)} <span id="age"></span></p>
<p>Observed <time datetime="${row.observed_at}">${said.when}</time>. <bdi>${shown(sayChange(signal, preview.rows))}</bdi> ${said.standing}</p>
${drawn(reading)}
<div class="two">${standing(reading)}${sourcePart({ reading, sample, raw, sources })}</div>
<section aria-labelledby="sold-title"><h2 id="sold-title">What a purchase adds</h2>
${added(reading, sample)}
${priceTable(signal, entity)}
${chainLine(reading, bundles)}
<p>Everything else that is known of it: <a href="${placeUrl(entity)}"><bdi>${shown(name)}</bdi></a>.</p></section>
<section aria-labelledby="proof-title"><h2 id="proof-title">Its place in the log</h2>
<div id="tree"><p>The log of this shop proves when this reading was taken in: <a href="/proof/${row.record_hash}">its proof</a>, <a href="/v/${row.record_hash}">what is known of its hash</a>.</p></div></section>
<section aria-labelledby="json-title"><h2 id="json-title">The record itself</h2>
<div id="json"><p>${freeLinks(signal, entity)}</p></div></section>
<section id="verify" aria-labelledby="verify-title"><h2 id="verify-title">Is this genuine?</h2>
<noscript><p>Save what you bought as <code>answer.json</code>, and let the command check it. It calls nobody:</p>
<pre tabindex="0"><code>npx signalpress verify answer.json --issuer ${did}</code></pre></noscript></section>
<section id="buy" aria-labelledby="buy-title"><h2 id="buy-title">How to buy it</h2>
<p><a href="${target}">Open its price</a> to pay with a wallet in the browser, or let a program buy it:</p>
${howToBuy({ baseUrl, target, pair })}</section>
</article>`;
  return {
    title: `${said.topic} (${signal.line_title})`,
    description: said.whole,
    main,
    jsonLd: dataset(reading, { url: baseUrl + url, sources, said: said.whole }),
    facts: {
      signal: signal.signal_id,
      entity,
      cadence: signal.cadence,
      'observed-at': row.observed_at,
      'has-value': String(hasValue(signal, row.current)),
      hash: row.record_hash,
      'free-url': freeBody(signal, entity),
    },
  };
}

/** The address of the most that is free of it. */
function freeBody({ signal_id, sample, raw }: ShopSignal, entity: string): string {
  if (sample === entity) return canonicalTarget('/gauge/sample', { signal_id });
  return canonicalTarget(raw ? '/gauge/raw' : '/gauge/history-preview', { signal_id, entity });
}

function drawn({ signal, entity, preview, zone }: FreeReading): Html {
  const drawing = chart(signal, preview.rows, zone);
  const base = recordUrl(signal.signal_id, entity);
  const rows = [...preview.rows].reverse().map((row) => {
    const band = bandFor(signal, row);
    return html`<tr><th scope="row">${sayTime(row.observed_at, signal.cadence, zone)}</th><td class="figure">${shown(valueIn(signal, row.current))}</td><td>${band === null ? '' : className(signal, band)}</td></tr>
`;
  });
  const table = tableOf('Readings', ['Observed', 'Value', 'Class'], rows);
  const files =
    drawing === null
      ? html`<a href="${base}/readings.csv" download>CSV</a>`
      : html`<a href="${base}/readings.csv" download>CSV</a> · <a href="${chartUrl(signal.signal_id, entity)}" download id="chart-svg">SVG</a> <span id="chart-png"></span>`;
  const count = preview.rows.length;
  return html`<figure class="spark">${drawing === null ? null : html`<div class="scroll" tabindex="0" role="region" aria-label="Chart">${drawing}</div>`}
<figcaption>The last ${count === 1 ? 'reading' : `${count} readings`}, free: ${files}</figcaption>
<details><summary>As a table</summary>${table}</details></figure>`;
}

/** The classes of its scale, with the one of now. */
function standing({ signal, row }: FreeReading): Html {
  const scale = scaleFor(signal, row);
  const band = bandFor(signal, row);
  const others = furtherValues(signal, row.current);
  const facts =
    others.length === 0
      ? null
      : html`<dl class="facts">${others.map(([label, value]) => html`<dt>${capital(shown(label))}</dt><dd>${shown(value)}</dd>`)}</dl>`;
  if (scale === null || band === null) {
    return html`<section aria-labelledby="scale-title"><h2 id="scale-title">The reading</h2>${facts}<p class="soft">${whyUnclassed(signal, band)}</p></section>`;
  }
  const word = scale.direction === 'up' ? 'from' : 'up to';
  const cells = scale.steps.map(({ band: own, at }, index) => {
    const from =
      index === 0 || !Number.isFinite(at) || scale.metric === CLASS ? '' : `${word} ${figure(at)}`;
    const here = own === band ? html` aria-current="true"` : null;
    return html`<li class="cell ${shadeClass(signal, own)}"${here}><span class="cell-name">${className(signal, own)}</span> <span class="cell-from">${from}</span></li>`;
  });
  return html`<section aria-labelledby="scale-title"><h2 id="scale-title">${isOfficial(scale) ? 'On its official scale' : 'On a scale that is not official'}</h2>
<figure class="scale"><ol class="scale-cells" aria-label="${scale.scale}">${cells}</ol>
<figcaption class="soft">${scaleText(scale)}. Classes are drawn equally wide.</figcaption></figure>${facts}</section>`;
}

function whyUnclassed({ isOwn }: ShopSignal, band: string | null): string {
  if (isOwn === true) return 'Each place has thresholds of its own. A bought record names them.';
  return band === null ? 'Nobody classes it.' : 'Its publisher names the class, and no scale.';
}

/** What terms say, in words. */
const LICENCES: Readonly<Record<SourceRow['terms']['licence'], string>> = {
  'us-government': 'a work of the US government, without copyright',
  'public-domain': 'in the public domain',
  attribution: 'free to use with its name',
  'non-commercial': 'not for trade without a paid plan',
  'own-terms': 'under its own terms',
  unstated: 'it states no terms',
};

interface Sourced {
  readonly reading: FreeReading;
  readonly sample: FreeRecord | null;
  readonly raw: FreeRecord | null;
  readonly sources: readonly SourceRow[];
}

/** Whom the signed records name, and who publishes such readings, under which terms. */
function sourcePart({ reading, sample, raw, sources }: Sourced): Html {
  const { signal, entity } = reading;
  const own = raw ?? (signal.sample === entity ? sample : null);
  const record = own ?? sample;
  const names = (record?.sources ?? []).flatMap(({ name }) =>
    typeof name === 'string' ? [name] : [],
  );
  const link = own === null ? null : webAddress(own.source_ref);
  const words = record?.provenance?.data_lineage?.[0]?.evidence?.attribution;
  const signed =
    names.length === 0
      ? null
      : html`<p>${own === null ? 'The sample of this signal names as its source' : 'Its source'}: <bdi>${shown(names.join(', '))}</bdi>${link === null ? null : html`, <a href="${link}" rel="noreferrer nofollow">at the agency</a>`}.${typeof words === 'string' ? html` <bdi>${shown(words)}</bdi>` : null}</p>`;
  const agencies = [...new Map(sources.map((one) => [one.agency, one])).values()].map(
    ({ agency, terms }) =>
      html`<li>${agency}: <a href="${terms.page}" rel="noreferrer">${LICENCES[terms.licence]}</a></li>`,
  );
  return html`<section class="source" aria-labelledby="source-title"><h2 id="source-title">From whom</h2>${signed}
${agencies.length === 0 ? null : html`<p>Such readings are published by:</p><ul>${agencies}</ul>`}
<p class="soft">This shop keeps and signs them. It is no agency.</p></section>`;
}

/** An address of the web, or null: nothing else that a source wrote becomes a link. */
function webAddress(value: unknown): string | null {
  if (typeof value !== 'string' || !/^https:\/\//.test(value)) return null;
  return URL.canParse(value) ? new URL(value).href : null;
}

/** What a bought record holds, shown by the whole record of a neighbour that is free. */
function added({ signal, entity }: FreeReading, sample: FreeRecord | null): Html | null {
  if (sample === null) return null;
  const { summary_en, stat_ruler, standard_ruler } = sample;
  const url = canonicalTarget('/gauge/sample', { signal_id: signal.signal_id });
  const whose =
    sample.entity === entity
      ? 'This very record is free as the sample of its signal'
      : html`The record of <bdi>${shown(sample.entity_name ?? sample.entity ?? '')}</bdi> is free as the sample of this signal`;
  const { current_percentile: percentile, n, window_years: years } = stat_ruler ?? {};
  const facts: [string, string][] = [];
  if (typeof percentile === 'number' && n !== undefined && years !== undefined) {
    const among = `of ${n} readings of the same season in ${years} years`;
    facts.push(['Percentile', `${Math.round(percentile * 100)} ${among}`]);
  }
  if (typeof standard_ruler?.pct_to_action === 'number') {
    facts.push(['Share of the action level', `${figure(standard_ruler.pct_to_action)}%`]);
  }
  facts.push(['Proof', 'record hash, signature of the issuer, place in the log']);
  return html`<div class="card"><p>${whose}. It says:</p>
${typeof summary_en === 'string' ? html`<blockquote><bdi>${shown(summary_en)}</bdi></blockquote>` : null}
<dl class="facts">${facts.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>
<p><a href="${url}">All of it, signed</a></p></div>`;
}

function priceTable({ offers, signal_id }: ShopSignal, entity: string): Html {
  const rows = offers.map(
    (one) =>
      html`<tr><th scope="row">${buyLink(one, { signal_id, entity })}</th><td>${one.summary}</td><td class="figure">${one.price_usd === '0' ? 'free' : `$${one.price_usd}`}</td></tr>
`,
  );
  return tableOf('What is sold', ['Ask for', 'What it holds', 'USD'], rows);
}

/** The address that asks its price; of an operation that takes something else only its path is known here. */
function buyLink({ path, asks }: SitePrice, pair: Readonly<Record<string, string>>): Html {
  if (!asks.every((name) => Object.hasOwn(pair, name))) return html`<code>${path}</code>`;
  const values = Object.fromEntries(asks.map((name) => [name, pair[name] ?? '']));
  return html`<a href="${canonicalTarget(path, values)}">${path}</a>`;
}

function freeLinks({ signal_id, raw }: ShopSignal, entity: string): Html {
  const bare = html`, <a href="${canonicalTarget('/gauge/raw', { signal_id, entity })}">the bare record</a>`;
  return html`Free: <a href="${canonicalTarget('/gauge/history-preview', { signal_id, entity })}">the last seven readings</a>${raw ? bare : null}, <a href="${canonicalTarget('/gauge/sample', { signal_id })}">a whole sample of this signal</a>.`;
}

/** The chain of which the entity is a leg: that of a city for its river gauge. */
function chainLine({ signal, entity }: FreeReading, bundles: readonly SiteBundle[]): Html | null {
  const bundle = bundles.find(({ line }) => line === signal.line);
  if (bundle === undefined) return null;
  const pairs = Object.entries(bundle.entity_of[signal.signal_id] ?? {});
  const subject = pairs.find(([, leg]) => leg === entity)?.[0] ?? entity;
  if (!bundle.subjects.includes(subject)) return null;
  return html`<p>See <a href="${chainUrl(bundle.line, subject)}">the chain that it is part of</a>, sold whole for $${bundle.price_usd}.</p>`;
}

/** As search engines read it (schema.org). */
function dataset(
  { signal, name, preview, row, entity }: FreeReading,
  { url, sources, said }: { url: string; sources: readonly SourceRow[]; said: string },
): object {
  const [first = row] = preview.rows;
  const terms = sources[0]?.terms.page;
  return {
    '@type': 'Dataset',
    name: `${name}: ${signal.title}`,
    description: said,
    url,
    identifier: `${signal.signal_id}/${entity}`,
    temporalCoverage: `${first.observed_at}/${row.observed_at}`,
    spatialCoverage: name,
    variableMeasured: signal.metrics.map(({ label, unit }) => {
      return { '@type': 'PropertyValue', name: label, ...(unit === '' ? {} : { unitText: unit }) };
    }),
    ...(terms === undefined ? {} : { license: terms }),
    ...(sources.length === 0
      ? {}
      : { creator: sources.map(({ agency }) => ({ '@type': 'Organization', name: agency })) }),
    distribution: [
      { '@type': 'DataDownload', encodingFormat: 'text/csv', contentUrl: `${url}/readings.csv` },
    ],
  };
}

/** The free last seven as CSV. */
export function readingsCsv({ signal, preview }: FreeReading): string {
  const isGiven = (name: string): boolean => preview.rows.some(({ current }) => name in current);
  const all = signal.metrics.map(({ name }) => name);
  const names = all.filter((name) => name !== CLASS && isGiven(name));
  const head = ['observed_at', ...names, 'class', 'record_hash'];
  const cell = (value: unknown): string | number | null => {
    if (value === null || value === undefined) return null;
    return typeof value === 'number' ? value : String(value);
  };
  const lines = preview.rows.map((row) => [
    row.observed_at,
    ...names.map((name) => cell(row.current[name])),
    bandFor(signal, row),
    row.record_hash,
  ]);
  return [head, ...lines].map(csvLine).join('');
}
