import { NETWORKS } from '../../gatekeeper/money/networks.ts';
import { challenger } from '../../gatekeeper/offer/challenge.ts';

/** Who is paid in the examples. */
export const PAY_TO = `0x${'ab'.repeat(20)}`;

/** The challenger of an example shop on the main network. */
export const shop = challenger({
  baseUrl: 'https://api.example.com',
  payTo: PAY_TO,
  network: NETWORKS.base,
  serviceName: 'Example',
});
