import { parseCheckpoint, parseNote } from '../../../contract/checkpoint.ts';
import type { KeyHistory } from '../../../contract/key-history.ts';
import {
  anchorStatePath,
  BATCHES_FOLDER,
  parseAnchorState,
  parseLogBatches,
} from '../../../contract/log-batch.ts';
import { CATALOG_PATH } from '../../../contract/release.ts';
import {
  SITE_CHANGES_PATH,
  SITE_FEED_PATH,
  SITE_FOLDER,
  SITE_INDEX_PATH,
  SITE_SIGNALS_URL,
} from '../../../contract/site.ts';
import { CHECKPOINT_PATH } from '../../../contract/tiles.ts';
import type { CatalogNews } from '../../publish/catalog-changes.ts';
import type { Press } from '../../publish/press.ts';
import type { Shelf } from '../stored-bodies.ts';
import { siteAssets } from './assets.ts';
import { CatalogView } from './catalog-view.ts';
import { changesFeed, siteChanges, sitemap } from './changes.ts';
import { indexPage, type LogFacts } from './index-page.ts';
import { ogImage } from './og-image.ts';
import { type ShopMaterial, siteSignals } from './shop.ts';

export interface SiteMaterial extends ShopMaterial {
  readonly keys: KeyHistory;
  /** What differs from the release before; null where that one cannot be read. */
  readonly news: CatalogNews | null;
}

/** Writes the page for people: HTML that says everything by itself, and what its program asks for. */
export function describeSite(press: Press, material: SiteMaterial): void {
  const { issuer, asOf } = press;
  const { shelf, entries, keys } = material;
  const assets = siteAssets();
  for (const [path, bytes] of assets.files) press.pack(path, bytes);
  const shop = siteSignals(material);
  press.pack(SITE_SIGNALS_URL.slice(1), JSON.stringify(shop));
  const catalog = new CatalogView(shelf.read(CATALOG_PATH));
  const example = entries.find(({ path }) => path === '/gauge')?.input_example_request ?? '/gauge';
  const page = { issuer, asOf, shop, assets, catalog, keys, log: logFacts(shelf), example };
  press.pack(SITE_INDEX_PATH, indexPage(page));
  const { baseUrl, name } = issuer;
  const changes = siteChanges(material.news, { asOf, baseUrl });
  press.pack(SITE_CHANGES_PATH, `${JSON.stringify(changes)}\n`);
  press.pack(SITE_FEED_PATH, changesFeed(changes, issuer));
  press.pack(`${SITE_FOLDER}/sitemap.xml`, sitemap(baseUrl));
  press.file(`${SITE_FOLDER}/og.png`, ogImage(name));
}

/** Batches of the log that are looked at for a time stamp, from the newest back. */
const BATCHES_LOOKED_AT = 64;

function logFacts({ has, read, under }: Shelf): LogFacts {
  const textOf = (path: string): string => new TextDecoder().decode(read(path));
  const note = has(CHECKPOINT_PATH) ? parseNote(textOf(CHECKPOINT_PATH)) : null;
  const newest = [...under(BATCHES_FOLDER)].at(-1);
  const batches = newest === undefined ? [] : parseLogBatches(textOf(newest));
  const roots = [...new Set(batches.slice(-BATCHES_LOOKED_AT).map(({ root }) => root))];
  const stamped = roots.map(anchorStatePath).filter(has);
  const anchors = stamped.map((path) => parseAnchorState(textOf(path)));
  return { checkpoint: note === null ? null : parseCheckpoint(note.text), anchors };
}
