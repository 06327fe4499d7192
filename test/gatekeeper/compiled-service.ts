import type { Service } from '../../gatekeeper/answers/service.ts';
import { TEST_PAYEE } from '../../gatekeeper/config/settings.ts';
import { NETWORKS } from '../../gatekeeper/money/networks.ts';
import { challenger } from '../../gatekeeper/offer/challenge.ts';
import { folderSource } from '../../gatekeeper/release/folder-source.ts';
import { openRelease } from '../../gatekeeper/release/open-release.ts';
import type { ReadOptions } from '../../gatekeeper/release/release-index.ts';
import { tinyService } from './tiny-service.ts';

/** A service over a compiled data folder, without a server; its purchases take no payment. */
export async function compiledService(
  dataDir: string,
  now: string,
  steady: Pick<ReadOptions, 'now'> = {},
): Promise<Service> {
  const release = await openRelease({
    source: folderSource(dataDir),
    issuerDid: null,
    baseUrl: null,
    ...steady,
  });
  const baseUrl = release.head.base_url;
  const network = NETWORKS['base-sepolia'];
  const terms = { baseUrl, payTo: TEST_PAYEE, network, serviceName: 'Compiled' };
  const shop = challenger(terms);
  shop.show(release);
  const rest = await tinyService();
  return { ...rest, release, baseUrl, challenger: shop, clock: () => Date.parse(now) };
}
