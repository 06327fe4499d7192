import { isObject, type JsonObject } from '../format/strict-json.ts';
import { say, sayTime, shown } from '../products/shapes/say.ts';
import { hashedJson } from './hashed-json.ts';
import { shop } from './page-data.ts';
import { el, tableOf } from './page-parts.ts';
import { keepPurchase, type Purchase, purchases } from './purchases.ts';
import { outcomeOf, stepItem, VERDICT } from './verify-panel.ts';

/** What was bought, judged in this page, with what a person does with it. */
export async function purchaseView(bought: Purchase): Promise<HTMLElement> {
  const { target, priceUsd, text, transaction, payment } = bought;
  if (text === null) return el('p', {}, 'This browser had no room for the answer. Fetch it again.');
  const { issuerDid = '' } = document.body.dataset;
  const { verdict, steps, body } = await outcomeOf(text, issuerDid);
  const said = el('p', { role: 'status' }, '');
  const cited = citationText(body);
  const copy = (what: string, name: string) => () =>
    void navigator.clipboard.writeText(what).then(
      () => said.replaceChildren(`Copied: ${name}.`),
      () => said.replaceChildren(`This browser does not let a page copy. The ${name}: ${what}`),
    );
  return el(
    'article',
    { class: 'purchase' },
    el('h3', { tabindex: '-1' }, 'Bought: ', el('code', {}, shown(target))),
    el('p', { class: 'lead' }, await sentenceOf(body)),
    el('p', { class: `verdict ${verdict}` }, el('strong', {}, VERDICT[verdict])),
    el(
      'dl',
      { class: 'facts' },
      el('dt', {}, 'Paid'),
      el('dd', {}, `${shown(priceUsd)} USD`),
      ...(payment.sentAt === undefined
        ? []
        : [el('dt', {}, 'At'), el('dd', {}, sayTime(payment.sentAt))]),
      ...(transaction === null
        ? []
        : [el('dt', {}, 'Transaction'), el('dd', {}, el('code', {}, shown(transaction)))]),
    ),
    el(
      'p',
      { class: 'actions' },
      saveLink(text, fileNameOf(target), 'Save file'),
      cited === null
        ? null
        : el(
            'button',
            { type: 'button', class: 'quiet', click: copy(cited, 'citation') },
            'Copy citation',
          ),
      saveLink(receiptText(bought), `receipt-${fileNameOf(target)}`, 'Save receipt'),
    ),
    said,
    el(
      'p',
      { class: 'soft' },
      'The file holds its own proof. Check it anywhere, without this shop: ',
      el('code', {}, `npx signalpress verify ${fileNameOf(target)} --issuer ${shown(issuerDid)}`),
    ),
    el('details', { open: true }, el('summary', {}, 'The answer'), jsonOf(body, text)),
    el(
      'details',
      {},
      el('summary', {}, `${steps.length} checks, each with what it shows and what it does not`),
      el('ol', { class: 'steps', 'aria-label': 'Checks' }, ...steps.map(stepItem)),
    ),
  );
}

/** What a record says, in a sentence; nothing of any other answer. */
async function sentenceOf(body: unknown): Promise<string> {
  if (!isObject(body) || !isObject(body.current) || typeof body.observed_at !== 'string') return '';
  const { signal_id, entity, entity_name, observed_at, current } = body;
  const sold = await shop().catch(() => null);
  const signal = sold?.signals.find((one) => one.signal_id === signal_id);
  if (signal === undefined || typeof entity !== 'string') return '';
  const name = typeof entity_name === 'string' ? entity_name : null;
  const reading = { entity, entity_name: name, observed_at, current, zone: signal.zones[entity] };
  return say(signal, reading).whole;
}

function jsonOf(body: unknown, text: string): HTMLElement {
  const parts = isObject(body) ? hashedJson(body) : [{ text, isHashed: false }];
  const marked = parts.map((part) => (part.isHashed ? el('mark', {}, part.text) : part.text));
  return el(
    'pre',
    { class: 'json', tabindex: '0', role: 'region', 'aria-label': 'JSON of the answer' },
    ...marked,
  );
}

