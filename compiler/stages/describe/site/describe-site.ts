import type { KeyHistory } from '../../../contract/key-history.ts';
import { SITE_INDEX_PATH, SITE_SIGNALS_URL } from '../../../contract/site.ts';
import type { Press } from '../../publish/press.ts';
import { siteAssets } from './assets.ts';
import { indexPage } from './index-page.ts';
import { type ShopMaterial, siteSignals } from './shop.ts';
import { pressPacked } from './site-press.ts';

export interface SiteMaterial extends ShopMaterial {
  readonly keys: KeyHistory;
}

/** Writes the page for people: HTML that says everything by itself, and what its program asks for. */
export function describeSite(press: Press, material: SiteMaterial): void {
  const assets = siteAssets();
  for (const [path, bytes] of assets.files) press.file(path, bytes);
  const shop = siteSignals(material);
  pressPacked(press, SITE_SIGNALS_URL.slice(1), JSON.stringify(shop));
  const { issuer, asOf } = press;
  pressPacked(press, SITE_INDEX_PATH, indexPage({ issuer, asOf, shop, assets, ...material }));
}
