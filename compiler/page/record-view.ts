import type { SiteBundle } from '../catalog/site.ts';
import {
  bandFor,
  className,
  figure,
  furtherValues,
  hasValue,
  isOfficial,
  say,
  sayChange,
  sayTime,
  scaleFor,
  scaleText,
  shown,
} from '../products/shapes/say.ts';
import { hashedJson } from './hashed-json.ts';
import {
  addressOf,
  type PageSignal,
  type Preview,
  type PreviewRow,
  previewOf,
  previewUrl,
  textAt,
} from './page-data.ts';
import {
  bandBadge,
  coloured,
  el,
  failureNote,
  fillBuyTabs,
  freeLinks,
  freshBadge,
  priceTable,
  routeLink,
  sparkline,
  svg,
} from './page-parts.ts';
import { type LogStep, logPath, rangeText, scalePlace, shadeOf } from './shapes.ts';
import type { VerifyPanel } from './verify-panel.ts';

interface RecordAsked {
  signal: PageSignal;
  entity: string;
  bundle: SiteBundle | null;
  panel: VerifyPanel;
}

export async function recordView(asked: RecordAsked): Promise<HTMLElement> {
  const { signal, entity } = asked;
  const preview = await previewOf(signal.signal_id, entity);
  const row = preview.rows.at(-1);
  if (row === undefined) return el('p', {}, 'No reading is stored.');
  const pair = { signal_id: signal.signal_id, entity };
  fillBuyTabs({ target: addressOf('/gauge', pair), pair });
  const [tree, json] = [el('div', {}, 'Reading the log …'), el('div', {}, 'Reading …')];
  const source = el('p', { class: 'source' });
  fill(tree, logTree(row.record_hash));
  fill(json, recordJson(signal, entity, asked.panel));
  void fillSource(source, asked);
  return el(
    'article',
    { class: 'record' },
    el(
      'p',
      { class: 'crumbs' },
      routeLink({ view: 'home' }, 'Catalogue'),
      ' › ',
      routeLink({ view: 'signal', signal: signal.signal_id }, signal.title),
    ),
    heading(asked, preview, row),
    el(
      'div',
      { class: 'two' },
      readingSection(signal, preview, source),
      el('section', {}, el('h3', {}, 'The record itself'), json),
    ),
    el('section', {}, el('h3', {}, 'Its place in the log'), tree),
    el(
      'section',
      {},
      el('h3', {}, 'What is sold about it'),
      priceTable(signal, entity),
      bundleLine(asked),
      freeLinks(signal, entity),
      el('p', {}, el('a', { href: '#buy' }, 'How to buy it'), ', in the language of your program.'),
    ),
  );
}

function heading({ signal, entity }: RecordAsked, { entity_name }: Preview, row: PreviewRow) {
  const band = bandFor(signal, row);
  const said = say(signal, { ...row, entity, entity_name, zone: signal.zones[entity] });
  return el(
    'header',
    {},
    el('h2', { tabindex: '-1' }, el('bdi', {}, shown(said.topic))),
    el('p', { class: 'lead' }, el('bdi', {}, shown(said.whole))),
    el(
      'p',
      {},
      band === null ? null : bandBadge(signal, band),
      ' ',
      freshBadge(signal, row.observed_at, hasValue(signal, row.current)),
    ),
  );
}

function readingSection(signal: PageSignal, { rows }: Preview, source: HTMLElement): HTMLElement {
  const row = rows.at(-1);
  const bar = row === undefined ? null : scaleBar(signal, row);
  const scale = row === undefined ? null : scaleFor(signal, row);
  const isOn = bar !== null && scale !== null && isOfficial(scale);
  return el(
    'section',
    {},
    el('h3', {}, isOn ? 'On its official scale' : 'The reading'),
    bar,
    row === undefined ? null : members(signal, row),
    el('p', {}, shown(sayChange(signal, rows))),
    sparkline(signal, rows),
    source,
  );
}

function members(signal: PageSignal, { current }: PreviewRow): HTMLElement | null {
  const others = furtherValues(signal, current);
  if (others.length === 0) return null;
  const facts = others.flatMap(([label, value]) => [
    el('dt', {}, shown(label)),
    el('dd', {}, shown(value)),
  ]);
  return el('dl', { class: 'facts' }, ...facts);
}

/** Members of a free record that name the agency. */
interface Sourced {
  source_ref?: unknown;
  sources?: readonly { name?: unknown }[] | null;
  provenance?: { data_lineage?: readonly { evidence?: { attribution?: unknown } }[] };
}

