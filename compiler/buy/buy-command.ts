import type { Command } from 'commander';
import { ClientError } from '../client/client-error.ts';
import { MAX_USD, signalpressClient } from '../client/signalpress-client.ts';
import type { CommandSettings } from '../commands/command-settings.ts';
import type { PaidPath } from '../contract/endpoints.ts';
import { accountOf, wallet } from './wallet.ts';

interface BuyFlags {
  readonly issuer: string;
  readonly maxUsd: string;
  readonly wallet?: string;
}

/** Defines `buy`. */
export function defineBuy(command: Command, { now, print }: CommandSettings): void {
  command
    .argument('<url>', 'what to buy: an address of the shop with its parameters')
    .requiredOption('--issuer <did>', 'the issuer you trust, did:key:z6Mk…')
    .option('--max-usd <price>', 'the most that it may cost', MAX_USD)
    .option('--wallet <file>', 'key of the account that pays (default: one that owns nothing)')
    .action(async (url: string, flags: BuyFlags) => print(await bought(url, flags, now)));
}

/** The text of an answer that was paid for and verified; throws an Error where nothing was bought. */
async function bought(url: string, flags: BuyFlags, now: () => number): Promise<string> {
  const { issuer, maxUsd } = flags;
  const { baseUrl, path, params } = partsOf(url);
  const account = accountOf(flags.wallet);
  const pay = wallet(account, now);
  // Who sells by a catalogue that the issuer did not sign is paid nothing.
  const shop = { baseUrl, issuer, catalog: 'served' } as const;
  const client = signalpressClient({ ...shop, pay, maxUsd, clock: now });
  try {
    return (await client.buy(path as PaidPath, params)).text;
  } catch (error) {
    throw inWordsOfTheCommand(error);
  }
}

/** The client names its own option. */
function inWordsOfTheCommand(error: unknown): unknown {
  if (!(error instanceof ClientError) || error.code !== 'too_expensive') return error;
  const [text = error.message] = error.message.split(' (');
  return new Error(text.replaceAll('maxUsd', '--max-usd'), { cause: error });
}

function partsOf(text: string) {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw new RangeError(
      `Cannot buy "${text}": not an address such as http://127.0.0.1:4021/gauge?signal_id=…&entity=…`,
    );
  }
  return {
    baseUrl: url.origin,
    path: url.pathname,
    params: Object.fromEntries(url.searchParams),
  };
}
