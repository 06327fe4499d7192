import { z } from 'zod';
import {
  authorizationOf,
  type Facilitator,
  type FacilitatorRequest,
  isAwaited,
  type NoVerdict,
  type SettleOutcome,
  type SupportedOutcome,
  type ValidityOutcome,
} from '../money/facilitator.ts';
import { findNetwork } from '../money/networks.ts';
import { facilitatorUrl } from '../money/remote-url.ts';
import { inTime } from '../system/in-time.ts';
import { type JsonAnswer, jsonCaller, type NoJson } from './json-call.ts';

const VERIFY_TIMEOUT_MS = 10_000;
const SETTLE_TIMEOUT_MS = 60_000;
/** Longest wait for the headers that an operator's module makes. */
const AUTH_TIMEOUT_MS = 5000;
const FACILITATOR_BODY_BYTES_MAX = 65_536;
/** Hung settlements must not starve the others, so the pool is far larger than what a healthy one needs. */
const FACILITATOR_CONNECTIONS_MAX = 1024;
/** Longest reason that is passed on. */
const REASON_CHARS_MAX = 200;

const optionalText = z.string().max(1024).nullish();
const verifyAnswer = z.object({
  isValid: z.boolean(),
  invalidReason: z.unknown().optional(),
  payer: optionalText,
});
const settleAnswer = z.object({
  success: z.boolean(),
  errorReason: z.unknown().optional(),
  transaction: optionalText,
  network: optionalText,
  payer: optionalText,
});
const supportedAnswer = z.object({ kinds: z.array(z.unknown()) });
const supportedKind = z.object({
  x402Version: z.number(),
  scheme: z.string(),
  network: z.string(),
});
/** Shown in receipts, which are base64, so any printable name of a transaction will do. */
const TRANSACTION = /^[\x21-\x7e]{1,128}$/;

/** Makes the headers of one call, for example a token that is signed for it. */
export type FacilitatorAuth = (call: {
  readonly method: 'GET' | 'POST';
  readonly url: string;
}) => Promise<Readonly<Record<string, string>>>;

/** Where the facilitator answers and how patiently it is waited for. */
interface RemoteFacilitatorOptions {
  /** Base URL; https unless the host is loopback. */
  readonly url: string;
  /** For facilitators that know their sellers; a throw keeps the call from being sent. */
  readonly auth?: FacilitatorAuth;
  readonly verifyTimeoutMs?: number;
  readonly settleTimeoutMs?: number;
  /** Told the time of its answers, in milliseconds since the epoch; must not throw. */
  readonly noteTime?: (ms: number) => void;
}

/** A facilitator over HTTP, trusted no further than needed; `close` ends its connections. */
export function remoteFacilitator(
  options: RemoteFacilitatorOptions,
): Facilitator & { close(): Promise<void> } {
  const { verifyTimeoutMs = VERIFY_TIMEOUT_MS, settleTimeoutMs = SETTLE_TIMEOUT_MS } = options;
  const call = caller(options);
  const requestBody = bodyWriter();
  /** Bodies that the second call sends again. */
  const verifiedBodies = new WeakMap<FacilitatorRequest, Buffer>();
  const post = (name: 'verify' | 'settle', request: FacilitatorRequest, timeoutMs: number) =>
    call({
      method: 'POST',
      name,
      body: verifiedBodies.get(request) ?? requestBody(request),
      timeoutMs,
      id: request.trace?.sentId,
      // A check moves no money.
      ...(name === 'settle' ? { isWanted: () => isAwaited(request) } : {}),
    });
  return {
    async verify(request) {
      verifiedBodies.set(request, requestBody(request));
      const answer = await post('verify', request, verifyTimeoutMs);
      return 'detail' in answer ? noVerdict(answer) : verifyOutcome(answer, request);
    },
    async settle(request) {
      const answer = await post('settle', request, settleTimeoutMs);
      return 'detail' in answer ? noVerdict(answer) : settleOutcome(answer, request);
    },
    async supported() {
      const answer = await call({ method: 'GET', name: 'supported', timeoutMs: verifyTimeoutMs });
      return 'detail' in answer ? noVerdict(answer) : supportedOutcome(answer);
    },
    close: call.close,
  };
}

/** Writes the body of both calls; what payments share is made once for all of them. */
function bodyWriter(): (request: FacilitatorRequest) => Buffer {
  const sharedParts = new WeakMap<object, Buffer>();
  const bytesOf = (part: string | object): Buffer => {
    if (typeof part === 'string') return Buffer.from(part, 'utf8');
    const known = sharedParts.get(part);
    if (known !== undefined) return known;
    const bytes = Buffer.from(JSON.stringify(part), 'utf8');
    sharedParts.set(part, bytes);
    return bytes;
  };
  return (request) => Buffer.concat(bodyParts(request).map(bytesOf));
}

/** Texts, and between them the objects that other payments carry too. */
function bodyParts(request: FacilitatorRequest): readonly (string | object)[] {
  const { x402Version, paymentPayload, paymentRequirements } = request;
  const head = `{"x402Version":${x402Version},"paymentPayload":`;
  const tail = [',"paymentRequirements":', paymentRequirements, '}'];
  if (paymentPayload.x402Version === 1) return [head + JSON.stringify(paymentPayload), ...tail];
  const { accepted, payload, resource, extensions } = paymentPayload;
  return [
    `${head}{"x402Version":2,"accepted":`,
    accepted,
    `,"payload":${JSON.stringify(payload)}`,
    ...(resource === undefined ? [] : [',"resource":', resource]),
    ...(extensions === undefined ? [] : [',"extensions":', extensions]),
    '}',
    ...tail,
  ];
}

