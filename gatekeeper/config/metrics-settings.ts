import { isIP } from 'node:net';

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
  const isHost = inBrackets === undefined ? NAME.test(host) : isIP(host) === 6;
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

const NAME = /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/;
