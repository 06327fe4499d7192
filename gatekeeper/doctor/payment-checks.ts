// Those whom a payment needs: facilitator, chain node and payee.

import { networkFault } from '../../compiler/contract/network-fault.ts';
import { type PaidNetwork, paidNetworks, paidTokens, settlementOf } from '../config/config.ts';
import { facilitatorAuth, remoteFacilitator } from '../facilitator/remote-facilitator.ts';
import { facilitatorWarning, listedVersions } from '../facilitator/translating-facilitator.ts';
import { payeeAddress, relayerKey } from '../money/address.ts';
import { type Network, symbolOf } from '../money/networks.ts';
import { messageOf } from '../system/message-of.ts';
import { type Examined, type Finding, failed, failure, ok, skipped, warning } from './check.ts';
import type { TokenNode } from './token-node.ts';

/** Asks each facilitator what it settles. */
export async function facilitatorCheck({ config }: Examined): Promise<Finding[]> {
  const { facilitatorUrls, facilitatorAuth: header, facilitatorAuthModule: module } = config;
  if (facilitatorUrls.length === 0) {
    const isTest = settlementOf(config) === 'test';
    return [skipped(isTest ? 'none: payments are simulated' : 'none: the relayer settles')];
  }
  const auth = await facilitatorAuth({ header, module });
  const findings = facilitatorUrls.map(async (url) => {
    const remote = remoteFacilitator({ url, ...(auth === undefined ? {} : { auth }) });
    const { host } = new URL(url);
    const outcome = await remote.supported().finally(() => remote.close());
    const known = { ...remote, supported: async () => outcome };
    // Without an answer, one finding says so.
    const networks = outcome.verdict === 'none' ? [config] : paidNetworks(config);
    return Promise.all(
      networks.map(async ({ network }) => {
        const fault = await facilitatorWarning({ facilitator: known, name: `"${host}"` }, network);
        const versions = outcome.verdict === 'none' ? [] : listedVersions(outcome.kinds, network);
        if (versions.length === 0) return failure(fault);
        const listed = `${host} settles "exact" on ${network.name} in x402 version ${versions.join(' and ')}`;
        const isTranslated = versions.length === 1;
        return ok(
          isTranslated ? `${listed}; payments of the other version are translated` : listed,
        );
      }),
    );
  });
  return (await Promise.all(findings)).flat();
}

/** Decimal places of USDC. */
const USDC_DECIMALS = 6;
/** A node that is further behind shows settlements too late for their buyers. */
const BLOCK_AGE_MS_OK = 60_000;
const BLOCK_AGE_MS_MAX = 600_000;

/** Asks the chain node of each network for its chain, its newest block and the token that buyers sign for. */
export async function chainCheck(examined: Examined): Promise<Finding[]> {
  const tokens = paidTokens(examined.config);
  return (await Promise.all(tokens.map((paid) => nodeFindings(paid, examined)))).flat();
}

async function nodeFindings(paid: PaidNetwork, examined: Examined): Promise<Finding[]> {
  const { network } = paid;
  const { relayerKey: key } = examined.config;
  const node = await examined.node(paid);
  if (node === null) return [skipped('no chain node is set')];
  try {
    await node.check();
    // The rest is said already where another token is on the same chain.
    if (network.decimals !== undefined) return [await tokenFinding(node, network)];
    const { number, timestamp } = await node.block('latest');
    const ageMs = examined.clock() - Number(timestamp) * 1000;
    const text = `chain ${network.chainId} (${network.name}), block ${number}, ${Math.round(ageMs / 1000)} s old`;
    const remedy =
      'wait until the node has caught up, or set SIGNALPRESS_RPC_URL to another one; check the clock too';
    const late = ageMs > BLOCK_AGE_MS_MAX ? failed(text, remedy) : warning(text, remedy);
    const findings = [
      ageMs <= BLOCK_AGE_MS_OK ? ok(text) : late,
      await tokenFinding(node, network),
    ];
    if (key === null) return findings;
    // An account that cannot pay gas settles nothing.
    const { privateKeyToAccount } = await import('viem/accounts');
    const { address } = privateKeyToAccount(relayerKey(key));
    const wei = await node.gasMoney(address);
    const gas = `the relayer ${address} has ${wei} wei for gas`;
    return [...findings, wei > 0n ? ok(gas) : failed(gas, `send some gas money to ${address}`)];
  } catch (error) {
    return [silence(error)];
  }
}

