import { encode } from 'uqr';
import { ClientError } from '../client/client-error.ts';
import { messageOf } from '../format/errors.ts';
import { sayTime, shown } from '../products/shapes/say.ts';
import { el, mount, svg } from './page-parts.ts';
import { fetchedAgain, purchaseView } from './purchase-view.ts';
import { forgetPurchase, keepPurchase, type Purchase, purchases } from './purchases.ts';
import { findWallets, openAccount, type Wallet, WalletError } from './wallet.ts';

// The program of a price page: a person pays with a wallet of the browser, and the answer opens in its place, checked.

interface Asked {
  readonly target: string;
  readonly priceUsd: string;
}

start(mount('pay'));

function start(section: HTMLElement): void {
  const { target, priceUsd, settlement } = document.body.dataset;
  if (target === undefined || priceUsd === undefined) return;
  const asked: Asked = { target, priceUsd };
  const wallets = el('p', { class: 'actions' });
  const none = el(
    'p',
    {},
    'No wallet was found in this browser. Add one as an extension, or open this page in the browser of a wallet on your phone.',
  );
  const state = el('p', { role: 'status', class: 'pay-state' });
  const place = el('div', {});
  const at: PayParts = { asked, wallets, state, place };
  section.append(
    el(
      'p',
      {},
      'You sign one transfer of exactly this price. Nothing else is asked of your wallet, and only an answer is charged.',
    ),
    wallets,
    none,
    state,
    place,
    phonePart(),
  );
  section.hidden = false;
  const offer = (wallet: Wallet): void => {
    none.hidden = true;
    const label = `Pay ${priceUsd} USD with ${shown(wallet.name)}`;
    const button = el('button', { type: 'button', click: () => void pay(wallet, at) }, label);
    wallets.append(button);
  };
  if (settlement === 'test') {
    none.hidden = true;
    void import('./pretend-wallet.ts').then(({ pretendWallet }) => offer(pretendWallet()));
  }
  findWallets(offer);
  void before(at);
}

interface PayParts {
  readonly asked: Asked;
  readonly wallets: HTMLElement;
  readonly state: HTMLElement;
  readonly place: HTMLElement;
}

/** What this browser bought here before: a lost answer comes by itself, and a bought one is offered. */
async function before(at: PayParts): Promise<void> {
  const [last] = purchases().filter(({ target }) => target === at.asked.target);
  if (last === undefined) return;
  if (!last.isDelivered) return fetchAgain(last, at);
  const { sentAt } = last.payment;
  const when = sentAt === undefined ? 'before' : `on ${sayTime(sentAt)}`;
  at.state.replaceChildren(
    `You bought this answer ${when}. `,
    el(
      'button',
      { type: 'button', class: 'quiet', click: () => void fetchAgain(last, at) },
      'Open it',
    ),
  );
}

async function fetchAgain(one: Purchase, at: PayParts): Promise<void> {
  at.state.replaceChildren('Fetching what you paid for …');
  try {
    await show(one.text === null ? await fetchedAgain(one) : one, at);
  } catch (error) {
    trouble(error, at);
  }
}

async function pay(wallet: Wallet, at: PayParts): Promise<void> {
  const { asked, state, wallets } = at;
  // Nobody is asked to sign twice for one answer.
  const sent = purchases().find(
    ({ target, isDelivered }) => target === asked.target && !isDelivered,
  );
  if (sent !== undefined) return fetchAgain(sent, at);
  const buttons = [...wallets.querySelectorAll('button')];
  for (const button of buttons) button.disabled = true;
  state.className = 'pay-state';
  state.replaceChildren('Waiting for your wallet …');
  try {
    const { shopClient } = await import('./shop-client.ts');
    const client = shopClient(await openAccount(wallet), asked);
    const { pathname, searchParams } = new URL(asked.target, location.origin);
    const params = Object.fromEntries(searchParams);
    // Nothing above the price that this page shows is signed.
    const bought = await client.buy(pathname as '/gauge', params, { maxUsd: asked.priceUsd });
    const { text, payment, receipt } = bought;
    const transaction = receipt?.transaction ?? null;
    const kept = { ...asked, payment, text, isDelivered: true, transaction };
    keepPurchase(kept);
    await show(kept, at);
  } catch (error) {
    trouble(error, at);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

async function show(bought: Purchase, { state, place }: PayParts): Promise<void> {
  place.replaceChildren(await purchaseView(bought));
  state.replaceChildren(
    'Here it is. It stays in this browser, under ',
    el('a', { href: '/site/#/bought' }, 'what I bought'),
    '.',
  );
  place.querySelector('h3')?.focus();
}

/** Says why there is no answer, and keeps what has to be fetched again. */
function trouble(error: unknown, at: PayParts): void {
  const { state, asked } = at;
  const cause = error instanceof Error ? error.cause : undefined;
  const said = cause instanceof WalletError ? cause : error;
  const isOpen = error instanceof ClientError && error.code === 'unsettled';
  const open = purchases().filter(
    ({ target, isDelivered }) => target === asked.target && !isDelivered,
  );
  // Only the payment that the shop refused: another one of this request may have moved money.
  const refused = isRefusal(error) ? error.facts.payment : undefined;
  for (const one of open) if (one.payment.value === refused?.value) forgetPurchase(one);
  const [sent] = open;
  state.className = 'pay-state trouble';
  state.replaceChildren(
    shown(messageOf(said)),
    ...(isOpen && sent !== undefined
      ? [
          ' ',
          el(
            'button',
            { type: 'button', click: () => void fetchAgain(sent, at) },
            'Fetch it again, without paying',
          ),
        ]
      : []),
  );
}

/** Whether the shop said that it took no money for this payment. */
function isRefusal(error: unknown): error is ClientError {
  return error instanceof ClientError && (error.code === 'refused' || error.code === 'not_charged');
}

/** A wallet on a phone pays on this very page, in its own browser. */
function phonePart(): HTMLElement {
  const details = el('details', {}, el('summary', {}, 'Pay with a wallet on your phone'));
  details.addEventListener('toggle', () => {
    if (details.childElementCount > 1) return;
    const { data, size } = encode(location.href, { border: 2 });
    const dots = data.flatMap((row, y) =>
      row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
    );
    const picture = svg(
      'svg',
      {
        viewBox: `0 0 ${size} ${size}`,
        class: 'qr',
        role: 'img',
        'aria-label': 'QR code of this page',
      },
      svg('rect', { width: size, height: size, fill: '#fff' }),
      svg('path', { d: dots.join(''), fill: '#000' }),
    );
    details.append(
      el(
        'p',
        {},
        'Scan this code with the wallet. It opens this page in its browser, where you pay.',
      ),
      picture,
    );
  });
  return details;
}
