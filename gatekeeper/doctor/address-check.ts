import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { addressText } from '../config/settings.ts';
import { headerFacts } from '../http/header-facts.ts';
import { HEALTH_PATH } from '../http/request.ts';
import { surelyClient, trustedProxies } from '../limits/client-address.ts';
import { isLoopback, type ListeningServer, listen } from '../system/listen.ts';
import { messageOf } from '../system/message-of.ts';
import {
  type Examined,
  type Finding,
  failed,
  ok,
  skipped,
  type WebAnswer,
  warning,
} from './check.ts';

/** Headers that a proxy must leave alone; no shop takes these values for a payment. */
const KEPT_HEADERS = [
  'x-payment',
  'payment-signature',
  'payment-identifier',
  'sign-in-with-x',
  'x-receipt',
  'authorization',
] as const;
/** Header that a request of ours is known by. */
const PROBE_HEADER = 'x-signalpress-probe';
/** Strangers are told to come back once the gatekeeper runs. */
const NOT_YET = JSON.stringify({ error: 'Not started yet; ask again', retryable: true });

/**
 * Listens where the gatekeeper will, asks its public address, and looks at what arrives. So it knows the way through
 * proxies before there is a gatekeeper. Where one listens already, its health report has to do.
 */
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
  let listening: ListeningServer | null = null;
  const findings: Finding[] = [];
  try {
    listening = await listen(server, { port, host });
    findings.push(ok(`${host}:${port} is free`));
  } catch (error) {
    findings.push(await takenFinding(examined, error));
  }
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
    const led =
      arrival === null
        ? elsewhere(baseUrl, answer, listening === null)
        : ok(`${baseUrl} leads here`);
    findings.push(led);
    if (!baseUrl.startsWith('https:')) {
      const open = `${baseUrl} is not https, so anybody on the way can read what was bought`;
      findings.push(warning(open, 'end TLS in a proxy, and compile with its https address'));
    }
    if (arrival === null) return findings;
    return [
      ...findings,
      ...wayFindings(arrival, { host: new URL(baseUrl).host, target, mark }),
      proxyFinding(arrival, examined),
    ];
  } finally {
    await listening?.close();
  }
}

/** Who has the port, or why it cannot be had. */
async function takenFinding({ config, ask }: Examined, error: unknown): Promise<Finding> {
  const place = `${config.host}:${config.port}`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
  if (code !== 'EADDRINUSE') {
    const remedy = 'set SIGNALPRESS_HOST to an address of this machine, or SIGNALPRESS_PORT';
    return failed(`cannot listen on ${place}: ${code}`, remedy);
  }
  const sequence = sequenceOf(await ask(`http://${addressText(config)}${HEALTH_PATH}`));
  if (sequence !== null) return ok(`a gatekeeper runs on ${place} and serves release ${sequence}`);
  return failed(`${place} is taken by another process`, 'stop it, or set SIGNALPRESS_PORT');
}

/** The release that a health report names; null for any other answer. */
function sequenceOf(answer: WebAnswer): number | null {
  if ('code' in answer) return null;
  try {
    const { release } = JSON.parse(answer.text) as { readonly release?: { sequence?: unknown } };
    return typeof release?.sequence === 'number' ? release.sequence : null;
  } catch {
    return null;
  }
}

/** What an answer means that did not come from our own listener. */
function elsewhere(baseUrl: string, answer: WebAnswer, isTaken: boolean): Finding {
  if ('code' in answer) {
    return failed(
      `${baseUrl} does not answer from here: ${answer.code}`,
      'check its DNS name, its certificate, the proxy and the firewall; if only this machine cannot reach its own ' +
        'public address, ask from another one',
    );
  }
  const sequence = sequenceOf(answer);
  if (isTaken && sequence !== null) return ok(`${baseUrl} answers with release ${sequence}`);
  return failed(
    `${baseUrl} answers with status ${answer.status}, and not from here`,
    'let the proxy pass requests on to SIGNALPRESS_HOST and SIGNALPRESS_PORT',
  );
}

/** What a proxy on the way changed that it must leave alone. */
function wayFindings(
  { headers, url }: IncomingMessage,
  { host, target, mark }: { readonly host: string; readonly target: string; readonly mark: string },
): Finding[] {
  const lost = KEPT_HEADERS.filter((name) => headers[name] !== mark);
  const [unchanged, both] = [
    `let the proxy pass Host on unchanged: ${host}`,
    'let the proxy leave both alone',
  ];
  const findings = [
    headers.host !== host && failed(`Host arrives as "${headers.host}"`, unchanged),
    url !== target && failed('the path or the query is changed on the way', both),
    lost.length > 0 &&
      failed(`lost on the way: ${lost.join(', ')}`, 'let the proxy pass these headers on'),
  ];
  return findings.filter((one) => one !== false);
}

const SHARED = 'they all share one rate limit, and no buyer is known by its address';

/** Whether the client that a proxy names will be believed. */
function proxyFinding({ rawHeaders, socket }: IncomingMessage, { config }: Examined): Finding {
  const from = socket.remoteAddress ?? '';
  const proxies = trustedProxies(config.trustedProxy);
  const isTrusted = proxies.has(from);
  const facts = headerFacts(rawHeaders);
  const names = facts.forwardedFor !== null;
  if (names && isTrusted) return ok(`the proxy at ${from} is trusted and names its clients`);
  const trust = `set SIGNALPRESS_TRUSTED_PROXY=${from}`;
  if (names)
    return warning(`a proxy at ${from} names its clients, but is not trusted: ${SHARED}`, trust);
  if (surelyClient(from, facts, { proxies, isPublic: true }) !== null)
    return ok(`requests come from ${from}, without X-Forwarded-For`);
  return warning(
    `${isTrusted ? 'the trusted' : 'a'} proxy at ${from} names no client: ${SHARED}`,
    `let it add X-Forwarded-For${isTrusted ? '' : `, and ${trust}`}`,
  );
}