/** An error of the node, without its URL, which may hold a key. */
export function silence(error: unknown): Finding {
  const remedy = 'set SIGNALPRESS_RPC_URL to a node of the network that answers';
  if (!(error instanceof Error)) return failed('no answer: unknown', remedy);
  if (error.name === 'ChainMismatch') return failed(messageOf(error), remedy);
  const status = 'status' in error && error.status !== undefined ? `, ${error.status}` : '';
  return failed(`no answer: ${networkFault(error)?.words ?? error.name + status}`, remedy);
}

/** Buyers sign for the name and version of the token; with others no signature is valid. */
async function tokenFinding(node: TokenNode, of: Network): Promise<Finding> {
  const { asset, extra } = of;
  const expected = of.decimals ?? USDC_DECIMALS;
  const { name, version, decimals } = await node.facts();
  const text = `token ${asset}: "${name}", version "${version}", ${decimals} decimals`;
  if (name === extra.name && version === extra.version && decimals === expected) return ok(text);
  return failed(
    `${text}, but buyers sign for "${extra.name}", version "${extra.version}", ${expected} decimals`,
    of.decimals === undefined
      ? 'set SIGNALPRESS_RPC_URL to a node of the network, and report this if it is one'
      : 'correct its entry in SIGNALPRESS_TOKENS',
  );
}

/** A wallet that delegates to code (EIP-7702) still has its key. */
const DELEGATED = /^0xef0100/i;

/** Whether the payee can be paid, and whether somebody can spend what it is paid. */
export async function payeeCheck(examined: Examined): Promise<Finding[]> {
  const { config } = examined;
  if (settlementOf(config) === 'test') return [skipped('none: payments are simulated')];
  const payee = payeeAddress(config.payTo);
  const tokens = paidTokens(config);
  const findings = tokens.map(async (paid) => {
    const { name, decimals } = paid.network;
    const found = await payeeFindings(await examined.node(paid), payee, decimals !== undefined);
    if (tokens.length === 1) return found;
    // An address may be a plain account on one network and a contract on another.
    const place = decimals === undefined ? name : `${name} ${symbolOf(paid.network)}`;
    return found.map((one) => ({ ...one, detail: `${place}: ${one.detail}` }));
  });
  const spelling = ok(`${payee} is an address with a matching checksum`);
  return [spelling, ...(await Promise.all(findings)).flat()];
}

/** Of another token of the same network only whether it pays; not every one can bar accounts. */
async function payeeFindings(
  node: TokenNode | null,
  payee: string,
  isOther: boolean,
): Promise<Finding[]> {
  if (node === null)
    return isOther ? [] : [skipped('what it is cannot be known without a chain node')];
  try {
    const bar = (await node.isBarred(payee))
      ? failed(
          'the issuer of the token has barred it, so every payment would fail',
          'set SIGNALPRESS_PAY_TO to another address of yours',
        )
      : ok('the token pays to it');
    if (isOther) return [bar];
    const code = await node.codeOf(payee);
    if (code === null) return [ok('it is a plain account'), bar];
    if (DELEGATED.test(code)) return [ok('it is an account that delegates to a contract'), bar];
    const remedy = 'make sure that this contract can send tokens, with a small payment first';
    const contract =
      'it is a contract, and only its own code decides whether the money can be spent';
    return [warning(contract, remedy), bar];
  } catch (error) {
    return [isOther ? skipped('whether the token pays to it cannot be known') : silence(error)];
  }
}
