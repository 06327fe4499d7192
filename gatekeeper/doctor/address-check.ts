import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { addressText } from '../config/setting-forms.ts';
import { HEALTH_PATH } from '../http/own-paths.ts';
import { trustedProxies } from '../limits/client-address.ts';
import { type ListeningServer, listen } from '../system/listen.ts';
import { isLoopback } from '../system/loopback.ts';
import { messageOf } from '../system/message-of.ts';
import type { Unanswered, WebAnswer } from './ask.ts';
import type { Examined } from './check.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';

/** Headers that a proxy must leave alone; no shop takes these values for a payment. */
const KEPT_HEADERS = [
  'x-payment',
  'payment-signature',
  'payment-identifier',
  'sign-in-with-x',
  'x-receipt',
  'authorization',
] as const;

/**
 * Listens where the gatekeeper will, asks its public address, and looks at what arrives. So it knows the way through
 * proxies before there is a gatekeeper. Where one listens already, its health report has to do.
 */
export async function addressCheck(examined: Examined): Promise<Finding[]> {
  const { host, port, baseUrl: set } = examined.config;
  const baseUrl = set ?? (await baseUrlOf(examined));
  const listening = await probed(host, port);
  if ('code' in listening)
    return [
      await takenFinding(examined, listening.code),
      ...(await outside(baseUrl, examined, null)),
    ];
  try {
    return [ok(`${host}:${port} is free`), ...(await outside(baseUrl, examined, listening))];
  } finally {
    await listening.close();
  }
}

/** The address that the release was compiled for; null where none can be opened, which another check reports. */
async function baseUrlOf({ release }: Examined): Promise<string | null> {
  return release().then(
    ({ head }) => head.base_url,
    () => null,
  );
}

async function probed(host: string, port: number): Promise<ProbeServer | Unanswered> {
  try {
    return await probeServer(host, port);
  } catch (error) {
    return {
      code: error instanceof Error && 'code' in error ? String(error.code) : messageOf(error),
    };
  }
}

async function takenFinding({ config, ask }: Examined, code: string): Promise<Finding> {
  const place = `${config.host}:${config.port}`;
  if (code !== 'EADDRINUSE') {
    return failed(
      `cannot listen on ${place}: ${code}`,
      'set SIGNALPRESS_HOST to an address of this machine, or SIGNALPRESS_PORT',
    );
  }
  const sequence = sequenceOf(await ask(`http://${addressText(config)}${HEALTH_PATH}`));
  if (sequence !== null) return ok(`a gatekeeper runs on ${place} and serves release ${sequence}`);
  return failed(`${place} is taken by another process`, 'stop it, or set SIGNALPRESS_PORT');
}

/** The release that a health report names; null for any other answer. */
function sequenceOf(answer: WebAnswer | Unanswered): number | null {
  if ('code' in answer) return null;
  try {
    const { release } = JSON.parse(answer.text) as { readonly release?: { sequence?: unknown } };
    return typeof release?.sequence === 'number' ? release.sequence : null;
  } catch {
    return null;
  }
}

async function outside(
  baseUrl: string | null,
  examined: Examined,
  probe: ProbeServer | null,
): Promise<Finding[]> {
  if (baseUrl === null) return [skipped('no base URL: the release cannot be opened')];
  const url = new URL(baseUrl);
  if (isLoopback(url.hostname))
    return [skipped(`${baseUrl} is not public: only this machine reaches it`)];
  const mark = randomBytes(16).toString('hex');
  const kept = Object.fromEntries(KEPT_HEADERS.map((name) => [name, mark]));
  const target = `${HEALTH_PATH}?probe=${mark}`;
  const answer = await examined.ask(baseUrl + target, { ...kept, [PROBE_HEADER]: mark });
  const [arrival] = probe?.arrivals(mark) ?? [];
  const plain = url.protocol === 'https:' ? [] : [plainFinding(baseUrl)];
  if (arrival === undefined) return [elsewhere(baseUrl, answer, probe === null), ...plain];
  return [
    ok(`${baseUrl} leads here`),
    ...plain,
    ...changes(arrival, { host: url.host, target, mark }),
    proxyFinding(arrival, examined),
  ];
}

