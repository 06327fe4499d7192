import { type Config, paidNetworks, settlementOf } from '../config/config.ts';
import { facilitatorAuth, remoteFacilitator } from '../facilitator/remote-facilitator.ts';
import { facilitatorWarning, listedVersions } from '../facilitator/translating-facilitator.ts';
import type { Facilitator } from '../money/facilitator.ts';
import type { Network } from '../money/networks.ts';
import type { Examined } from './check.ts';
import { type Finding, failure, ok, skipped } from './finding.ts';

/** Asks each facilitator what it settles. */
export async function facilitatorCheck({ config }: Examined): Promise<Finding[]> {
  const { facilitatorUrls, facilitatorAuth: header, facilitatorAuthModule: module } = config;
  if (facilitatorUrls.length === 0) {
    const isTest = settlementOf(config) === 'test';
    return [skipped(isTest ? 'none: payments are simulated' : 'none: the relayer settles')];
  }
  const auth = await facilitatorAuth({ header, module });
  const findings = await Promise.all(
    facilitatorUrls.map(async (url) => {
      const remote = remoteFacilitator({ url, ...(auth === undefined ? {} : { auth }) });
      try {
        return await settlingFindings(remote, new URL(url).host, config);
      } finally {
        await remote.close();
      }
    }),
  );
  return findings.flat();
}

/** One for each network, or for the first alone where there is no answer. */
async function settlingFindings(
  facilitator: Facilitator,
  host: string,
  config: Config,
): Promise<Finding[]> {
  const outcome = await facilitator.supported();
  const known = { ...facilitator, supported: async () => outcome };
  const networks = outcome.verdict === 'none' ? [config] : paidNetworks(config);
  return Promise.all(networks.map(({ network }) => settlingFinding(known, host, network)));
}

async function settlingFinding(
  known: Facilitator,
  host: string,
  network: Network,
): Promise<Finding> {
  const outcome = await known.supported();
  const warning = await facilitatorWarning({ facilitator: known, name: `"${host}"` }, network);
  const versions = outcome.verdict === 'none' ? [] : listedVersions(outcome.kinds, network);
  const [version] = versions;
  if (version === undefined) return failure(warning);
  const listed = `${host} settles "exact" on ${network.name} in x402 version ${versions.join(' and ')}`;
  const isTranslated = versions.length === 1;
  return ok(isTranslated ? `${listed}; payments of the other version are translated` : listed);
}
