/**
 * One GET at a time to an agency, over undici. This is the compiler's only way to the agencies, and it trusts nothing of what
 * comes back:
 *
 *  - Only https addresses at the agency's own hosts are asked, also after a redirect. An operator's mirror may stand in for
 *    a host.
 *  - A data key is added on the wire only. No address that is stored, told or logged holds it.
 *  - The body goes to the disk as it comes. One that is too long, before or after gzip, is refused by name.
 *  - An answer of another status or type, an HTML page, and a body that ends too early are errors; so is a table of which
 *    nothing says where it ends.
 *
 * HTTP semantics: RFC 9110. Conditional requests: its section 13.
 */

import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Agent, type Dispatcher, request } from 'undici';
import { hostsOf, type SourceRow } from '../../catalog/register.ts';
import { codeOf, messageOf } from '../../format/errors.ts';
import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import { networkFault } from '../../format/network-fault.ts';
import type { Clock, Pace } from '../../system/clock.ts';
import { readPayload } from '../import-command.ts';
import { type FetchNote, ImportError, withoutKeys, withoutMark } from '../kit/payload.ts';
import { type Address, pageAddress, type Source } from '../kit/source.ts';
import type { Archive, Incoming, Look } from './archive.ts';

interface FetchFault {
  /** Address without keys, or the name of the source. */
  readonly subject: string;
  /** The entity that the address is about, where it is one. */
  readonly about?: string | undefined;
  readonly state: string;
  readonly isTransient?: boolean;
  /** The agency turns this client away: nothing more is asked for now. */
  readonly isRefusal?: boolean;
  /** The agency answers that it has nothing at this address, which tells nothing of the others. */
  readonly isAbsent?: boolean;
  /** Its host could not be reached at all, so that no request came to the agency. */
  readonly isUnreachable?: boolean;
  /** How long the agency asks to wait, in milliseconds. */
  readonly waitMs?: number;
}

class FetchError extends Error {
  override readonly name = 'FetchError';
  readonly fault: FetchFault;

  constructor(fault: FetchFault, options?: ErrorOptions) {
    const { subject, about, state } = fault;
    super(
      `Cannot fetch "${subject}"${about === undefined ? '' : ` (${about})`}: ${state}`,
      options,
    );
    this.fault = fault;
  }
}

const REDIRECTS = [301, 302, 303, 307, 308];
const REDIRECTS_MAX = 5;
const DUMP_BYTES = 65_536;
const HEADERS_BYTES_MAX = 65_536;
/** A longer value is not kept: notes must stay small, and nobody needs it. */
const KEPT_HEADER_CHARS_MAX = 1024;
/** A longer wait would take a source out of use for good, so it is asked again after this. */
const RETRY_AFTER_MS_MAX = 7 * DAY_MS;
const TRANSIENT = [408, 429, 500, 502, 503, 504];
const REFUSALS = [401, 403, 429, 451];
const ABSENT = [404, 410];
/** Types that say nothing about what they hold; the importer judges the bytes. */
const PLAIN_TYPES = ['text/plain', 'application/octet-stream', 'binary/octet-stream'];
const MEDIA_TYPES: Readonly<Record<SourceRow['format'], RegExp>> = {
  json: /^(application|text)\/([\w.-]+\+)?json$/,
  csv: /^(text|application)\/(csv|comma-separated-values|x-csv|vnd\.ms-excel)$/,
  xml: /^(application|text)\/([\w.-]+\+)?xml$/,
  text: /^text\/(?!html)[\w.+-]+$/,
};

/** Where an address takes a key in its path, also once it is written as a URL. */
const KEY_PLACE = /\{key\}|%7Bkey%7D/gi;

/** In milliseconds. Silence is before the headers and within the body; no answer may trickle in for ever. */
export const TIMEOUTS = { connect: 10_000, silence: 30_000, total: 180_000 };

interface ClientSettings {
  readonly userAgent: string;
  /** Mirrors by host: "data.sec.gov" may be asked at "http://127.0.0.1:8080/sec", paths and queries stay. */
  readonly origins: Readonly<Record<string, string>>;
  readonly timeouts: typeof TIMEOUTS;
  readonly bytesMax: number;
}

