import type { SiteBundle } from '../catalog/site.ts';
import { bandFor, hasValue, plainWords, say, shown } from '../products/shapes/say.ts';
import { addressOf, NoAnswer, type PageSignal, previewOf } from './page-data.ts';
import { bandBadge, el, fillBuyTabs, freshBadge, routeLink } from './page-parts.ts';
import { routeHash } from './page-route.ts';
import { isLitBand } from './shapes.ts';

/** The legs of a chain in causal order, each from its free last seven. */
export async function bundleView(
  bundle: SiteBundle,
  subject: string,
  signals: ReadonlyMap<string, PageSignal>,
): Promise<HTMLElement> {
  const legs = await Promise.all(
    bundle.legs.map(async ({ name, signals: ids }) => {
      const parts = await Promise.all(
        ids.map((id) => legPart(bundle, subject, signals.get(id) ?? null)),
      );
      const known = parts.filter((part) => part !== null);
      return legItem(name, known);
    }),
  );
  const { title, path, param, price_usd } = bundle;
  const target = addressOf(path, { [param]: subject });
  fillBuyTabs({ target, pair: null });
  const options = bundle.subjects.map((one) =>
    el('option', { value: one, selected: one === subject }, shown(one)),
  );
  const select = el('select', {
    id: 'bundle-subject',
    change: () => {
      location.hash = routeHash({ view: 'bundle', line: bundle.line, subject: select.value });
    },
  });
  select.append(...options);
  return el(
    'article',
    { class: 'bundle' },
    el('p', { class: 'crumbs' }, routeLink({ view: 'home' }, 'Catalogue')),
    el('h2', { tabindex: '-1' }, `${title}: one chain, `, el('bdi', {}, shown(subject))),
    el(
      'p',
      { class: 'lead' },
      'Legs in causal order, at their newest readings. A leg is lit when its class is not the mildest: a state, not a judgement.',
    ),
    el('p', { class: 'actions' }, el('label', { for: 'bundle-subject' }, 'Subject'), select),
    el('ol', { class: 'chain' }, ...legs),
    el('h3', {}, 'What a purchase adds'),
    el(
      'p',
      {},
      `For $${price_usd} the same legs come as one signed body: with every record hash, the count of lit legs, how far their times lie apart, and a sentence that joins them. Each leg still verifies by itself.`,
    ),
    el('p', {}, el('a', { href: target }, shown(target))),
  );
}

interface BundlePart {
  item: HTMLElement;
  /** Null where nobody classes the reading. */
  isLit: boolean | null;
}

async function legPart(
  bundle: SiteBundle,
  subject: string,
  signal: PageSignal | null,
): Promise<BundlePart | null> {
  if (signal === null) return null;
  const { entity_of } = bundle;
  const pairs = Object.hasOwn(entity_of, signal.signal_id)
    ? (entity_of[signal.signal_id] ?? {})
    : {};
  const entity = Object.hasOwn(pairs, subject) ? (pairs[subject] ?? subject) : subject;
  // Null where nothing is stored: the shop says so with a 422, or a 404.
  const preview = await previewOf(signal.signal_id, entity).catch((error: unknown) => {
    if (error instanceof NoAnswer && [404, 422].includes(error.status)) return null;
    throw error;
  });
  const row = preview?.rows.at(-1);
  if (preview === null || row === undefined) {
    return {
      isLit: null,
      item: el('div', { class: 'part' }, shown(signal.title), ': no reading is stored'),
    };
  }
  const band = bandFor(signal, row);
  const { entity_name } = preview;
  const said = say(signal, { ...row, entity, entity_name, zone: signal.zones[entity] });
  const item = el(
    'div',
    { class: 'part' },
    routeLink({ view: 'record', signal: signal.signal_id, entity }, signal.title),
    el('strong', { class: 'value' }, shown(said.value)),
    band === null ? null : bandBadge(signal, band),
    el('span', { class: 'soft' }, said.when),
    freshBadge(signal, row.observed_at, hasValue(signal, row.current)),
  );
  return { item, isLit: isLitBand(signal, band) };
}

const LIT = {
  true: ['lit', 'lit'],
  false: ['unlit', 'not lit'],
  null: ['open', 'no class'],
} as const;

function legItem(name: string, parts: readonly BundlePart[]): HTMLElement {
  const known = parts.filter(({ isLit }) => isLit !== null);
  const isLit = known.length === 0 ? null : known.some((part) => part.isLit === true);
  const [style, word] = LIT[`${isLit}`];
  return el(
    'li',
    { class: `leg ${style}` },
    el('h3', {}, plainWords(name), ' ', el('span', { class: 'lamp' }, word)),
    ...parts.map(({ item }) => item),
  );
}