function plainFinding(baseUrl: string): Finding {
  return warning(
    `${baseUrl} is not https, so anybody on the way can read what was bought`,
    'end TLS in a proxy, and compile with its https address',
  );
}

/** What an answer means that did not come from our own listener. */
function elsewhere(baseUrl: string, answer: WebAnswer | Unanswered, isTaken: boolean): Finding {
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

interface SentProbe {
  readonly host: string;
  readonly target: string;
  /** The value of each header that must arrive. */
  readonly mark: string;
}

/** What a proxy on the way changed that it must leave alone. */
function changes({ headers, target }: ArrivedRequest, sent: SentProbe): Finding[] {
  const lost = KEPT_HEADERS.filter((name) => headers[name] !== sent.mark);
  return [
    ...(headers.host === sent.host
      ? []
      : [
          failed(
            `Host arrives as "${headers.host}"`,
            `let the proxy pass Host on unchanged: ${sent.host}`,
          ),
        ]),
    ...(target === sent.target
      ? []
      : [failed('the path or the query is changed on the way', 'let the proxy leave both alone')]),
    ...(lost.length === 0
      ? []
      : [failed(`lost on the way: ${lost.join(', ')}`, 'let the proxy pass these headers on')]),
  ];
}

const SHARED = 'they all share one rate limit, and no buyer is known by its address';

/** Whether the client that a proxy names will be believed. */
function proxyFinding({ from, headers }: ArrivedRequest, { config }: Examined): Finding {
  const isTrusted = trustedProxies(config.trustedProxy).has(from);
  const names = headers['x-forwarded-for'] !== undefined;
  if (names && isTrusted) return ok(`the proxy at ${from} is trusted and names its clients`);
  if (names) {
    return warning(
      `a proxy at ${from} names its clients, but is not trusted: ${SHARED}`,
      `set SIGNALPRESS_TRUSTED_PROXY=${from}`,
    );
  }
  // Whoever asks a public address from this machine and comes back from it came through a proxy on it.
  const isProxy = isTrusted || isLoopback(from) || (headers.via ?? headers.forwarded) !== undefined;
  if (isProxy) {
    return warning(
      `${isTrusted ? 'the trusted' : 'a'} proxy at ${from} names no client: ${SHARED}`,
      `let it add X-Forwarded-For${isTrusted ? '' : `, and set SIGNALPRESS_TRUSTED_PROXY=${from}`}`,
    );
  }
  return ok(`requests come from ${from}, without X-Forwarded-For`);
}

/** What a request of ours looked like when it arrived. */
interface ArrivedRequest {
  /** Address of the connection. */
  readonly from: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
}

/** Listens in place of the gatekeeper for a moment, and notes what arrives. */
interface ProbeServer extends Pick<ListeningServer, 'close'> {
  /** Requests that carry the mark, oldest first. */
  arrivals(mark: string): readonly ArrivedRequest[];
}

/** Header that a request of ours is known by. */
const PROBE_HEADER = 'x-signalpress-probe';
const ARRIVALS_MAX = 100;
/** Strangers are told to come back once the gatekeeper runs. */
const NOT_YET = JSON.stringify({ error: 'Not started yet; ask again', retryable: true });

/** Rejects with the error of the socket. */
async function probeServer(host: string, port: number): Promise<ProbeServer> {
  const arrived: ArrivedRequest[] = [];
  const server = createServer((request, response) => {
    const { url: target = '', headers, socket } = request;
    if (arrived.length < ARRIVALS_MAX) {
      arrived.push({ from: socket.remoteAddress ?? '', target, headers });
    }
    const fixed = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(503, { ...fixed, 'retry-after': '5' }).end(NOT_YET);
  });
  const { close } = await listen(server, { port, host });
  return {
    arrivals: (mark) => arrived.filter(({ headers }) => headers[PROBE_HEADER] === mark),
    close,
  };
}