interface AgencyRequest {
  /** Official address, without a key. */
  readonly url: string;
  readonly row: SourceRow;
  readonly key: string | null;
  /** What is known of the address: it is asked whether that has changed. */
  readonly known: Pick<Look, 'etag' | 'last_modified'> | null;
  /** Waits until its host may be asked once more: a redirect is a request like any other. */
  readonly turn?: (host: string) => Promise<void>;
}

interface AnswerHeaders {
  readonly http_date?: string;
  readonly last_modified?: string;
  readonly etag?: string;
}

type AgencyReply =
  | { readonly kind: 'unchanged'; readonly headers: AnswerHeaders }
  | { readonly kind: 'payload'; readonly headers: AnswerHeaders; readonly incoming: Incoming };

export interface AgencyClient {
  /** Asks once; throws a FetchError for anything but a whole answer or "unchanged". `receive` keeps the bytes. */
  ask(question: AgencyRequest, receive: Receive): Promise<AgencyReply>;
  close(): Promise<void>;
}

type Receive = (chunks: AsyncIterable<Uint8Array>) => Promise<Incoming>;

export function agencyClient(settings: ClientSettings): AgencyClient {
  const { connect, silence } = settings.timeouts;
  const dispatcher = new Agent({
    connections: 2,
    connect: { timeout: connect },
    headersTimeout: silence,
    bodyTimeout: silence,
    maxHeaderSize: HEADERS_BYTES_MAX,
  });
  return {
    ask: async (question, receive) => {
      try {
        const found = await follow(question, { ...settings, dispatcher });
        return await answerOf(question, found, { ...settings, receive });
      } catch (error) {
        throw withoutKey(error, question);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

type OpenClient = ClientSettings & { readonly dispatcher: Dispatcher };
type Response = Dispatcher.ResponseData;

async function follow(question: AgencyRequest, line: OpenClient): Promise<Response> {
  let url = question.url;
  const seen = new Set<string>();
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    refuseElsewhere(url, question);
    if (seen.has(url)) throw fault(question, 'it redirects in a circle; look at the address');
    seen.add(url);
    if (hop > 0) await question.turn?.(new URL(url).host);
    const signal = AbortSignal.timeout(line.timeouts.total);
    const response = await call(url, question, { ...line, signal });
    if (!REDIRECTS.includes(response.statusCode)) return response;
    await dump(response);
    const location = headerOf(response, 'location') ?? '';
    if (!URL.canParse(location, url)) {
      const state = `answered ${response.statusCode} and leads nowhere; look at the address`;
      throw fault(question, state);
    }
    url = new URL(location, url).href;
  }
  throw fault(question, `more than ${REDIRECTS_MAX} redirects; look at the address`);
}

const ACCEPTED: Readonly<Record<SourceRow['format'], string>> = {
  json: 'application/json',
  csv: 'text/csv',
  xml: 'application/xml',
  text: 'text/plain',
};

async function call(
  url: string,
  question: AgencyRequest,
  line: OpenClient & { readonly signal: AbortSignal },
): Promise<Response> {
  const { row, key, known } = question;
  const { dispatcher, signal, userAgent } = line;
  const headers = {
    'user-agent': userAgent,
    accept: row.accept ?? ACCEPTED[row.format],
    ...(row.key?.in === 'header' && key !== null ? { [row.key.name ?? '']: key } : {}),
    'accept-encoding': 'gzip',
    ...(known?.etag === undefined ? {} : { 'if-none-match': known.etag }),
    ...(known?.last_modified === undefined ? {} : { 'if-modified-since': known.last_modified }),
  };
  try {
    return await request(wireAddress(url, question, line), { dispatcher, signal, headers });
  } catch (error) {
    throw broken(error, question);
  }
}

/** The address as it is asked: at a mirror if there is one, with the key if there is one. */
function wireAddress(
  address: string,
  { row, key }: AgencyRequest,
  { origins }: Pick<ClientSettings, 'origins'>,
): URL {
  const url = new URL(
    key === null ? address : address.replace(KEY_PLACE, () => encodeURIComponent(key)),
  );
  if (row.key?.in === 'query' && key !== null) url.searchParams.set(row.key.name ?? '', key);
  const mirror = origins[url.host];
  if (mirror === undefined) return url;
  return new URL(`${mirror.replace(/\/$/, '')}${url.pathname}${url.search}`);
}

function refuseElsewhere(address: string, question: AgencyRequest): void {
  const hosts = hostsOf(question.row);
  const { protocol, host, username, password } = new URL(address);
  if (protocol === 'https:' && hosts.includes(host) && `${username}${password}` === '') return;
  const where = `${protocol}//${host}`;
  const state = `it leads to ${where}, which is not the agency's (${hosts.join(', ')}); nothing was asked there`;
  throw fault(question, state);
}

async function answerOf(
  question: AgencyRequest,
  response: Response,
  { receive, bytesMax }: Pick<ClientSettings, 'bytesMax'> & { readonly receive: Receive },
): Promise<AgencyReply> {
  const [date, modified, etag] = ['date', 'last-modified', 'etag'].map((name) => {
    const value = headerOf(response, name);
    return value !== undefined && value.length <= KEPT_HEADER_CHARS_MAX ? value : undefined;
  });
  const headers = {
    ...(date === undefined ? {} : { http_date: date }),
    ...(modified === undefined ? {} : { last_modified: modified }),
    ...(etag === undefined ? {} : { etag }),
  };
  if (response.statusCode === 304 && question.known !== null) {
    await dump(response);
    return { kind: 'unchanged', headers };
  }
  const refusal =
    refusalOf(question, response) ?? wrongType(question, response) ?? unended(question, response);
  if (refusal !== null) {
    await dump(response);
    throw refusal;
  }
  const incoming = await receive(payloadOf(question, response, bytesMax));
  return { kind: 'payload', headers, incoming };
}

function refusalOf(question: AgencyRequest, response: Response): FetchError | null {
  const { statusCode } = response;
  if (statusCode === 200) return null;
  const waitMs = waitOf(response);
  const wait = waitMs === null ? '' : `, and to come back in ${Math.ceil(waitMs / 1000)} s`;
  return new FetchError({
    subject: question.url,
    state: `answered HTTP ${statusCode}${wait}; ${remedyOf(statusCode)}`,
    isTransient: TRANSIENT.includes(statusCode),
    isRefusal: REFUSALS.includes(statusCode),
    isAbsent: ABSENT.includes(statusCode),
    ...(waitMs === null ? {} : { waitMs }),
  });
}

function remedyOf(status: number): string {
  if (status === 429) return 'ask less often';
  if (status === 401 || status === 403) return 'check the data key and SIGNALPRESS_CONTACT';
  return status >= 500 ? 'the agency is at fault; it is asked again' : 'look at the address';
}

/** `Retry-After` in milliseconds; a date counts from the agency's own clock. */
function waitOf(response: Response): number | null {
  const text = headerOf(response, 'retry-after')?.trim() ?? '';
  const until = Date.parse(text) - Date.parse(headerOf(response, 'date') ?? '');
  const wait = /^\d{1,8}$/.test(text) ? Number(text) * 1000 : until;
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), RETRY_AFTER_MS_MAX);
}

function wrongType(question: AgencyRequest, response: Response): FetchError | null {
  const { format, media_types } = question.row;
  const text = headerOf(response, 'content-type') ?? '';
  const type = text.split(';')[0]?.trim().toLowerCase() ?? '';
  const isKnown = MEDIA_TYPES[format].test(type) || PLAIN_TYPES.includes(type) || type === '';
  if (isKnown || media_types?.includes(type) === true) return null;
  const state = `answered 200 with ${type.slice(0, 80)}, not ${format}; that is a page for people or another format`;
  return fault(question, state);
}

/** A table shows no cut where a line ends, so the transfer must say where the answer does. */
function unended(question: AgencyRequest, response: Response): FetchError | null {
  const isEnded =
    headerOf(response, 'content-length') !== undefined ||
    /\bchunked\b/i.test(headerOf(response, 'transfer-encoding') ?? '') ||
    /gzip/i.test(headerOf(response, 'content-encoding') ?? '');
  if (question.row.format !== 'csv' || isEnded) return null;
  const state =
    'says neither how long it is nor where it ends, so nothing shows whether it is whole';
  return fault(question, `${state}; name a mirror that says it in "origins"`);
}

async function* payloadOf(
  question: AgencyRequest,
  response: Response,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of decoded(question, response)) {
      if (bytes === 0) refusePage(question, chunk);
      bytes += chunk.length;
      if (bytes > bytesMax) throw fault(question, tooLong(bytesMax));
      yield chunk;
    }
  } catch (error) {
    throw broken(error, question);
  }
  if (bytes === 0) throw broken(new Error('an empty body'), question);
}

