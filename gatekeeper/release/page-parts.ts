import type { SitePage } from '../../compiler/contract/html.ts';
import { SITE_FOLDER } from '../../compiler/contract/site.ts';
import type { Header } from '../http/reply.ts';
import type { ReleaseIndex } from './release-index.ts';

/** What a browser may do with the page for people: load its own files, and ask this service. */
export const SITE_POLICY: readonly Header[] = [
  [
    'content-security-policy',
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'none'",
  ],
  ['referrer-policy', 'no-referrer'],
];

/** Files of the bundle that are looked through. */
const ASSETS_MAX = 100;

/** What every page says of the shop: whose it is, where, and the styles that this release has. */
export type PageHead = Pick<SitePage, 'issuerName' | 'baseUrl' | 'styles'>;

export function pageShop(release: ReleaseIndex): PageHead {
  const { issuer_name: issuerName, base_url: baseUrl } = release.head;
  const paths = release.files.pathsUnder(`${SITE_FOLDER}/assets/site-`, ASSETS_MAX);
  const styles = paths.filter((path) => path.endsWith('.css')).map((path) => `/${path}`);
  return { issuerName, baseUrl, styles };
}
