/** One header of a reply as name (lower case) and value. */
export type Header = readonly [string, string];

/** An answer as a value, before anything touches a socket. */
export type Reply = {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Buffer | string;
  /** Who paid, for the log. */
  readonly payer?: string | undefined;
  /** What was asked for and is not there, for the log: a stranger's text, at most `WANTED_CHARS_MAX` long. */
  readonly wanted?: string | undefined;
};

export const WANTED_CHARS_MAX = 100;

/** What every refusal carries: no cache may keep it. */
export const NO_STORE: Header = ['cache-control', 'no-store'];

/** What every paid 200 carries: it belongs to the one who paid. */
export const PRIVATE_NO_STORE: Header = ['cache-control', 'private, no-store'];

export const JSON_MEDIA_TYPE = 'application/json';
export const JSON_TYPE: Header = ['content-type', JSON_MEDIA_TYPE];

/** A JSON reply; a status of 400 or more also carries `cache-control: no-store`. */
export function jsonReply(status: number, body: unknown, headers: readonly Header[] = []): Reply {
  const own = status >= 400 ? [JSON_TYPE, NO_STORE] : [JSON_TYPE];
  const bytes = Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return { status, headers: [...own, ...headers], body: bytes };
}