function tooLong(bytesMax: number): string {
  return `longer than ${bytesMax} bytes, of which nothing was kept; ask the source for less`;
}

function decoded(question: AgencyRequest, response: Response): AsyncIterable<Uint8Array> {
  const encoding = headerOf(response, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return response.body;
  if (encoding === 'gzip' || encoding === 'x-gzip') {
    // What breaks the body breaks the reader of the gunzip, which tells it.
    return pipeline(response.body, createGunzip(), () => {});
  }
  response.body.destroy();
  throw fault(question, `encoded as ${encoding.slice(0, 40)}, which was not asked for`);
}

/** A page for people in place of data, whatever its type says. */
function refusePage(question: AgencyRequest, chunk: Uint8Array): void {
  const { format } = question.row;
  const start = Buffer.from(withoutMark(chunk).subarray(0, 512)).toString('latin1').trimStart();
  const isPage = /^<(!doctype html|html|head|body)/i.test(start);
  const isMarkup = start.startsWith('<') && (format === 'json' || format === 'csv');
  if (!isPage && !isMarkup) return;
  throw fault(question, `answered 200 with a page of markup, not ${format}; fetch it again`);
}

/** What breaks a connection or a body, in words; errors of ours stay what they are. */
function broken(error: unknown, question: Pick<AgencyRequest, 'url'>): FetchError {
  if (error instanceof FetchError) return error;
  const state = `${brokenState(error)}; it is asked again`;
  const isUnreachable = networkFault(error)?.isUnreached === true;
  const fault = { subject: question.url, state, isTransient: true, isUnreachable };
  return new FetchError(fault, { cause: error });
}

function brokenState(error: unknown): string {
  const fault = networkFault(error);
  if (fault !== null) return fault.words;
  const code = codeOf(error) ?? '';
  if (code.startsWith('Z_')) return `its gzip is damaged or ends too early (${code})`;
  const message = messageOf(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  const detail = [code, message, cause].filter((text) => text !== '').join(': ');
  return `the connection broke before the answer was whole (${detail.slice(0, 200)})`;
}

function fault({ url }: Pick<AgencyRequest, 'url'>, state: string): FetchError {
  return new FetchError({ subject: url, state });
}

/** The same error with no key in it, in case a library quotes an address. */
function withoutKey(error: unknown, { key }: AgencyRequest): unknown {
  if (key === null || !(error instanceof FetchError)) return error;
  const spellings = [key, encodeURIComponent(key)];
  if (!spellings.some((text) => error.message.includes(text))) return error;
  const state = spellings.reduce((text, one) => text.replaceAll(one, '***'), error.fault.state);
  const subject = spellings.reduce((text, one) => text.replaceAll(one, '***'), error.fault.subject);
  return new FetchError({ ...error.fault, state, subject });
}

async function dump(response: Response): Promise<void> {
  try {
    await response.body.dump({ limit: DUMP_BYTES });
  } catch {
    // An answer that is thrown away may break.
  }
}

function headerOf({ headers }: Response, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Addresses that one source may ask at a time, pages included. */
const ADDRESSES_MAX = 2000;
const ATTEMPTS_MAX = 3;
const BACKOFF_MS = 1_000;
/** A longer wait that an agency asks for is left to the next time. */
const WAIT_MS_MAX = 60_000;
/** So many addresses failing in a row are a fault of the agency, not of the addresses. */
const FAILURES_IN_A_ROW_MAX = 3;

const ENDED = 'this process was told to end; it is asked next time';

export interface FetchBy {
  readonly client: AgencyClient;
  readonly archive: Archive;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly contact: string | null;
  readonly keyOf: (variable: string) => string | undefined;
  /** Aborted to end early; the request that is under way ends by itself. */
  readonly signal?: AbortSignal;
}

export interface SourceRun {
  readonly source: Source;
  readonly row: SourceRow;
  readonly looks: Map<string, Look>;
  readonly by: FetchBy;
}

export interface AgencyAnswer {
  readonly url: string;
  readonly address: Address;
  readonly answer: AgencyReply;
  readonly at: string;
}

export interface Asked {
  readonly answered: readonly AgencyAnswer[];
  readonly failures: readonly FetchError[];
  /** What was wrong with addresses in whose place the next one answered. */
  readonly passedOver: readonly FetchError[];
  /** Addresses that were not asked, because of those failures or because this process is to end. */
  readonly unasked: number;
  /** It was cut short because this process is to end. */
  readonly isCut: boolean;
  /** Where some were not asked: the address of the question with which the next step begins. */
  readonly resumeAt: string | null;
}

/**
 * Asks one question after the other, and the pages behind each. An address that fails is left behind for the next one of its
 * question. A host that cannot be reached is asked nothing more, nor is an agency that turns us away or fails at several
 * questions in a row.
 */
export async function askAll(
  questions: readonly (readonly [Address, ...Address[]])[],
  run: SourceRun,
): Promise<Asked> {
  const answered: AgencyAnswer[] = [];
  const failures: FetchError[] = [];
  const passedOver: FetchError[] = [];
  const queue = [...questions];
  const seen = new Set(queue.flat().map(({ url }) => url));
  const closed = new Set<string>();
  let unreached = 0;
  let inARow = 0;
  let resume = 0;
  for (let urls = queue.shift(); urls !== undefined; urls = queue.shift()) {
    const { found, faults } = await firstAnswer(urls, closed, run);
    const next = found === null ? joined(faults) : await tried(() => newPages(found, seen, run));
    if (found !== null) {
      answered.push(found);
      passedOver.push(...faults);
    }
    if (next instanceof FetchError) failures.push(next);
    else if (next === undefined) unreached += 1;
    else queue.unshift(...next.map((one) => [one] as const));
    resume = resumeAfter(next, questions.indexOf(urls), answered.length) ?? resume;
    inARow = next instanceof FetchError ? inARow + weightOf(next) : 0;
    if (inARow >= FAILURES_IN_A_ROW_MAX || hasEnded(run.by)) break;
  }
  const isCut = hasEnded(run.by) && queue.length + failures.length > 0;
  const unasked = queue.length + unreached;
  const resumeAt = unasked === 0 ? null : (questions[resume % questions.length]?.[0].url ?? null);
  return { answered, failures, passedOver, unasked, isCut, resumeAt };
}

/**
 * The question behind one that was asked, with which the next step begins if this one ends here. One that was turned away
 * after others were answered has its turn first; one that fails by itself holds up nobody twice. Null for what was not asked,
 * and for a page of a question.
 */
function resumeAfter(
  next: FetchError | readonly Address[] | undefined,
  own: number,
  answered: number,
): number | null {
  if (next === undefined || own < 0) return null;
  const isTurnedAway = next instanceof FetchError && next.fault.isRefusal === true;
  return isTurnedAway && answered > 0 ? own : own + 1;
}

/**
 * The first of some addresses whose answer can be read, and the faults of those before it; a host that turns us away is asked
 * no more. What the last one answers is kept in any case, for its importer to judge.
 */
async function firstAnswer(addresses: readonly Address[], closed: Set<string>, run: SourceRun) {
  const faults: FetchError[] = [];
  for (const [at, address] of addresses.entries()) {
    const { host } = new URL(address.url);
    if (closed.has(host)) continue;
    const found = await tried(async () => {
      const answer = await askPolitely(address, run);
      if (at < addresses.length - 1) refuseUnreadable(answer, run);
      return answer;
    });
    if (!(found instanceof FetchError)) return { found, faults };
    faults.push(new FetchError({ ...found.fault, about: address.about }, { cause: found }));
    const { isUnreachable, isRefusal } = found.fault;
    if (isUnreachable === true || isRefusal === true) closed.add(host);
    if (hasEnded(run.by)) break;
  }
  return { found: null, faults };
}

/** Throws a FetchError for an answer that its importer refuses, of which nothing is kept. */
function refuseUnreadable({ url, answer, at }: AgencyAnswer, { source, by }: SourceRun): void {
  if (answer.kind === 'unchanged') return;
  const { incoming } = answer;
  const note = { url: withoutKeys(url), fetched_at: at, http_status: 200, bytes: incoming.bytes };
  try {
    readPayload(source, { bytes: by.archive.peek(incoming), note, subject: url });
  } catch (cause) {
    if (!(cause instanceof ImportError)) throw cause;
    by.archive.drop(incoming);
    throw new FetchError({ subject: url, state: cause.message }, { cause });
  }
}

/** The fault of the first of some addresses, with what was wrong with those in its place. */
function joined([first, ...others]: readonly FetchError[]): FetchError | undefined {
  if (first === undefined || others.length === 0) return first;
  const state = [first.fault.state, ...others.map(({ message }) => message)].join('; ');
  return new FetchError({ ...first.fault, state }, { cause: first });
}

function hasEnded({ signal }: FetchBy): boolean {
  return signal?.aborted === true;
}

/** Being turned away counts for all the failures that may follow it; an address that is not there says nothing of others. */
function weightOf({ fault }: FetchError): number {
  if (fault.isAbsent === true) return 0;
  return fault.isRefusal === true ? FAILURES_IN_A_ROW_MAX : 1;
}

async function tried<T>(ask: () => T | Promise<T>): Promise<T | FetchError> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof FetchError) return error;
    throw error;
  }
}

