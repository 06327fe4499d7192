// What others answer: facilitator, chain node and payee, and the public address with the proxies in front of it.

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { z } from 'zod';
import { messageOf } from '../../../compiler/format/errors.ts';
import { networkFault } from '../../../compiler/format/network-fault.ts';
import { paidNetworks, paidTokens, settlementOf } from '../../settings/config.ts';
import { addressText } from '../../settings/settings.ts';
import { payeeAddress, relayerKey } from '../../settle/address.ts';
import type { TokenNode } from '../../settle/chain/chain-node.ts';
import { facilitatorAuth, remoteFacilitator } from '../../settle/facilitator/remote-facilitator.ts';
import {
  facilitatorWarning,
  listedVersions,
} from '../../settle/facilitator/translating-facilitator.ts';
import { type Network, symbolOf } from '../../settle/networks.ts';
import { headerFacts } from '../../wire/header-facts.ts';
import { surelyClient, trustedProxies } from '../../wire/limits/client-address.ts';
import { isLoopback, listen } from '../../wire/listen.ts';
import { HEALTH_PATH } from '../../wire/request.ts';
import {
  type Examined,
  type Finding,
  failed,
  failure,
  finding,
  graded,
  ok,
  skipped,
  type WebAnswer,
  warning,
} from './check.ts';

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
        const also = versions.length === 1 ? '; payments of the other version are translated' : '';
        const both = versions.join(' and ');
        return ok(`${host} settles "exact" on ${network.name} in x402 version ${both}${also}`);
      }),
    );
  });
  return (await Promise.all(findings)).flat();
}

const USDC_DECIMALS = 6;
/** A node that is further behind shows settlements too late for their buyers. */
const BLOCK_AGE_MS_OK = 60_000;
const BLOCK_AGE_MS_MAX = 600_000;

