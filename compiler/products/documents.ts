import { articleSchema, legsDocumentSchema } from './shapes/document-bodies.ts';
import { cityLoc, type Product, paid, pair, type TableRow, text } from './shapes/product.ts';

/** Folder of stored documents; an operation whose file stands there is served from one. */
const FOLDER = 'document/';

/** Legs in causal order. */
const legs = {
  kind: 'rosters and filings',
  tag: '[3-LEG]',
  body: legsDocumentSchema,
} as const satisfies Partial<Product>;
/** A text with rows. */
const article = {
  kind: 'rosters and filings',
  body: articleSchema,
} as const satisfies Partial<Product>;
const topic = text('topic id', 'energy');

export const MACRO = paid('/gauge/macro-reconcile-full', {
  ...article,
  tag: '[BATCH+PROOF]',
  file: 'document/macro-reconcile-full.json',
  summary: 'official macro figures reconciled',
  guide:
    'Answers how official macro figures of several publishers fit together. Not one figure alone, and no forecast.',
});

export const REGIONS_AND_TEXTS = [
  paid('/gauge/taiwan-region', {
    ...legs,
    file: 'document/taiwan-region.json',
    summary: 'Taiwan',
    guide:
      'Answers how the stored lines about Taiwan stand together. Not one line alone, and no forecast.',
  }),
  paid('/gauge/japan-region', {
    ...legs,
    file: 'document/japan-region.json',
    summary: 'Japan',
    guide:
      'Answers how the stored lines about Japan stand together. Not one line alone, and no forecast.',
  }),
  paid('/gauge/chokepoint-region', {
    ...legs,
    params: { loc: text('chokepoint', 'hormuz') },
    file: 'document/chokepoint-region/{loc}.json',
    summary: 'one shipping chokepoint',
    guide:
      'Answers how the stored lines about one shipping chokepoint stand together. Not single ships, and no forecast.',
  }),
  paid('/pay/tier2', {
    ...article,
    file: 'document/tier2.json',
    summary: 'tier 2 document',
    guide: 'Answers with the stored document of tier 2. Not with anything computed on request.',
  }),
  paid('/pay/tier3', {
    ...article,
    file: 'document/tier3.json',
    summary: 'tier 3 document',
    guide: 'Answers with the stored document of tier 3. Not with anything computed on request.',
  }),
  paid('/shadow/chatter', {
    ...article,
    params: { topic },
    file: 'document/chatter/{topic}.json',
    summary: 'published chatter on a topic',
    guide:
      'Answers what was published about a topic. Not whether it is true, and no official reading.',
  }),
  paid('/shadow/signal-plus', {
    ...article,
    params: { ...pair, topic },
    file: 'document/signal-plus/{signal_id}/{entity}/{topic}.json',
    summary: 'one signal beside published chatter',
    guide:
      'Answers what was published about a topic beside one official reading. Not a cause, and no forecast.',
  }),
  paid('/shadow/region-plus', {
    ...legs,
    params: { loc: cityLoc, topic },
    file: 'document/region-plus/{loc}/{topic}.json',
    summary: 'one city beside published chatter',
    guide:
      'Answers what was published about a topic beside the readings of a city. Not a cause, and no forecast.',
  }),
] as const;

/** Every operation that is served from stored documents. */
export const DOCUMENTS = [MACRO, ...REGIONS_AND_TEXTS] as const;

/** Whether an operation is served from stored documents: without one it is an empty line. */
export function isDocument({ file }: Pick<TableRow, 'file'>): boolean {
  return file?.startsWith(FOLDER) === true;
}

/** What an operation's documents are made of: legs in causal order, or a text with rows. */
export function documentForm({ tag }: Pick<TableRow, 'tag'>): 'legs' | 'article' {
  return tag === '[3-LEG]' ? 'legs' : 'article';
}