interface RemoteCall {
  readonly method: 'GET' | 'POST';
  readonly name: 'verify' | 'settle' | 'supported';
  readonly body?: Buffer;
  readonly timeoutMs: number;
  readonly isWanted?: () => boolean;
  /** Value of `X-Request-Id`, so that its operator and ours speak of the same call. */
  readonly id?: string | undefined;
}
type GivenAnswer = Exclude<JsonAnswer, NoJson>;
type RemoteCaller = ((call: RemoteCall) => Promise<JsonAnswer>) & { close(): Promise<void> };

function caller(options: RemoteFacilitatorOptions): RemoteCaller {
  const base = facilitatorUrl(options.url);
  const ask = jsonCaller(base.origin, {
    connections: FACILITATOR_CONNECTIONS_MAX,
    connectTimeoutMs: VERIFY_TIMEOUT_MS,
    bytesMax: FACILITATOR_BODY_BYTES_MAX,
    ...(options.noteTime === undefined ? {} : { noteTime: options.noteTime }),
  });
  const prefix = base.pathname.replace(/\/$/, '');
  const send = async ({ method, name, body, id, ...limits }: RemoteCall): Promise<JsonAnswer> => {
    const path = `${prefix}/${name}`;
    const { auth } = options;
    const url = base.origin + path;
    const own = auth === undefined ? CALL_HEADERS : await headersOf(auth, { method, url });
    const headers = own === null || id === undefined ? own : [...own, 'x-request-id', id];
    if (headers === null) return { ...NO_HEADERS, detail: `/${name}: no auth headers` };
    const answer = await ask({ method, path, headers, body: body ?? null, ...limits });
    return 'detail' in answer ? { ...answer, detail: `/${name}: ${answer.detail}` } : answer;
  };
  return Object.assign(send, { close: ask.close });
}

/** Only a module can fail to make headers. */
const NO_HEADERS = { setting: 'SIGNALPRESS_FACILITATOR_AUTH_MODULE', unsent: true } as const;

const CALL_HEADERS: readonly string[] = [
  'content-type',
  'application/json',
  'accept',
  'application/json',
  'accept-encoding',
  'identity',
];

/** Names and values in turn; null when there are none in time. */
async function headersOf(
  auth: FacilitatorAuth,
  call: Parameters<FacilitatorAuth>[0],
): Promise<readonly string[] | null> {
  try {
    const made = await inTime(auth(call), AUTH_TIMEOUT_MS);
    return made === null ? null : [...Object.entries(made).flat(), ...CALL_HEADERS];
  } catch {
    return null;
  }
}

function noVerdict(none: NoJson): NoVerdict {
  return { verdict: 'none', ...none };
}

/** JSON that is not what the call asks for. */
function strange({ status }: GivenAnswer, call: RemoteCall['name'], what: string): NoVerdict {
  return noVerdict({ detail: `/${call}: status ${status}, ${what}`, status });
}

const CONTRADICTED = 'but says that it succeeded';

/** A yes under a status of failure is no verdict: one of both is wrong. */
function contradicts({ status }: GivenAnswer): boolean {
  return status >= 400;
}

/** One entry that we cannot read must not hide the others. */
function supportedOutcome(answer: GivenAnswer): SupportedOutcome {
  const parsed = supportedAnswer.safeParse(answer.json);
  if (!parsed.success || contradicts(answer))
    return strange(answer, 'supported', 'no list of kinds');
  const kinds = parsed.data.kinds.map((kind) => supportedKind.safeParse(kind).data);
  return { verdict: 'supported', kinds: kinds.filter((kind) => kind !== undefined) };
}

function verifyOutcome(answer: GivenAnswer, request: FacilitatorRequest): ValidityOutcome {
  const parsed = verifyAnswer.safeParse(answer.json);
  if (!parsed.success) return strange(answer, 'verify', 'no boolean "isValid"');
  const { isValid, invalidReason, payer } = parsed.data;
  if (!isValid) return { verdict: 'invalid', reason: reasonText(invalidReason) };
  if (contradicts(answer)) return strange(answer, 'verify', CONTRADICTED);
  if (!isOurs(payer, request)) return noVerdict({ detail: '/verify: names another payer' });
  return { verdict: 'valid' };
}

function settleOutcome(answer: GivenAnswer, request: FacilitatorRequest): SettleOutcome {
  const parsed = settleAnswer.safeParse(answer.json);
  if (!parsed.success) return strange(answer, 'settle', 'no boolean "success"');
  const { success, errorReason, transaction, network, payer } = parsed.data;
  if (!success) {
    const named = transaction ? ({ namesTransaction: true } as const) : {};
    return { verdict: 'refused', reason: reasonText(errorReason), ...named };
  }
  if (contradicts(answer)) return strange(answer, 'settle', CONTRADICTED);
  if (!isOurs(payer, request)) return noVerdict({ detail: '/settle: names another payer' });
  if (network && findNetwork(network) !== findNetwork(request.paymentRequirements.network)) {
    return noVerdict({ detail: '/settle: names another network' });
  }
  if (!transaction || !TRANSACTION.test(transaction)) {
    return noVerdict({ detail: '/settle: names no transaction' });
  }
  return { verdict: 'settled', transaction };
}

function isOurs(payer: string | null | undefined, request: FacilitatorRequest): boolean {
  return !payer || payer.toLowerCase() === authorizationOf(request).from.toLowerCase();
}

/** Reasons are an open set, of other shapes too; control characters of a stranger go no further. */
function reasonText(reason: unknown): string {
  if (typeof reason !== 'string' || reason === '') return 'unspecified';
  return reason.slice(0, REASON_CHARS_MAX).replace(/[^\x20-\x7e]/g, '?');
}
