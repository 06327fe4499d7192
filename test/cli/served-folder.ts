import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { defineTrust } from '../../compiler/cli/trust-command.ts';
import { defineVerify } from '../../compiler/cli/verify-cli.ts';
import type { CommandSettings } from '../../compiler/system/command-settings.ts';
import type { Fetch } from '../../compiler/verify/monitor/log-client.ts';
import { fileOf } from '../snapshot-folder.ts';
import { VirtualClock } from '../sources/fetch/test-row.ts';

export const ADDRESS = 'https://readings.example';

/** Answers what a shop publishes of itself, from its data folder. */
export function servedFrom(data: string): Fetch {
  const root = join(data, 'current');
  const bytesAt = (path: string): Buffer | null => {
    const place = path.startsWith('/log/')
      ? join(data, path)
      : path === '/.well-known/release.json'
        ? join(root, 'release.json')
        : path === '/.well-known/keys.json'
          ? fileOf(root, 'well-known/keys.json')
          : '';
    return existsSync(place) ? readFileSync(place) : null;
  };
  return async (url) => {
    const bytes = url.startsWith(`${ADDRESS}/`) ? bytesAt(url.slice(ADDRESS.length)) : null;
    return new Response(bytes === null ? 'nothing here' : new Uint8Array(bytes), {
      status: bytes === null ? 404 : 200,
    });
  };
}

interface Ran {
  readonly code: number;
  readonly text: string;
}

interface RunBy {
  readonly now: string;
  readonly fetch?: Fetch;
  /** What whoever sits at the terminal answers; nobody sits there without it. */
  readonly answer?: boolean;
}

/** Runs `verify` or `trust` with these words. */
export async function ran(
  name: 'verify' | 'trust',
  words: readonly string[],
  { now, fetch = () => Promise.reject(new Error('no network')), answer }: RunBy,
): Promise<Ran> {
  const clock = new VirtualClock(now);
  let [code, text] = [0, ''];
  const say = (more: string): void => {
    text += more;
  };
  const settings: CommandSettings = {
    version: '0',
    env: () => undefined,
    now: () => clock.now(),
    print: (line) => say(`${line}\n`),
    screen: { isTTY: false, write: () => true },
    exit: (given) => {
      code = given;
    },
    onStop: () => () => undefined,
  };
  const command = new Command(name);
  const end = (given: number): never => {
    throw new Error(`ended with ${given}`);
  };
  if (name === 'verify')
    defineVerify(command, { ...settings, write: say, complain: say, fetch, end });
  else {
    const confirm = answer === undefined ? null : async (): Promise<boolean> => answer;
    defineTrust(command, { ...settings, clock, fetch, confirm });
  }
  await command.parseAsync([...words], { from: 'user' });
  return { code, text };
}