/** The agency stands in the records that are free whole; of others only a bought one says it. */
async function fillSource(place: HTMLElement, { signal, entity }: RecordAsked): Promise<void> {
  const { signal_id, raw, sample } = signal;
  const url = raw
    ? addressOf('/gauge/raw', { signal_id, entity })
    : addressOf('/gauge/sample', { signal_id });
  const body = await textAt(url).then(
    (text) => JSON.parse(text) as Sourced & { sample?: Sourced },
    () => null,
  );
  const record = body?.sample ?? body;
  const names = (record?.sources ?? []).flatMap(({ name }) =>
    typeof name === 'string' ? [name] : [],
  );
  const isOwn = raw || sample === entity;
  if (names.length === 0) return;
  place.append(
    isOwn ? 'Source: ' : 'Source of the sample of this signal: ',
    el('bdi', {}, shown(names.join(', '))),
  );
  const link = isOwn ? webAddress(record?.source_ref) : null;
  if (link !== null)
    place.append(' ', el('a', { href: link, rel: 'noreferrer nofollow' }, 'at the agency'));
  const words = record?.provenance?.data_lineage?.[0]?.evidence?.attribution;
  if (typeof words === 'string') place.append('. ', el('bdi', {}, shown(words)));
}

/** An address of the web, or null: nothing else that a source wrote becomes a link. */
function webAddress(value: unknown): string | null {
  if (typeof value !== 'string' || !/^https:\/\//.test(value)) return null;
  return URL.canParse(value) ? new URL(value).href : null;
}

function bundleLine({ bundle, signal, entity }: RecordAsked): HTMLElement | null {
  if (bundle === null) return null;
  // The subject of a chain of which an entity is a leg: a city for its river gauge.
  const { entity_of } = bundle;
  const pairs = Object.hasOwn(entity_of, signal.signal_id)
    ? Object.entries(entity_of[signal.signal_id] ?? {})
    : [];
  const subject = pairs.find(([, leg]) => leg === entity)?.[0] ?? entity;
  if (!bundle.subjects.includes(subject)) return null;
  const link = routeLink(
    { view: 'bundle', line: bundle.line, subject },
    'the chain that it is part of',
  );
  return el('p', {}, 'See ', link, `, sold whole for $${bundle.price_usd}.`);
}

function fill(place: HTMLElement, made: Promise<HTMLElement>): void {
  made.then(
    (one) => place.replaceChildren(one),
    (error: unknown) => place.replaceChildren(failureNote(error)),
  );
}

/** A reading on its scale; null where there is none for it. */
function scaleBar(signal: PageSignal, row: PreviewRow): HTMLElement | null {
  const scale = scaleFor(signal, row);
  const place = scale === null ? null : scalePlace(scale, row);
  if (scale === null || place === null) return null;
  const cells = place.cells.map(({ band, at }, index) => {
    const marker = el('span', { class: 'marker', 'aria-hidden': 'true' });
    marker.style.setProperty('--at', `${place.inside * 100}%`);
    const isHere = index === place.cell;
    const made = el(
      'li',
      {
        class: `cell shade-${shadeOf(signal, band) ?? 0}`,
        ...(isHere ? { 'aria-current': 'true' } : {}),
      },
      isHere ? marker : null,
      el('span', { class: 'cell-name' }, className(signal, band)),
      el(
        'span',
        { class: 'cell-from' },
        at === null || index === 0
          ? ''
          : `${scale.direction === 'up' ? 'from' : 'up to'} ${figure(at)}`,
      ),
    );
    return coloured(made, signal, band);
  });
  const note = `${scaleText(scale)}. Classes are drawn equally wide.`;
  return el(
    'figure',
    { class: 'scale' },
    el('ol', { class: 'scale-cells', 'aria-label': scale.scale }, ...cells),
    el('figcaption', { class: 'soft' }, note),
  );
}

/** What may be shown: the sample where it is of this entity, the bare record of a gauge, else the free last seven. */
function freeBody(
  { signal_id, sample, raw }: PageSignal,
  entity: string,
): { url: string; note: string } {
  if (sample === entity) {
    const note = 'The whole record, signed; it is the free sample of this signal.';
    return { url: addressOf('/gauge/sample', { signal_id }), note };
  }
  if (raw) {
    const note =
      'The bare record, free. A bought record adds the official class, statistics and a signature.';
    return { url: addressOf('/gauge/raw', { signal_id, entity }), note };
  }
  const note =
    'The free last seven. A bought record holds all hashed members of the newest one, and a signature.';
  return { url: previewUrl(signal_id, entity), note };
}

async function recordJson(
  signal: PageSignal,
  entity: string,
  panel: VerifyPanel,
): Promise<HTMLElement> {
  const { url, note } = freeBody(signal, entity);
  const text = await textAt(url);
  const parts = hashedJson(JSON.parse(text) as unknown);
  const marked = parts.map(({ text: part, isHashed }) => (isHashed ? el('mark', {}, part) : part));
  const isMarked = parts.some(({ isHashed }) => isHashed);
  const check = (): void => {
    document.getElementById('verify')?.scrollIntoView();
    document.getElementById('verify-input')?.focus({ preventScroll: true });
    panel.judge(text, `${url}`);
  };
  const pre = el(
    'pre',
    { class: 'json', tabindex: '0', role: 'region', 'aria-label': 'JSON of this record' },
    ...marked,
  );
  // The newest of the last seven stands at the end.
  if (url.startsWith('/gauge/history-preview')) {
    requestAnimationFrame(() => {
      pre.scrollTop = pre.scrollHeight;
    });
  }
  return el(
    'div',
    {},
    el(
      'p',
      {},
      note,
      isMarked ? ' What the record hash covers is ' : null,
      isMarked ? el('mark', {}, 'marked') : null,
      isMarked ? '.' : null,
    ),
    pre,
    el(
      'p',
      { class: 'actions' },
      el('button', { type: 'button', click: check }, 'Check this body'),
      el('a', { href: url }, 'Open it'),
    ),
  );
}

/** What `/proof/<hash>` says of the place in the log. */
interface Proof {
  inclusion?: {
    index: number;
    inclusion_proof: readonly string[];
    root: string;
    entry: { sequence: number; as_of: string; new: { count: number } };
    entry_index: number;
    log_root: string;
  } | null;
  anchor?: {
    ots_state: string;
    stamped_at: string | null;
    bitcoin_height: number | null;
    ots_note: string | null;
  } | null;
}

async function logTree(hash: string): Promise<HTMLElement> {
  const { inclusion, anchor } = JSON.parse(await textAt(`/proof/${hash}`)) as Proof;
  if (!inclusion) return el('p', {}, 'The log does not hold this hash yet.');
  const { index, inclusion_proof, root, entry, entry_index, log_root } = inclusion;
  const { sequence, as_of } = entry;
  const { count } = entry.new;
  const steps = logPath(index, count, inclusion_proof);
  const [place, all] = [index + 1, count].map((number) => number.toLocaleString('en'));
  const summary = `Release ${sequence} of ${sayTime(as_of)} stated this hash: number ${place} of the ${all} that it took in. ${steps.length} hashes lead from it to the root that the release states. The release is entry ${entry_index + 1} of the log.`;
  return el(
    'div',
    { class: 'tree' },
    el('p', {}, summary),
    drawn(steps),
    el(
      'dl',
      { class: 'facts' },
      ...fact('Root of the release', el('code', {}, root)),
      ...fact('Root of the log', el('code', {}, log_root)),
      ...fact('Time stamp', stampText(anchor ?? null)),
    ),
    steps.length === 0 ? null : asList(steps),
  );
}

function fact(name: string, value: Node | string): HTMLElement[] {
  return [el('dt', {}, name), el('dd', {}, value)];
}

function stampText(anchor: NonNullable<Proof['anchor']> | null): string {
  if (anchor === null) return 'none';
  const { stamped_at, bitcoin_height, ots_note, ots_state } = anchor;
  if (bitcoin_height !== null) {
    return `Bitcoin block ${bitcoin_height}${stamped_at === null ? '' : `, ${sayTime(stamped_at)}`}`;
  }
  return shown(ots_note ?? ots_state);
}

const STEP = 22;
const ARM = 46;
const MIDDLE = 150;
const LABEL = 165;

/** The path from the leaf below to the root above; what the proof brings stands beside it. */
function drawn(steps: readonly LogStep[]): SVGElement {
  const height = (steps.length + 1) * STEP;
  const y = (at: number): number => height - (at + 0.5) * STEP;
  const arms = steps.map(({ side, sibling }, at) => {
    const x = MIDDLE + (side === 'left' ? -ARM : ARM);
    const anchorSide = side === 'left' ? 'end' : 'start';
    return svg(
      'g',
      {},
      svg('path', { class: 'arm', d: `M${x} ${y(at)} L${MIDDLE} ${y(at + 1)}` }),
      svg('path', { class: 'trunk', d: `M${MIDDLE} ${y(at)} L${MIDDLE} ${y(at + 1)}` }),
      svg('rect', { class: 'sibling', x: x - 5, y: y(at) - 5, width: 10, height: 10 }),
      svg(
        'text',
        {
          class: 'node-name',
          x: x + (side === 'left' ? -9 : 9),
          y: y(at) + 4,
          'text-anchor': anchorSide,
        },
        rangeText(sibling),
      ),
    );
  });
  const nodes = [...steps.keys(), steps.length].map((at) =>
    svg('circle', {
      class: at === 0 ? 'leaf' : at === steps.length ? 'root' : 'node',
      cx: MIDDLE,
      cy: y(at),
      r: at === 0 || at === steps.length ? 6 : 4,
    }),
  );
  const names = [
    svg(
      'text',
      { class: 'node-name strong', x: MIDDLE + 12, y: y(steps.length) + 4 },
      'root of the release',
    ),
    svg(
      'text',
      { class: 'node-name strong', x: MIDDLE, y: y(0) + 17, 'text-anchor': 'middle' },
      'this reading',
    ),
  ];
  const view = `${MIDDLE - ARM - LABEL} 0 ${2 * (ARM + LABEL)} ${height + 10}`;
  return svg(
    'svg',
    { viewBox: view, class: 'tree-drawing', 'aria-hidden': 'true' },
    ...arms,
    ...nodes,
    ...names,
  );
}

function asList(steps: readonly LogStep[]): HTMLElement {
  const items = steps.map(({ side, sibling, siblingHash, joined }) =>
    el(
      'li',
      {},
      `With ${rangeText(sibling)} on the ${side}: `,
      el('code', {}, siblingHash),
      `, to ${rangeText(joined)}`,
    ),
  );
  return el('details', {}, el('summary', {}, 'The hashes of the proof'), el('ol', {}, ...items));
}