/** `/gauge?signal_id=airquality.aqi&entity=us-denver` as `gauge-airquality.aqi-us-denver.json`. */
function fileNameOf(target: string): string {
  const { pathname, searchParams } = new URL(target, location.origin);
  const words = [...pathname.split('/'), ...searchParams.values()].filter((word) => word !== '');
  return `${words
    .join('-')
    .replace(/[^\w.-]+/g, '_')
    .slice(0, 80)}.json`;
}

/** One line to put under a figure; null where nothing in the body is cited. */
function citationText(body: unknown): string | null {
  const cited: unknown = isObject(body) ? body._citation : undefined;
  if (!isObject(cited)) return null;
  const { fact, claim, source, retrieved_at, record_hash, issuer_DID, verify_url } = cited;
  const { issuer, url } = (isObject(source) ? source : {}) as JsonObject;
  const parts = [
    claim ?? fact,
    issuer,
    url,
    `retrieved ${retrieved_at}`,
    record_hash,
    `signed by ${issuer_DID}`,
    verify_url,
  ];
  return parts.filter((part) => typeof part === 'string').join('. ');
}

function receiptText({ payment, target, priceUsd, transaction }: Purchase): string {
  const { url, sentAt } = payment;
  return `${JSON.stringify({ request: target, url, price_usd: priceUsd, transaction, sent_at: sentAt }, null, 2)}\n`;
}

function saveLink(text: string, name: string, label: string): HTMLElement {
  const href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  return el('a', { href, download: name }, label);
}

/** Everything that this browser bought here: open again, fetch again, save as one file. */
export function boughtView(): HTMLElement {
  const all = purchases();
  const place = el('div', {});
  const heading = el('h2', { tabindex: '-1' }, 'What I bought');
  if (all.length === 0) {
    const none = 'Nothing was bought here with this browser. The list stays in this browser alone.';
    return el('div', {}, heading, el('p', {}, none));
  }
  const open = (one: Purchase) => async () => {
    place.replaceChildren(el('p', {}, 'Reading …'));
    const answered = one.text === null ? await fetchedAgain(one) : one;
    place.replaceChildren(await purchaseView(answered));
    place.querySelector('h3')?.focus();
  };
  const failed = (error: unknown): void =>
    place.replaceChildren(
      el(
        'p',
        { class: 'trouble', role: 'alert' },
        shown(error instanceof Error ? error.message : String(error)),
      ),
    );
  const rows = all.map((one) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, el('code', {}, shown(one.target))),
      el('td', {}, one.payment.sentAt === undefined ? '' : sayTime(one.payment.sentAt)),
      el('td', { class: 'figure' }, shown(one.priceUsd)),
      el(
        'td',
        {},
        el(
          'button',
          { type: 'button', class: 'quiet', click: () => void open(one)().catch(failed) },
          one.text === null ? 'Fetch again' : 'Open',
        ),
      ),
    ),
  );
  return el(
    'div',
    {},
    heading,
    el(
      'p',
      { class: 'soft' },
      'This list stays in this browser alone. To fetch an answer again costs nothing, for 30 days.',
    ),
    el(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Purchases' },
      tableOf(['Request', 'When', 'USD', 'Answer'], rows),
    ),
    el(
      'p',
      { class: 'actions' },
      saveLink(`${JSON.stringify(all, null, 2)}\n`, 'what-i-bought.json', 'Save all'),
    ),
    place,
  );
}

/** The same answer for the same payment: nothing is signed but a text, where the shop wants to see who paid. */
export async function fetchedAgain(one: Purchase): Promise<Purchase> {
  const { shopClient } = await import('./shop-client.ts');
  const { text, receipt } = await shopClient(null).redeliver(one.payment);
  const delivered = { ...one, text, isDelivered: true, transaction: receipt?.transaction ?? null };
  keepPurchase(delivered);
  return delivered;
}
