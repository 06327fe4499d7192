// How the texts of single settings are read: headers, the place of the data, values by network, addresses of metrics.

import { isIP } from 'node:net';
import type { Network } from '../money/networks.ts';

/** `Name: value`, which cannot become two headers; no value is what an empty variable leaves. */
export const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:\s*[\x21-\x7e][\x20-\x7e]*\s*$/;

/** The header of a setting that was checked to be one. */
export function headerOf(text: string): Readonly<Record<string, string>> {
  const colon = text.indexOf(':');
  return { [text.slice(0, colon)]: text.slice(colon + 1).trim() };
}

/** Whether a data folder is served by a host: a folder of this machine has no scheme. */
export function isRemote(data: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(data);
}

/** The URL of a data folder; throws a RangeError that repeats nothing secret. */
export function dataUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new RangeError('not an http(s) URL');
  }
  const extra = url.username + url.password + url.search + url.hash;
  if (extra === '') return url;
  throw new RangeError(
    'has a user, password, query or fragment; put a key into SIGNALPRESS_DATA_AUTH',
  );
}

/** A name in front of a URL or a number; what follows `?` in a URL is never in front of one. */
const NAMED = /(?:^|,)\s*([a-z][a-z0-9-]*)=(?=https?:|[0-9])/g;

/**
 * The values of a setting that is `value` for one network and `base=value,polygon=value` for several; a network of null is
 * the only one.
 */
export function networkValues(text: string): { network: string | null; value: string }[] {
  const marks = [...text.matchAll(NAMED)];
  if (marks[0]?.index !== 0) return [{ network: null, value: text.trim() }];
  return marks.map((mark, at) => ({
    network: mark[1] ?? null,
    value: text.slice(mark.index + mark[0].length, marks[at + 1]?.index).trim(),
  }));
}

/** What such a setting says for a network; null where it says nothing. */
export function valueFor({ name }: Network, text: string | null): string | null {
  const values = text === null ? [] : networkValues(text);
  return values.find(({ network }) => network === null || network === name)?.value ?? null;
}

/** Why such a setting does not fit the networks; null where it does. */
export function misfit(networks: readonly Network[], text: string): string | null {
  const names = networks.map(({ name }) => name);
  const values = networkValues(text);
  const isPlain = values.some(({ network }) => network === null);
  if (isPlain) return names.length === 1 ? null : 'does not say for which network';
  const missing = names.find((name) => values.every(({ network }) => network !== name));
  if (missing !== undefined) return `says nothing for "${missing}"`;
  const extra = values.find(({ network }) => names.every((name) => name !== network));
  if (extra !== undefined) return `names "${extra.network}", which SIGNALPRESS_NETWORK does not`;
  return values.length === names.length ? null : 'names a network twice';
}

/** How it is written for these networks. */
export function spelling(networks: readonly Network[], value: string): string {
  return networks.map(({ name }) => `${name}=${value}`).join(',');
}

/** What can stand in a header and is long enough not to be guessed. */
export const METRICS_TOKEN = /^[A-Za-z0-9._~+/=-]{32,256}$/;

/** Where metrics are read. */
export interface MetricsSettings {
  /** An address of their own; null for /metrics at the address of the service. */
  readonly address: MetricsAddress | null;
  /** What a reader has to know; null on loopback alone. */
  readonly token: string | null;
}

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** Null where nobody asked for metrics. Either text must be valid. */
export function metricsSettings(
  address: string | null,
  token: string | null,
): MetricsSettings | null {
  if (address === null && token === null) return null;
  return { address: address === null ? null : metricsAddress(address), token };
}

/** Reads `127.0.0.1:9464`, `localhost:9464` or `[::1]:9464`; throws a RangeError for anything else. */
export function metricsAddress(text: string): MetricsAddress {
  const [, inBrackets, plain = '', digits = ''] =
    /^(?:\[([^\]]+)\]|([^:[\]]+)):([0-9]{1,5})$/.exec(text) ?? [];
  const host = inBrackets ?? plain;
  const isName = /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(host);
  const isHost = inBrackets === undefined ? isName : isIP(host) === 6;
  const port = Number(digits);
  if (!isHost || digits === '' || port > 65_535) {
    throw new RangeError(`Cannot read "${text}": not an address with a port`);
  }
  return { host, port };
}

/** Each of several processes has metrics of its own: the first at the port that is set, the next one port above it. */
export function metricsOfWorker(settings: MetricsSettings, place: number): MetricsSettings {
  const { address, token } = settings;
  if (address === null || address.port === 0) return settings;
  return { address: { ...address, port: address.port + place }, token };
}

/** As metricsAddress() reads it. */
export function addressText({ host, port }: MetricsAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
