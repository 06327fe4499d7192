import type { Fetch } from '../../../compiler/verify/monitor/log-client.ts';

/** A request as it came by. */
interface Asked {
  /** Path of the URL. */
  readonly path: string;
  /** With its question mark, '' for none. */
  readonly query: string;
  readonly range: string | null;
  /** Ends the wait for the answer. */
  readonly signal: AbortSignal | null | undefined;
}

type Meddle = (
  asked: Asked,
  answer: () => Promise<Response>,
) => Promise<Response | undefined> | Response | undefined;

/** A network that notes what is asked, and gives what `meddle` makes of it. */
export function meddling(meddle: Meddle = () => undefined) {
  const asked: Asked[] = [];
  const through: Fetch = async (url, init) => {
    const { pathname: path, search: query } = new URL(url);
    const range = new Headers(init.headers).get('range');
    const own = { path, query, range, signal: init.signal };
    asked.push(own);
    const answer = () => fetch(url, init);
    return (await meddle(own, answer)) ?? answer();
  };
  return { fetch: through, asked };
}

/** An answer with other bytes in its place. */
export async function withBytes(
  answer: Response,
  change: (bytes: Uint8Array) => Uint8Array,
): Promise<Response> {
  const { status, headers } = answer;
  const bytes = change(new Uint8Array(await answer.arrayBuffer()));
  return new Response(new Uint8Array(bytes), { status, headers });
}

/** An answer that breaks off behind so many bytes. */
export async function brokenAfter(answer: Response, length: number): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer()).subarray(0, length);
  let isGiven = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (isGiven) controller.error(new TypeError('terminated'));
      else controller.enqueue(bytes);
      isGiven = true;
    },
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
}

/** Answers without end, which count what is read of them. */
export function endless() {
  let given = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    given += 65_536;
    controller.enqueue(new Uint8Array(65_536));
  };
  return { answer: () => new Response(new ReadableStream({ pull })), given: () => given };
}

/** An answer whose body never comes, for as long as it is waited for. */
export function silent({ signal }: Pick<Asked, 'signal'>): Response {
  const start = (controller: ReadableStreamDefaultController): void => {
    signal?.addEventListener('abort', () => controller.error(signal.reason));
  };
  return new Response(new ReadableStream({ start }));
}
