import { createHmac, timingSafeEqual } from 'node:crypto';

export const MINT_PATH = '/gauge/subscribe';
/** The only plan that is sold. */
const TOKEN_PLAN = 'watchlist';
const TOKEN_SECRET_CHARS_MIN = 32;
/** Secrets that are accepted at a time: the one that signs and the one before. */
const TOKEN_SECRETS_MAX = 2;
export const TOKEN_DAYS_DEFAULT = 30;
export const TOKEN_DAYS_MAX = 366;

const DAY_S = 86_400;
const ID_BYTES = 16;
/** What the MAC is for, so that the same secret signs nothing else by accident. */
const PURPOSE = 'signalpress-token';
/** Version, plan, expiry in unix seconds, a number of its own, MAC; the version fixes the algorithm. */
const TOKEN = new RegExp(
  `^(sp1\\.${TOKEN_PLAN}\\.([1-9][0-9]{9})\\.[A-Za-z0-9_-]{22})\\.([A-Za-z0-9_-]{43})$`,
);

/** Mints and checks subscription tokens; it stores nothing. */
export interface TokenService {
  mint(): { token: string; plan: typeof TOKEN_PLAN; expires_at: string; days: number };
  check(token: string): 'valid' | 'invalid' | 'expired';
}

/** The secrets of a setting, `new` or `new,old`; a RangeError for one that is too short or for too many. */
export function tokenSecrets(setting: string): readonly [string, ...string[]] {
  const [first = '', ...rest] = setting.split(',').map((secret) => secret.trim());
  const all = [first, ...rest];
  if (all.length > TOKEN_SECRETS_MAX) {
    throw new RangeError(
      `more than ${TOKEN_SECRETS_MAX} secrets; keep the new one and the old one`,
    );
  }
  if (all.some((secret) => secret.length < TOKEN_SECRET_CHARS_MIN)) {
    throw new RangeError(`shorter than ${TOKEN_SECRET_CHARS_MIN} characters`);
  }
  return [first, ...rest];
}

/** HMAC-SHA256 over the text in front of the last dot; nothing in a token chooses how it is checked. */
export function tokenService(by: {
  secrets: readonly [string, ...string[]];
  days: number;
  clock: () => number;
  random: (bytes: number) => Uint8Array;
}): TokenService {
  const { secrets, days, clock, random } = by;
  return {
    mint() {
      const expires = Math.floor(clock() / 1000) + days * DAY_S;
      const id = Buffer.from(random(ID_BYTES)).toString('base64url');
      const text = `sp1.${TOKEN_PLAN}.${expires}.${id}`;
      const expires_at = new Date(expires * 1000).toISOString().replace('.000Z', 'Z');
      return { token: `${text}.${macOf(text, secrets[0])}`, plan: TOKEN_PLAN, expires_at, days };
    },
    check(token) {
      const [, text = '', expires = '', mac = ''] = TOKEN.exec(token) ?? [];
      if (text === '') return 'invalid';
      // Of the texts, so that a second spelling of the same bytes is another MAC.
      const sent = Buffer.from(mac, 'latin1');
      const ours = secrets.map((secret) =>
        timingSafeEqual(sent, Buffer.from(macOf(text, secret), 'latin1')),
      );
      if (!ours.includes(true)) return 'invalid';
      return clock() < Number(expires) * 1000 ? 'valid' : 'expired';
    },
  };
}

function macOf(text: string, secret: string): string {
  return createHmac('sha256', secret).update(`${PURPOSE}\n${text}`).digest('base64url');
}
