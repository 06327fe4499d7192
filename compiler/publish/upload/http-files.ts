import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import { networkFault } from '../../format/network-fault.ts';
import { errorText } from '../../system/error-text.ts';
import { LongerError, UploadError } from './destination.ts';

const CONNECT_MS = 10_000;
/** Beside the time that so many bytes may take. */
const ANSWER_MS = 30_000;
const BYTES_A_MS = 50;
const ATTEMPTS_MAX = 5;
const PAUSE_MS = 200;
const DUMP_BYTES = 65_536;
/** Statuses after which asking again soon may help. */
const TRANSIENT = [408, 425, 429, 500, 502, 503, 504];
/** A store that lists nothing to strangers calls what is missing forbidden. */
const ABSENT = [403, 404, 410];

export interface HttpFiles {
  /** Null where there is none; throws an UploadError, beyond `max` bytes a LongerError. */
  get(path: string, max: number): Promise<Buffer | null>;
  put(path: string, bytes: Buffer): Promise<void>;
  remove(path: string): Promise<void>;
  close(): Promise<void>;
}

interface HostCall {
  method: 'GET' | 'PUT' | 'DELETE';
  path: string;
  body?: Buffer;
  max?: number;
}

interface HostAnswer {
  status: number;
  /** Null where there were more than may be, or where nobody wants them. */
  bytes: Buffer | null;
}

/** No redirect is followed, and nothing is decoded. Errors hold no header; `auth` is one of every request, `Name: value`. */
export function httpFiles({
  url,
  auth,
  connections,
}: {
  url: URL;
  auth: string | null;
  connections: number;
}): HttpFiles {
  const dispatcher = new Agent({ connections, connect: { timeout: CONNECT_MS } });
  const base = url.href.replace(/\/+$/, '');
  const colon = auth?.indexOf(':') ?? -1;
  const own = auth === null ? {} : { [auth.slice(0, colon)]: auth.slice(colon + 1).trim() };
  const call = async ({ method, path, body, max = DUMP_BYTES }: HostCall): Promise<HostAnswer> => {
    const type = body === undefined ? {} : { 'content-type': 'application/octet-stream' };
    const response = await request(`${base}/${path}`, {
      method,
      dispatcher,
      headers: { 'accept-encoding': 'identity', 'cache-control': 'no-cache', ...type, ...own },
      signal: AbortSignal.timeout(ANSWER_MS + Math.ceil((body?.length ?? max) / BYTES_A_MS)),
      ...(body === undefined ? {} : { body }),
    });
    return answerOf(response, method === 'GET' ? max : null);
  };
  // Every call may be repeated: it writes the same bytes to the same place.
  const patient = async (one: HostCall): Promise<HostAnswer> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await call(one);
        if (!TRANSIENT.includes(answer.status) || attempt === ATTEMPTS_MAX) return answer;
      } catch (cause) {
        if (attempt === ATTEMPTS_MAX) {
          throw new UploadError(
            `Cannot reach "${base}/${one.path}": ${networkFault(cause)?.words ?? errorText(cause)}; check the address and run this again`,
            { cause },
          );
        }
      }
      await sleep(PAUSE_MS * 2 ** (attempt - 1));
    }
  };
  return {
    async get(path, max) {
      const { status, bytes } = await patient({ method: 'GET', path, max });
      if (status === 200 && bytes !== null) return bytes;
      if (ABSENT.includes(status)) return null;
      const Fault = status === 200 ? LongerError : UploadError;
      throw new Fault(`Cannot read "${base}/${path}": ${readFailure(status, max)}`);
    },
    async put(path, body) {
      const { status } = await patient({ method: 'PUT', path, body });
      if ([200, 201, 202, 204].includes(status)) return;
      throw new UploadError(`Cannot write "${base}/${path}": ${writeFailure(status)}`);
    },
    async remove(path) {
      const { status } = await patient({ method: 'DELETE', path });
      if ([200, 202, 204, 404, 410].includes(status)) return;
      throw new UploadError(`Cannot remove "${base}/${path}": ${writeFailure(status)}`);
    },
    close: () => dispatcher.destroy(),
  };
}

async function answerOf(
  { statusCode: status, body }: Dispatcher.ResponseData,
  max: number | null,
): Promise<HostAnswer> {
  if (max === null || status !== 200) {
    await body.dump({ limit: DUMP_BYTES });
    return { status, bytes: null };
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > max) {
      body.destroy();
      return { status, bytes: null };
    }
    chunks.push(chunk);
  }
  return { status, bytes: Buffer.concat(chunks, size) };
}

function readFailure(status: number, max: number): string {
  if (status === 200) return `longer than ${max} bytes, so it is not what was published`;
  if (status === 401) return 'status 401; set SIGNALPRESS_DATA_AUTH to a header that may read';
  return `status ${status}; check the address`;
}

function writeFailure(status: number): string {
  const remedies: Readonly<Record<number, string>> = {
    401: 'set SIGNALPRESS_PUBLISH_AUTH to a header that may write',
    403: 'set SIGNALPRESS_PUBLISH_AUTH to a header that may write',
    405: 'the host takes no such request; for nginx set "dav_methods PUT DELETE"',
    409: 'the host makes no folders; for nginx set "create_full_put_path on"',
    413: 'the host takes no file of that size; for nginx raise "client_max_body_size"',
    501: 'the host takes no such request; use --command with a program that it knows',
  };
  return `status ${status}; ${remedies[status] ?? 'check the address, and run this again'}`;
}
