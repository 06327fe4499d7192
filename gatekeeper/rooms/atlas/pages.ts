import { howToBuy } from '../../../compiler/catalog/how-to-buy.ts';
import { SITE_FOLDER } from '../../../compiler/catalog/site.ts';
import { recordUrl } from '../../../compiler/catalog/thing-urls.ts';
import { html, type SitePage, sitePage } from '../../../compiler/format/html.ts';
import { canonicalTarget, pairOf } from '../../../compiler/products/shapes/path.ts';
import { priceOf } from '../../../compiler/products/shapes/price.ts';
import type { AskedPrice, Service } from '../../heart/answers/service.ts';
import type { ReleaseIndex } from '../../heart/release/release-index.ts';
import { symbolOf } from '../../settle/networks.ts';
import type { Header, Reply } from '../../wire/reply.ts';
import type { HttpRequest } from '../../wire/request.ts';
import { freeReading, saidOf } from './free-reading.ts';
import { capital } from './parts.ts';

const HTML_TYPE: Header = ['content-type', 'text/html; charset=utf-8'];

/** The 402 for a browser: same headers, a page as body. Computed, because the compiler does not know payee and network. */
export async function challengePage(
  reply: Reply,
  asked: AskedPrice & Pick<HttpRequest, 'spend'>,
  service: Service,
): Promise<Reply> {
  const headers = reply.headers.filter(([name]) => name !== 'content-type');
  const { endpoint, target } = asked;
  const { baseUrl, release } = service;
  const price = priceOf(endpoint);
  const sentence = `${capital(endpoint.summary)}.`;
  // A price question names nothing in particular: the example does.
  const example = release.offers.get(endpoint.path)?.request;
  const shown = target.includes('?') ? target : (example ?? target);
  const { networks, payTo } = service.operator;
  const ways = networks.map(
    (token) =>
      html`<dt>Network</dt><dd>${token.name} (${token.caip2})</dd><dt>Asset</dt><dd>${symbolOf(token)}, <code>${token.asset}</code></dd>`,
  );
  // What can be seen of it before.
  const sample = html`<a href="/gauge/sample">a whole signed record</a>`;
  const pair = pairOf(target);
  const preview = pair === null ? '' : canonicalTarget('/gauge/history-preview', pair);
  const pictures =
    pair === null
      ? null
      : html`<a href="${recordUrl(pair.signal_id, pair.entity)}">its page with a chart</a>, <a href="${preview}">its last seven readings</a>, and `;
  const reading = pair === null ? null : await freeReading(pair, { release, spend: asked.spend });
  const { scripts, ...shop } = pageShop(release);
  const body = sitePage({
    title: `402: ${price} USD for ${endpoint.path}`,
    description: endpoint.summary,
    ...shop,
    path: endpoint.path,
    // Whoever asks for a price alone has nothing to buy yet.
    script: target.includes('?') ? (scripts[0] ?? null) : null,
    facts: {
      'base-url': baseUrl,
      'issuer-did': release.head.issuer_did,
      settlement: service.operator.settlement,
      target,
      'price-usd': price,
    },
    isListed: false,
    main: html`<section aria-labelledby="price"><h1 id="price">This answer costs ${price} USD</h1>
<p class="lead">${sentence}</p>
<p><code>${target}</code></p><dl>${ways}<dt>Paid to</dt><dd><code>${payTo}</code></dd></dl>
${reading === null ? null : html`<p>${saidOf(reading).whole}</p>`}
<p>Free: ${pictures}${sample}.</p></section>
<section id="pay" aria-labelledby="pay-title" hidden><h2 id="pay-title">Pay ${price} USD with a wallet</h2></section>
<section id="buy" aria-labelledby="buy-title"><h2 id="buy-title">How to buy it</h2>
<p>Programs buy here, through <strong>x402</strong>: they sign the price with a wallet that holds USDC, and send the same request again. No account, no API key. Only a 200 is ever charged.</p>
${howToBuy({ baseUrl, target: shown, pair })}</section>`,
  });
  return { ...reply, headers: [HTML_TYPE, ...headers, ...SITE_POLICY], body };
}

export function verifyPage(
  { statement, endpoint, ...facts }: { statement: string; endpoint: string },
  shop: PageHead,
): string {
  const rows = Object.entries(facts).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return html`<tr><th scope="row">${name}</th><td>${text}</td></tr>\n`;
  });
  const title = `Record look-up, ${shop.issuerName}`;
  return sitePage({
    title,
    description: statement,
    ...shop,
    path: '/v/',
    script: null,
    isListed: false,
    main: html`<h1>${title}</h1><p>${statement}</p><div class="scroll" tabindex="0" role="region" aria-label="What is known"><table>${rows}</table></div>`,
  });
}

/** Members of a refusal that lead somewhere, with what they lead to. */
const WAYS: readonly (readonly [member: string, text: string])[] = [
  ['preview', 'What is there, free'],
  ['catalog', 'What is sold'],
  ['example_request', 'A request that works'],
];

/**
 * A refusal for a browser: the same status and headers, its sentence as a page with where to go on. Computed, because it
 * is about what was asked.
 */
export function refusalPage(reply: Reply, release: ReleaseIndex): Reply {
  const said = JSON.parse(reply.body.toString()) as Readonly<Record<string, unknown>>;
  const headers = reply.headers.filter(([name]) => name !== 'content-type');
  const isCharge = reply.status === 422;
  const title = isCharge ? 'Nothing to sell here' : 'No such page';
  const text = typeof said.error === 'string' ? said.error : title;
  const links = WAYS.flatMap(([member, what]) => {
    const url = said[member];
    return typeof url === 'string' && url.startsWith('/')
      ? html`<li>${member === 'example_request' && said.example_is_of_another_subject === true ? 'A request that works, about another subject' : what}: <a href="${url}"><code>${url}</code></a></li>`
      : [];
  });
  const { scripts: _, ...shop } = pageShop(release);
  const body = sitePage({
    title: `${reply.status}: ${title}`,
    description: text,
    ...shop,
    path: '/',
    script: null,
    isListed: false,
    main: html`<section aria-labelledby="refused"><h1 id="refused">${title}</h1><p class="lead">${text}</p>
${isCharge ? html`<p>Nothing was charged.</p>` : null}<ul>${links}<li><a href="/#catalogue">The catalogue</a>, with a search</li></ul></section>`,
  });
  return { ...reply, headers: [HTML_TYPE, ...headers, ...SITE_POLICY], body };
}

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
type PageHead = Pick<SitePage, 'issuerName' | 'baseUrl' | 'styles'>;

export function pageShop(
  release: ReleaseIndex,
  program = 'pay',
): PageHead & { scripts: readonly string[] } {
  const { issuer_name: issuerName, base_url: baseUrl } = release.head;
  const assets = (name: string, ending: string): string[] =>
    release.files
      .pathsUnder(`${SITE_FOLDER}/assets/${name}-`, ASSETS_MAX)
      .filter((path) => path.endsWith(ending))
      .map((path) => `/${path}`);
  return { issuerName, baseUrl, styles: assets('site', '.css'), scripts: assets(program, '.js') };
}
