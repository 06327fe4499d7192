import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { mcpServer } from '../client/mcp-server.ts';
import { shopTools } from '../client/shop-tools.ts';
import { MAX_USD, signalpressClient } from '../client/signalpress-client.ts';
import { type CommandSettings, repeated } from '../system/command-settings.ts';
import { TRUST } from '../verify/trust-option.ts';
import { accountOf, accountOfKey, networksNamed, trustedIn } from './buy-command.ts';

interface McpFlags {
  url: string;
  issuer?: string;
  trust?: string;
  maxUsd: string;
  maxTotalUsd: string;
  wallet?: string;
  network?: readonly string[];
}

const MAX_TOTAL_USD = '1';

/** `signalpress mcp`: tools with a wallet for an agent on this machine, over standard input and output. */
export function defineMcp(command: Command, settings: CommandSettings): void {
  command
    .requiredOption('--url <address>', 'public address of the shop')
    .option('--issuer <did>', 'the issuer you trust, did:key:z6Mk…')
    .option(...TRUST)
    .option('--max-usd <price>', 'the most that one call may cost', MAX_USD)
    .option('--max-total-usd <sum>', 'the most that is signed until it ends', MAX_TOTAL_USD)
    .option('--wallet <file>', 'key of the account that pays (default: the variable WALLET_KEY)')
    .option('--network <name>', 'pay there alone; name several to allow each', repeated)
    .action(async (flags: McpFlags) => serve(flags, settings));
}

/** Answers each line of standard input, in any order, until it ends. */
async function serve(
  flags: McpFlags,
  { env, now, version, print }: CommandSettings,
): Promise<void> {
  const { url: baseUrl, maxUsd, maxTotalUsd, network } = flags;
  const key = env('WALLET_KEY');
  const account =
    flags.wallet === undefined && key !== undefined
      ? accountOfKey(key, 'WALLET_KEY')
      : accountOf(flags.wallet);
  const payer = { account, maxUsd, maxTotalUsd, networks: networksNamed(network) };
  const shop = { baseUrl, ...trustedIn(flags), catalog: 'served' } as const;
  const client = signalpressClient({ ...shop, ...payer, clock: now });
  const answer = mcpServer(shopTools(client, { maxUsd }), version);
  const open = new Set<Promise<void>>();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const answered = answer(line).then((text) => {
      if (text !== null) print(text);
      open.delete(answered);
    });
    open.add(answered);
  }
  await Promise.all(open);
}
