import type { Mood } from '../../sources/fetch/agency.ts';
import type { WorldAgency } from './agencies.ts';

/** What may go wrong at an agency, and how it is played. */
export interface Fault {
  readonly mood?: Mood;
  /** `Retry-After` of a busy agency, at an instant; none where it is absent. */
  readonly retryAfter?: (now: number) => string;
  /** Of the paths that it concerns. */
  readonly part?: string;
  /** The place at which the agency is looked for. */
  readonly at?: 'other-certificate' | 'no-such-name';
  /** It speaks as it will so much later. */
  readonly aheadMs?: number;
  readonly odd?: 'type' | 'word';
  /** So many requests of a step are answered. */
  readonly quota?: number;
  /** So many of its entities are dead. */
  readonly dead?: number;
  /** Nothing is wrong with what is read, or nobody can notice it. */
  readonly isHarmless?: true;
  /** The program itself is killed. */
  readonly isKill?: true;
  readonly fits?: (agency: WorldAgency, id: string) => boolean;
}

const WAIT_MS = 600_000;
const HOURS_AHEAD_MS = 3 * 3_600_000;
const isPaged = (_: WorldAgency, id: string): boolean => id === 'mcp-registry';
const hasTimes = (_: WorldAgency, id: string): boolean => id !== 'mcp-registry';
const hasMany = ({ entities, partOf }: WorldAgency): boolean =>
  partOf !== undefined && entities.length > 3;
const busy = (retryAfter?: Fault['retryAfter']): Fault => ({
  mood: 'busy',
  ...(retryAfter === undefined ? {} : { retryAfter }),
});
const seconds = (): string => String(WAIT_MS / 1000);

/** Every kind of fault by its name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  'HTTP 500': { mood: 'down' },
  '500 at three entities': { mood: 'down', dead: 3, fits: hasMany },
  '429, no Retry-After': busy(),
  '429, seconds': busy(seconds),
  '429, a date': busy((now) => new Date(now + WAIT_MS).toUTCString()),
  '429 after two answers': { ...busy(seconds), quota: 2, fits: hasMany },
  'no first byte': { mood: 'silent' },
  'a byte at a time': { mood: 'trickle' },
  'a body cut short': { mood: 'cut' },
  'a cut chunk': { mood: 'cut-chunk' },
  'bad gzip': { mood: 'bad-gzip' },
  'HTML with 200': { mood: 'page' },
  'redirect elsewhere': { mood: 'redirect' },
  'redirect in a circle': { mood: 'loop' },
  'wrong certificate': { at: 'other-certificate' },
  'a clock ahead': { mood: 'skewed', aheadMs: HOURS_AHEAD_MS, fits: hasTimes },
  'a byte order mark': { mood: 'marked', isHarmless: true },
  'page 2 of 3 missing': { mood: 'gone', part: 'cursor=com.example%2Fbee', fits: isPaged },
  '304 unasked': { mood: 'unasked-304', fits: isPaged },
  '304 untrue': { mood: 'stale-304', isHarmless: true, fits: hasTimes },
  'an empty 200': { mood: 'empty' },
  'another type': { odd: 'type', fits: ({ odd }) => odd?.type !== undefined },
  'an unknown word': { odd: 'word', fits: ({ odd }) => odd?.word !== undefined },
  'connection reset': { mood: 'reset' },
  'no such name': { at: 'no-such-name' },
  'kill -9 of run': { isKill: true, isHarmless: true },
};

/** A certificate of our own for another name, signed by itself. It protects nothing. */
export const OTHER_CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgy640WgV2JyhX/jWS
qbs+Mqu1hTf/Qr6i9bcysoRsC3WhRANCAAQSl8cnU36vGekCYvzaQzzIC1D03VmB
BYBcoJ2y5LR/edR0IwwJuqFheIdHFIwkZObmDGOhljpybCRFY70Cq0vg
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBrDCCAVOgAwIBAgIUSEfoJKrZioYwJUBn2RkIU0UjkqUwCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRb3RoZXIuZXhhbXBsZS5vcmcwIBcNMjYxMTI5MjIxOTU0WhgP
MjEyNjExMDUyMjE5NTRaMBwxGjAYBgNVBAMMEW90aGVyLmV4YW1wbGUub3JnMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEpfHJ1N+rxnpAmL82kM8yAtQ9N1ZgQWA
XKCdsuS0f3nUdCMMCbqhYXiHRxSMJGTm5gxjoZY6cmwkRWO9AqtL4KNxMG8wHQYD
VR0OBBYEFDINltkMtqsoJJHJx2Die8NGgCkuMB8GA1UdIwQYMBaAFDINltkMtqso
JJHJx2Die8NGgCkuMA8GA1UdEwEB/wQFMAMBAf8wHAYDVR0RBBUwE4IRb3RoZXIu
ZXhhbXBsZS5vcmcwCgYIKoZIzj0EAwIDRwAwRAIgONKxPvYIu6ylM9cFSzGBtBFF
VJ4K7WqIzFd3u88weSwCID21Mg1AyE666qkWKdF0o4ZGMmhzvp1LqPhiWBiD33mv
-----END CERTIFICATE-----`,
};
