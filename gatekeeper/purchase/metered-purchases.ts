import type { Meters } from '../metrics/meters.ts';
import type { PurchaseService } from './purchase-service.ts';

/** A purchase service that tells how long its check takes, and how long an answer is made before it is sold. */
export function meteredPurchases(purchases: PurchaseService, meters: Meters): PurchaseService {
  return {
    ...purchases,
    async open(request) {
      const started = performance.now();
      const opened = await purchases.open(request);
      if (!('sell' in opened)) return opened;
      const checked = performance.now();
      meters.stage('check', checked - started);
      return {
        sell(delivery) {
          meters.stage('answer', performance.now() - checked);
          return opened.sell(delivery);
        },
      };
    },
  };
}
