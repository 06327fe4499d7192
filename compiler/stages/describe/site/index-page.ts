import { escaped } from '../../../contract/shown-text.ts';
import { MOUNTS, type SiteSignals } from '../../../contract/site.ts';
import { sitePage } from '../../../contract/site-page.ts';
import type { Issuer } from '../../seal/sealer.ts';
import type { Assets } from './assets.ts';

export interface IndexMaterial {
  readonly issuer: Issuer;
  readonly asOf: string;
  readonly shop: SiteSignals;
  readonly assets: Assets;
}

/** `GET /`. */
export function indexPage({ issuer, asOf, shop, assets }: IndexMaterial): string {
  const { name: issuerName, baseUrl, did } = issuer;
  return sitePage({
    title: `${issuerName}: official readings, signed`,
    description: `${shop.entities} official readings as signed JSON, sold one call at a time; anybody can verify them offline.`,
    issuerName,
    baseUrl,
    path: '/',
    styles: assets.styles,
    script: assets.script,
    facts: { 'as-of': asOf, 'issuer-did': did, 'issuer-name': issuerName, 'base-url': baseUrl },
    isListed: true,
    main: [
      `<h1>Official readings, signed.<br>Check them yourself.</h1><p class="lead">${shop.entities} entities of ${shop.signals.length} signals.</p>`,
      ...MOUNTS.map((id) => `<section id="${id}" aria-label="${escaped(id)}" hidden></section>`),
    ].join('\n'),
  });
}