/** Asks the chain node of each network for its chain, its newest block and the token that buyers sign for. */
export async function chainCheck({ config, clock, node: nodeOf }: Examined): Promise<Finding[]> {
  const findings = paidTokens(config).map(async (paid) => {
    const { network } = paid;
    const node = await nodeOf(paid);
    if (node === null) return [skipped('no chain node is set')];
    try {
      await node.check();
      // The rest is said already where another token is on the same chain.
      if (network.decimals !== undefined) return [await tokenFinding(node, network)];
      const { number, timestamp } = await node.block('latest');
      const ageMs = clock() - Number(timestamp) * 1000;
      const seconds = Math.round(ageMs / 1000);
      const found = [
        finding(
          graded(ageMs, BLOCK_AGE_MS_OK, BLOCK_AGE_MS_MAX),
          `chain ${network.chainId} (${network.name}), block ${number}, ${seconds} s old`,
          'wait until the node has caught up, or set SIGNALPRESS_RPC_URL to another one; check the clock too',
        ),
        await tokenFinding(node, network),
      ];
      if (config.relayerKey === null) return found;
      // An account that cannot pay gas settles nothing.
      const { privateKeyToAccount } = await import('viem/accounts');
      const { address } = privateKeyToAccount(relayerKey(config.relayerKey));
      const wei = await node.wei(address);
      const gas = `the relayer ${address} has ${wei} wei for gas`;
      return [...found, wei > 0n ? ok(gas) : failed(gas, `send some gas money to ${address}`)];
    } catch (error) {
      return [silence(error)];
    }
  });
  return (await Promise.all(findings)).flat();
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

/** An error of the node, without its URL, which may hold a key. */
export function silence(error: unknown): Finding {
  const remedy = 'set SIGNALPRESS_RPC_URL to a node of the network that answers';
  if (!(error instanceof Error)) return failed('no answer: unknown', remedy);
  if (error.name === 'ChainMismatch') return failed(messageOf(error), remedy);
  const status = 'status' in error && error.status !== undefined ? `, ${error.status}` : '';
  return failed(`no answer: ${networkFault(error)?.words ?? error.name + status}`, remedy);
}

/** A wallet that delegates to code (EIP-7702) still has its key. */
const DELEGATED = /^0xef0100/i;

/** Whether the payee can be paid, and whether somebody can spend what it is paid. */
export async function payeeCheck({ config, node: nodeOf }: Examined): Promise<Finding[]> {
  if (settlementOf(config) === 'test') return [skipped('none: payments are simulated')];
  const payee = payeeAddress(config.payTo);
  const tokens = paidTokens(config);
  const findings = tokens.map(async (paid) => {
    const { name, decimals } = paid.network;
    // Of another token on the same network only whether it pays; not every one can bar accounts.
    const isOther = decimals !== undefined;
    const node = await nodeOf(paid);
    const found = await payeeFindings(node, payee, isOther).catch((error) => [
      isOther ? skipped('whether the token pays to it cannot be known') : silence(error),
    ]);
    if (tokens.length === 1) return found;
    // An address may be a plain account on one network and a contract on another.
    const place = isOther ? `${name} ${symbolOf(paid.network)}` : name;
    return found.map((one) => ({ ...one, detail: `${place}: ${one.detail}` }));
  });
  const spelling = ok(`${payee} is an address with a matching checksum`);
  return [spelling, ...(await Promise.all(findings)).flat()];
}

async function payeeFindings(
  node: TokenNode | null,
  payee: string,
  isOther: boolean,
): Promise<Finding[]> {
  if (node === null)
    return isOther ? [] : [skipped('what it is cannot be known without a chain node')];
  const bar = (await node.isBarred(payee))
    ? failed(
        'the issuer of the token has barred it, so every payment would fail',
        'set SIGNALPRESS_PAY_TO to another address of yours',
      )
    : ok('the token pays to it');
  if (isOther) return [bar];
  const code = await node.codeOf(payee);
  if (code === undefined) return [ok('it is a plain account'), bar];
  if (DELEGATED.test(code)) return [ok('it is an account that delegates to a contract'), bar];
  const contract = 'it is a contract, and only its own code decides whether the money can be spent';
  const remedy = 'make sure that this contract can send tokens, with a small payment first';
  return [warning(contract, remedy), bar];
}

/** Headers that a proxy must leave alone; no shop takes these values for a payment. */
const KEPT_HEADERS = [
  'x-payment',
  'payment-signature',
  'payment-identifier',
  'sign-in-with-x',
  'x-receipt',
  'authorization',
] as const;
const PROBE_HEADER = 'x-signalpress-probe';
/** Strangers are told to come back once the gatekeeper runs. */
const NOT_YET = JSON.stringify({ error: 'Not started yet; ask again', retryable: true });

/** Listens where the gatekeeper will, and asks its public address: so the way through proxies is known before a start. */
export async function addressCheck(examined: Examined): Promise<Finding[]> {
  const { config, ask } = examined;
  const { host, port } = config;
  const mark = randomBytes(16).toString('hex');
  let arrival: IncomingMessage | null = null;
  const server = createServer((request, response) => {
    if (request.headers[PROBE_HEADER] === mark) arrival ??= request;
    const fixed = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(503, { ...fixed, 'retry-after': '5' }).end(NOT_YET);
  });
  const own = await listen(server, { port, host }).catch((error: NodeJS.ErrnoException) => error);
  const isTaken = own instanceof Error;
  const findings = [
    ...(isTaken
      ? await takenFindings(own.code ?? own.message, examined)
      : [ok(`${host}:${port} is free`)]),
  ];
  try {
    // The address that the release was compiled for; another check reports that none can be opened.
    const opened = config.baseUrl === null ? await examined.release().catch(() => null) : null;
    const baseUrl = config.baseUrl ?? opened?.head.base_url ?? null;
    if (baseUrl === null)
      return [...findings, skipped('no base URL: the release cannot be opened')];
    if (isLoopback(new URL(baseUrl).hostname))
      return [...findings, skipped(`${baseUrl} is not public: only this machine reaches it`)];
    const kept = Object.fromEntries(KEPT_HEADERS.map((name) => [name, mark]));
    const target = `${HEALTH_PATH}?probe=${mark}`;
    const answer = await ask(baseUrl + target, { ...kept, [PROBE_HEADER]: mark });
    if (arrival === null) findings.push(elsewhere(baseUrl, answer, isTaken));
    else findings.push(ok(`${baseUrl} leads here`));
    const open = `${baseUrl} is not https, so anybody on the way can read what was bought`;
    if (!baseUrl.startsWith('https:'))
      findings.push(warning(open, 'end TLS in a proxy, and compile with its https address'));
    if (arrival === null) return findings;
    const way = { host: new URL(baseUrl).host, target, mark };
    return [...findings, ...arrivalFindings(arrival, way, config.trustedProxy)];
  } finally {
    if (!isTaken) await own.close();
  }
}

async function takenFindings(code: string, { config, ask }: Examined): Promise<Finding[]> {
  const place = `${config.host}:${config.port}`;
  const remedy = 'set SIGNALPRESS_HOST to an address of this machine, or SIGNALPRESS_PORT';
  if (code !== 'EADDRINUSE') return [failed(`cannot listen on ${place}: ${code}`, remedy)];
  const report = healthOf(await ask(`http://${addressText(config)}${HEALTH_PATH}`));
  if (report === null)
    return [failed(`${place} is taken by another process`, 'stop it, or set SIGNALPRESS_PORT')];
  const { release, listings = [] } = report;
  const found = listings.map(({ status, reason }) =>
    status === 'rejected'
      ? warning(
          `the directory of a facilitator does not list this shop: ${reason}`,
          'do what the reason says, or ask the facilitator',
        )
      : ok(`the directory of a facilitator took the listing: ${status}`),
  );
  return [ok(`a gatekeeper runs on ${place} and serves release ${release.sequence}`), ...found];
}

const healthSchema = z.object({
  release: z.object({ sequence: z.number() }),
  listings: z.array(z.object({ status: z.string(), reason: z.string().optional() })).optional(),
});

/** A health report; null for any other answer. */
function healthOf(answer: WebAnswer): z.infer<typeof healthSchema> | null {
  if ('code' in answer) return null;
  try {
    return healthSchema.safeParse(JSON.parse(answer.text)).data ?? null;
  } catch {
    return null;
  }
}

function elsewhere(baseUrl: string, answer: WebAnswer, isTaken: boolean): Finding {
  if ('code' in answer) {
    return failed(
      `${baseUrl} does not answer from here: ${answer.code}`,
      'check its DNS name, its certificate, the proxy and the firewall; if only this machine cannot reach its own ' +
        'public address, ask from another one',
    );
  }
  const report = healthOf(answer);
  if (isTaken && report !== null)
    return ok(`${baseUrl} answers with release ${report.release.sequence}`);
  return failed(
    `${baseUrl} answers with status ${answer.status}, and not from here`,
    'let the proxy pass requests on to SIGNALPRESS_HOST and SIGNALPRESS_PORT',
  );
}

const SHARED = 'they all share one rate limit, and no buyer is known by its address';

/** What a proxy on the way changed that it must leave alone, and whether the client that it names will be believed. */
function arrivalFindings(
  { headers, rawHeaders, url, socket }: IncomingMessage,
  sent: { host: string; target: string; mark: string },
  trusted: string,
): Finding[] {
  const found: Finding[] = [];
  const hostRemedy = `let the proxy pass Host on unchanged: ${sent.host}`;
  if (headers.host !== sent.host)
    found.push(failed(`Host arrives as "${headers.host}"`, hostRemedy));
  const changed = 'the path or the query is changed on the way';
  if (url !== sent.target) found.push(failed(changed, 'let the proxy leave both alone'));
  const lost = KEPT_HEADERS.filter((name) => headers[name] !== sent.mark);
  const losses = `lost on the way: ${lost.join(', ')}`;
  if (lost.length > 0) found.push(failed(losses, 'let the proxy pass these headers on'));
  const from = socket.remoteAddress ?? '';
  const proxies = trustedProxies(trusted);
  const isTrusted = proxies.has(from);
  const facts = headerFacts(rawHeaders);
  const names = facts.forwardedFor !== null;
  const trust = `set SIGNALPRESS_TRUSTED_PROXY=${from}`;
  const isProxy = surelyClient(from, facts, { proxies, isPublic: true }) === null;
  const unheard = `a proxy at ${from} names its clients, but is not trusted: ${SHARED}`;
  const silent = `${isTrusted ? 'the trusted' : 'a'} proxy at ${from} names no client: ${SHARED}`;
  const add = `let it add X-Forwarded-For${isTrusted ? '' : `, and ${trust}`}`;
  if (names && isTrusted) found.push(ok(`the proxy at ${from} is trusted and names its clients`));
  else if (names) found.push(warning(unheard, trust));
  else if (isProxy) found.push(warning(silent, add));
  else found.push(ok(`requests come from ${from}, without X-Forwarded-For`));
  return found;
}
