import type { Network } from '../money/networks.ts';

/** A name in front of a URL or a number; what follows `?` in a URL is never in front of one. */
const NAMED = /(?:^|,)\s*([a-z][a-z0-9-]*)=(?=https?:|[0-9])/g;

/** One value of a setting, and the network that it is for; null for the only one. */
interface NetworkValue {
  readonly network: string | null;
  readonly value: string;
}

/** The values of a setting that is `value` for one network and `base=value,polygon=value` for several. */
export function networkValues(text: string): readonly NetworkValue[] {
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