function newPages(found: AgencyAnswer, seen: Set<string>, run: SourceRun): Address[] {
  const next = nextPage(found, run);
  if (next === null || seen.has(next)) return [];
  if (seen.size >= ADDRESSES_MAX) {
    const state = `more than ${ADDRESSES_MAX} addresses; ask for less`;
    throw new FetchError({ subject: next, about: found.address.about, state });
  }
  seen.add(next);
  return [{ ...found.address, url: next }];
}

async function askPolitely(address: Address, run: SourceRun): Promise<AgencyAnswer> {
  const { by } = run;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await askInTurn(address, run);
    } catch (error) {
      const waitMs = error instanceof FetchError ? waitBefore(attempt, error, by.clock) : null;
      if (waitMs === null || hasEnded(by)) throw error;
      await by.clock.sleep(waitMs, by.signal);
    }
  }
}

async function askInTurn(address: Address, run: SourceRun): Promise<AgencyAnswer> {
  const { row, by, source } = run;
  const { url } = address;
  const { per_minute } = row.pace;
  const { host } = new URL(url);
  await by.pace.turn(host, per_minute, by.signal);
  if (hasEnded(by)) throw new FetchError({ subject: url, state: ENDED });
  try {
    const receive = by.archive.receive.bind(by.archive, source.id);
    const look = run.looks.get(withoutKeys(url));
    // A whole is compared as a whole, and what could not be read is asked for again.
    const isConditional = look !== undefined && look.refused !== true && row.is_whole !== true;
    const known = isConditional ? look : null;
    const key = row.key === undefined ? null : by.keyOf(row.key.variable) || null;
    const turn = (next: string): Promise<void> => by.pace.turn(next, per_minute, by.signal);
    const answer = await by.client.ask({ url, row, key, known, turn }, receive);
    return { url, address, answer, at: isoTime(Math.floor(by.clock.now() / 1000) * 1000) };
  } catch (error) {
    if (error instanceof FetchError && error.fault.isUnreachable === true) {
      by.pace.giveBack(host, per_minute);
    }
    throw error;
  }
}

