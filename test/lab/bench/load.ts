import { connect, type Socket } from 'node:net';

/** One read buffer per connection; a body that is larger arrives in several reads. */
const READ_BYTES = 65_536;
const HEAD_END = Buffer.from('\r\n\r\n');
const CARRIAGE_RETURN = 13;
/** How much of an unexpected answer an error shows. */
const SHOWN_BYTES = 400;
const STATUS_AT = 'HTTP/1.1 '.length;

interface LoadOptions {
  readonly port: number;
  /** Keep-alive connections, each with one request in flight. */
  readonly connections: number;
  /** Prebuilt request bytes; each is sent once, then the load ends. */
  readonly requests: readonly Buffer[];
  readonly status: number;
  /** Longest time; what was not sent by then is left out. */
  readonly ms: number;
  /** The time over which connections send their first requests; all at once where it is left out. */
  readonly spreadMs?: number;
}

interface LoadResult {
  readonly answers: number;
  readonly ms: number;
  /** How long each answer took, in milliseconds. */
  readonly waits: readonly number[];
}

interface LoadRun {
  readonly options: LoadOptions;
  readonly until: number;
  sent: number;
  readonly waits: number[];
}

/**
 * Loads one server over raw sockets and counts complete answers; rejects at the first answer of
 * another status. Every connection sends its next request when the answer is in.
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const started = performance.now();
  const run: LoadRun = { options, until: started + options.ms, sent: 0, waits: [] };
  const { connections, spreadMs = 0 } = options;
  const afterMs = (at: number): number => (spreadMs * at) / connections;
  await Promise.all(Array.from({ length: connections }, (_, at) => connection(run, afterMs(at))));
  const { waits } = run;
  return { answers: waits.length, ms: performance.now() - started, waits };
}

function nextRequest(run: LoadRun, now: number): Buffer | undefined {
  if (now > run.until) return undefined;
  const request = run.options.requests[run.sent];
  run.sent += 1;
  return request;
}

function connection(run: LoadRun, afterMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const answer = answerReader(run.options.status);
    let sentAt = 0;
    const send = (): void => {
      sentAt = performance.now();
      const request = nextRequest(run, sentAt);
      if (request === undefined) socket.end(resolve);
      else socket.write(request);
    };
    const onRead = (size: number, buffer: Uint8Array): boolean => {
      try {
        if (!answer(buffer as Buffer, size)) return true;
        run.waits.push(performance.now() - sentAt);
        send();
      } catch (error) {
        socket.destroy();
        reject(error);
      }
      return true;
    };
    const socket: Socket = connect({
      port: run.options.port,
      host: '127.0.0.1',
      onread: { buffer: Buffer.allocUnsafe(READ_BYTES), callback: onRead },
    });
    socket.setNoDelay(true).once('error', reject);
    socket.once('connect', () => (afterMs === 0 ? send() : setTimeout(send, afterMs)));
  });
}

/** Says true when the bytes read so far end an answer. A head must arrive in one piece, as it does on loopback. */
function answerReader(status: number): (buffer: Buffer, size: number) => boolean {
  let lengthName: Buffer | null = null;
  let left = 0;
  return (buffer, size) => {
    if (left === 0) {
      const bytes = buffer.subarray(0, size);
      lengthName ??= lengthNameOf(bytes);
      left = answerBytes(bytes, status, lengthName);
    }
    left -= size;
    return left === 0;
  };
}

/** As the server spells it: one search of bytes for each answer instead of a search in text. */
function lengthNameOf(bytes: Buffer): Buffer {
  const found = /\r\ncontent-length: /i.exec(bytes.toString('latin1'));
  if (found === null) throw new Error(`Cannot count: no content-length in ${startOf(bytes)}`);
  return Buffer.from(found[0]);
}

function answerBytes(bytes: Buffer, status: number, lengthName: Buffer): number {
  const got = bytes.toString('latin1', STATUS_AT, STATUS_AT + 3);
  if (Number(got) !== status) {
    throw new Error(`Cannot go on: status ${got} instead of ${status}: ${startOf(bytes)}`);
  }
  const head = bytes.indexOf(HEAD_END);
  const at = bytes.indexOf(lengthName) + lengthName.length;
  const length = Number(bytes.toString('latin1', at, bytes.indexOf(CARRIAGE_RETURN, at)));
  if (head === -1 || at > head || Number.isNaN(length)) {
    throw new Error(`Cannot count: no whole head in ${startOf(bytes)}`);
  }
  return head + HEAD_END.length + length;
}

function startOf(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1', 0, SHOWN_BYTES));
}
