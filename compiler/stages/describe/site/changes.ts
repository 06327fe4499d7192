import { canonicalTarget } from '../../../contract/canonical-request.ts';
import { html } from '../../../contract/html.ts';
import { signalOf } from '../../../contract/lines.ts';
import type { SiteChange, SiteChanges } from '../../../contract/site.ts';
import type { CatalogChange, CatalogNews } from '../../publish/catalog-changes.ts';
import type { Issuer } from '../../seal/sealer.ts';

/** Entries of the feed. */
const FEED_MAX = 100;

/** What a reading is called that a reader has not seen. */
const WORDS: Readonly<Record<SiteChange['change'], string>> = {
  new: 'first reading',
  newer: 'new reading',
  revised: 'revised reading',
  older: 'newest reading withdrawn',
  gone: 'no longer listed',
};

/** What differs from the release before: names, times and hashes, nothing that is sold. */
export function siteChanges(
  news: CatalogNews | null,
  { asOf, baseUrl }: { readonly asOf: string; readonly baseUrl: string },
): SiteChanges {
  const changes = (news?.newest ?? []).map((change) => changeRow(change, baseUrl));
  return { as_of: asOf, counts: news?.counts ?? null, changes };
}

function changeRow({ kind, row }: CatalogChange, baseUrl: string): SiteChange {
  const { signal_id, entity, entity_name, observed_at, record_hash } = row;
  const at = (path: string): string | null =>
    kind === 'gone' ? null : baseUrl + canonicalTarget(path, { signal_id, entity });
  return {
    change: kind,
    signal_id,
    entity,
    entity_name,
    observed_at,
    record_hash,
    url: at('/gauge'),
    preview_url: at('/gauge/history-preview'),
  };
}

/** The same as an Atom feed (RFC 4287). */
export function changesFeed({ as_of, changes }: SiteChanges, { name, baseUrl }: Issuer): string {
  const entries = changes.slice(0, FEED_MAX).map((change) => {
    const { signal_id, entity, entity_name, observed_at, record_hash, preview_url } = change;
    const measures = signalOf(signal_id)?.measures ?? signal_id;
    return html`<entry>
<id>${baseUrl}/v/${record_hash}#${change.change}</id>
<title>${entity_name ?? entity}: ${measures}, ${WORDS[change.change]}</title>
<updated>${as_of}</updated>
<link rel="alternate" href="${preview_url ?? `${baseUrl}/#changes`}"/>
<summary>${signal_id} of ${entity}, observed at ${observed_at}</summary>
</entry>
`;
  });
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${baseUrl}/changes.atom</id>
<title>${name}: what changed</title>
<updated>${as_of}</updated>
<author><name>${name}</name></author>
<link rel="self" href="${baseUrl}/changes.atom"/>
<link rel="alternate" type="text/html" href="${baseUrl}/#changes"/>
${entries}</feed>
`.toString();
}

/** Pages for search engines. */
export function sitemap(baseUrl: string): string {
  const pages = ['/', '/docs'].map((path) => html`<url><loc>${baseUrl + path}</loc></url>\n`);
  return html`<?xml version="1.0" encoding="utf-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${pages}</urlset>
`.toString();
}