/** How long to wait before the next attempt; null where there is none. */
function waitBefore(attempt: number, { fault }: FetchError, { random }: Clock): number | null {
  if (fault.isTransient !== true || attempt >= ATTEMPTS_MAX) return null;
  const backoff = BACKOFF_MS * 2 ** (attempt - 1) * (1 + random());
  const wait = Math.max(backoff, fault.waitMs ?? 0);
  return wait > WAIT_MS_MAX ? null : wait;
}

/** What an address says: what came, or what it said before where that still holds. */
function answeredBytes(
  { url, answer }: Pick<AgencyAnswer, 'url' | 'answer'>,
  { source, looks, by }: Pick<SourceRun, 'source' | 'looks' | 'by'>,
): Uint8Array {
  if (answer.kind === 'payload') return by.archive.peek(answer.incoming);
  const look = looks.get(withoutKeys(url));
  if (look === undefined) throw new TypeError(`Cannot read "${url}" again: nothing is known of it`);
  return by.archive.payload({ ...look, source: source.id });
}

function nextPage({ url, address, answer, at }: AgencyAnswer, { source, looks, by }: SourceRun) {
  if (source.nextCursor === undefined || address.cursor === undefined) return null;
  const note: FetchNote = { url, fetched_at: at, http_status: 200 };
  try {
    const bytes = answeredBytes({ url, answer }, { source, looks, by });
    const cursor = source.nextCursor({ bytes, note, subject: url });
    return cursor === null ? null : pageAddress(address, cursor);
  } catch (cause) {
    if (!(cause instanceof ImportError)) throw cause;
    throw new FetchError({ subject: url, about: address.about, state: cause.message }, { cause });
  }
}
