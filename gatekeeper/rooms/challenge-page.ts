import { howToBuy } from '../../compiler/contract/how-to-buy.ts';
import { type Html, html, sitePage } from '../../compiler/contract/html.ts';
import { priceOf } from '../../compiler/contract/price.ts';
import { canonicalTarget } from '../../compiler/contract/route.ts';
import type { AskedPrice, Service } from '../answers/service.ts';
import type { Header, Reply } from '../http/reply.ts';
import { symbolOf } from '../money/further-tokens.ts';
import { pageShop, SITE_POLICY } from '../release/page-parts.ts';

const HTML_TYPE: Header = ['content-type', 'text/html; charset=utf-8'];

/**
 * The same 402 for a browser that opened a paid link: its headers are those of the JSON, its body explains. Computed, because
 * the compiler does not know the payee and the network.
 */
export function challengePage(reply: Reply, asked: AskedPrice, service: Service): Reply {
  const headers = reply.headers.filter(([name]) => name !== 'content-type');
  const body = cardOf(asked, service);
  return { ...reply, headers: [HTML_TYPE, ...headers, ...SITE_POLICY], body };
}

function cardOf(asked: AskedPrice, service: Service): string {
  const { endpoint, target } = asked;
  const { baseUrl, release } = service;
  const price = priceOf(endpoint);
  return sitePage({
    title: `402: ${price} USD for ${endpoint.path}`,
    description: endpoint.summary,
    ...pageShop(release),
    path: endpoint.path,
    script: null,
    isListed: false,
    main: html`<section aria-labelledby="price"><h1 id="price">This answer costs ${price} USD</h1>
<p class="lead">${sentence(endpoint.summary)}</p>
<p><code>${target}</code></p>${terms(service)}
${freeBefore(target)}</section>
<section id="buy" aria-labelledby="buy-title"><h2 id="buy-title">How to buy it</h2>
<p>Programs buy here, through <strong>x402</strong>: they sign the price with a wallet that holds USDC, and send the same request again. No account, no API key. Only a 200 is ever charged.</p>
${howToBuy({ baseUrl, target: shownTarget(asked, service), pair: pairOf(target) })}</section>`,
  });
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function terms({ operator }: Service): Html {
  const { networks, payTo } = operator;
  const ways = networks.map(
    (token) =>
      html`<dt>Network</dt><dd>${token.name} (${token.caip2})</dd><dt>Asset</dt><dd>${symbolOf(token)}, <code>${token.asset}</code></dd>`,
  );
  return html`<dl>${ways}<dt>Paid to</dt><dd><code>${payTo}</code></dd></dl>`;
}

/** A price question names nothing in particular: the example does. */
function shownTarget({ endpoint, target }: AskedPrice, { release }: Service): string {
  return target.includes('?') ? target : (release.offers.get(endpoint.path)?.request ?? target);
}

function pairOf(target: string): { readonly signal_id: string; readonly entity: string } | null {
  const query = new URL(target, 'http://shop').searchParams;
  const [signal_id, entity] = [query.get('signal_id'), query.get('entity')];
  return signal_id === null || entity === null ? null : { signal_id, entity };
}

/** What can be seen of it before. */
function freeBefore(target: string): Html {
  const pair = pairOf(target);
  const sample = html`<a href="/gauge/sample">a whole signed record</a>`;
  if (pair === null) return html`<p>Free: ${sample}.</p>`;
  const preview = canonicalTarget('/gauge/history-preview', pair);
  const page = `/site/#/${encodeURIComponent(pair.signal_id)}/${encodeURIComponent(pair.entity)}`;
  return html`<p>Free: <a href="${preview}">its last seven readings</a>, <a href="${page}">the same as a picture</a>, and ${sample}.</p>`;
}
