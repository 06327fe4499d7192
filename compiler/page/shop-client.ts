import { type SignalpressClient, signalpressClient } from '../client/signalpress-client.ts';
import { keepPurchase } from './purchases.ts';
import type { WalletAccount } from './wallet.ts';

/** The buyer's client over the shop of this page: the same checks before and after a payment as in a program. */
export function shopClient(
  account: WalletAccount | null,
  asked?: { readonly target: string; readonly priceUsd: string },
): SignalpressClient {
  const { issuerDid: issuer = '' } = document.body.dataset;
  return signalpressClient({
    baseUrl: location.origin,
    issuer,
    catalog: 'served',
    ...(account === null ? {} : { pay: account.pay, account }),
    onSigned: (payment) => {
      if (asked !== undefined)
        keepPurchase({ ...asked, payment, text: null, isDelivered: false, transaction: null });
    },
  });
}
