import { type Command, Option } from 'commander';
import { messageOf } from '../../../compiler/format/errors.ts';
import { DAY_MS } from '../../../compiler/format/iso-time.ts';
import type { Books } from '../../heart/journal/ledger.ts';
import type { JournalPlace } from '../../heart/journal/open-journal.ts';
import {
  dayStart,
  placeOf,
  STATE_OPTION,
  withBooks,
  writtenJournalFile,
} from '../../heart/journal/with-journal.ts';
import { type Config, paidTokens } from '../../settings/config.ts';
import { secretKey } from '../../wire/plain-file.ts';
import { StartError } from '../../wire/start-error.ts';
import type { AuditedNode, Finding } from './audit.ts';
import type { Payback, Refund } from './refunds.ts';

const AUDIT_DAYS = 7;
const REFUND_DAYS = 60;
/** What is newer may still be on its way to the journal. */
const FRESH_MS = 600_000;
const AUDIT_CODES =
  'Exit codes: 0 journal and chain agree; 1 they differ, or refused, and the error says why; 2 not all could be compared';
const REFUND_CODES =
  'Exit codes: 0 nothing is owed any more; 1 something is, or refused, and the error says why; 2 not all could be looked at';

interface BooksOptions {
  readonly place: JournalPlace;
  /** The settings of the gatekeeper; throws a StartError. */
  readonly config: () => Config;
  readonly write: (text: string) => void;
  /** Prints notes for people, apart from the output. */
  readonly note: (text: string) => void;
  readonly clock: () => number;
  readonly setExitCode: (code: number) => void;
}

interface SpanFlags {
  readonly state?: string;
  readonly since?: number;
  readonly until?: number;
  readonly days: number;
  readonly format: 'text' | 'ndjson';
}
interface RefundFlags extends SpanFlags {
  readonly send?: true;
  readonly key?: string;
}

/** Adds to `signalpress-gate ledger` what compares the journal with the chain, and pays back what is owed. */
export function addBooksCommands(ledger: Command, by: BooksOptions): void {
  spanOption(ledger.command('audit'), AUDIT_DAYS)
    .description('compare the journal with the chain: missing, foreign, reorganised, undelivered')
    .addHelpText('after', `\n${AUDIT_CODES}`)
    .action(async (flags: SpanFlags) => {
      // Only who asks waits for the libraries of the chain to load.
      const { audit, FINDINGS } = await import('./audit.ts');
      const terms = await termsOf(flags, by);
      const found = await withBooks(placeOf(flags.state, by.place), (books) => audit(books, terms));
      for (const finding of found.findings) by.write(textOf(finding, flags, findingLine));
      const { sales, transfers, gaps } = found;
      const [from, until] = [terms.fromMs, terms.untilMs].map((ms) => new Date(ms).toISOString());
      const counts = FINDINGS.map(
        (kind) => `${kind} ${found.findings.filter((finding) => finding.kind === kind).length}`,
      ).join(', ');
      const seen = `settled payments ${sales}, transfers ${transfers}; ${counts}`;
      by.note(`compared from ${from} to ${until}: ${seen}\n`);
      for (const gap of gaps) by.note(`not compared: ${gap}\n`);
      by.setExitCode(found.findings.length > 0 ? 1 : found.gaps.length > 0 ? 2 : 0);
    });
  spanOption(ledger.command('refunds'), REFUND_DAYS)
    .description('list what was paid and can no longer be delivered, and pay it back')
    .option('--send', 'pay back what is owed, each once')
    .option('--key <file>', 'key file of the account that pays (default: that of the relayer)')
    .addHelpText('after', `\n${REFUND_CODES}`)
    .action(async (flags: RefundFlags) => {
      const place = placeOf(flags.state, by.place);
      await withBooks(place, (books) => refund(books, flags, by), writtenJournalFile);
    });
}

function spanOption(command: Command, usual: number): Command {
  return command
    .option('--state <folder>', STATE_OPTION)
    .option('--since <day>', 'first day in UTC, such as 2026-01-31', dayStart)
    .option('--until <day>', 'day after the last one, in UTC (default: 10 minutes ago)', dayStart)
    .option('--days <n>', 'how many days back, without --since', days, usual)
    .addOption(new Option('--format <name>').choices(['text', 'ndjson']).default('text'));
}

function days(text: string): number {
  if (/^[1-9][0-9]{0,3}$/.test(text)) return Number(text);
  throw new StartError(`Cannot read number of days "${text}": give one such as ${AUDIT_DAYS}`);
}

/** What is compared; throws a StartError where no node is set. */
async function termsOf({ since, until, days }: SpanFlags, by: BooksOptions) {
  const nowMs = by.clock();
  const untilMs = until === undefined ? nowMs - FRESH_MS : Math.min(until, nowMs);
  const fromMs = since ?? untilMs - days * DAY_MS;
  if (fromMs >= untilMs) {
    throw new StartError(
      'Cannot compare the journal with the chain: the span is empty; let --since be before --until and before now',
    );
  }
  const config = by.config();
  const { chainNode } = await import('../../settle/chain/chain-node.ts');
  const nodes: AuditedNode[] = paidTokens(config).flatMap(({ network, rpcUrl }) =>
    rpcUrl === null ? [] : [chainNode({ url: rpcUrl, network })],
  );
  if (nodes.length === 0)
    throw new StartError('Cannot ask the chain: no node is set; set SIGNALPRESS_RPC_URL');
  return { fromMs, untilMs, config, payTo: config.payTo, nodes };
}

/** Lists what is owed and what was paid back; pays, where that is asked for, one after the other. */
async function refund(books: Books, flags: RefundFlags, by: BooksOptions): Promise<void> {
  const { audit } = await import('./audit.ts');
  const { debtsOf, payBack } = await import('./refunds.ts');
  const terms = await termsOf(flags, by);
  const { debts, gaps } = await debtsOf(books, await audit(books, terms), terms.nodes);
  const paybacks = flags.send === true ? await paybacksOf(terms.config, flags.key, by) : [];
  const pay = async ({ row, refund }: (typeof debts)[number]): Promise<Refund> => {
    const payback = paybacks.find(({ token }) => row.key.startsWith(token));
    if (payback === undefined || !['owed', 'sending'].includes(refund.state)) return refund;
    const paid = await payBack(row, payback, books, by.clock());
    if ('refund_transaction' in paid) return { ...refund, state: 'sent', ...paid };
    by.note(`not sent: ${row.key}: ${paid.why}\n`);
    return refund;
  };
  let open = 0;
  for (const debt of debts) {
    const now = await pay(debt);
    by.write(textOf(now, flags, refundLine));
    if (now.state !== 'sent') open += 1;
  }
  for (const { close } of paybacks) close();
  for (const gap of gaps) by.note(`not looked at: ${gap}\n`);
  by.note(`refunds: ${debts.length - open} paid back, ${open} open\n`);
  by.setExitCode(open > 0 ? 1 : gaps.length > 0 ? 2 : 0);
}

/** The node is asked for what is paid back, and not in between. */
const UNWATCHED = { ask: () => () => {} };

type OpenPayback = Payback & {
  /** What stands before the payer in the keys of its token. */
  readonly token: string;
  readonly close: () => void;
};

async function paybacksOf(
  config: Config,
  keyFile: string | undefined,
  { clock, note }: BooksOptions,
): Promise<readonly OpenPayback[]> {
  const { openChain } = await import('../../settle/chain/open-chain.ts');
  const { privateKeyToAccount } = await import('viem/accounts');
  const { tokenOf } = await import('./audit.ts');
  const key = keyFile ?? config.relayerKey;
  if (key === null) {
    throw new StartError(
      'Cannot pay back: no account is set; name the key file of one that holds the tokens and some gas money with --key',
    );
  }
  const relayerKey = `0x${secretKey(key, '--key')}` as const;
  const report = (error: unknown): void => note(`${messageOf(error)}\n`);
  const opened: OpenPayback[] = [];
  for (const { rpcUrl, ...one } of paidTokens(config)) {
    if (rpcUrl === null) continue;
    const by = { clock, report, state: UNWATCHED };
    const chain = await openChain({ ...one, rpcUrl, relayerKey }, by);
    const { network } = one;
    const { direct: settler, evidence, close } = chain;
    if (settler === null) continue;
    const account = privateKeyToAccount(relayerKey);
    opened.push({ network, account, settler, evidence, close, token: tokenOf({ network }) });
  }
  return opened;
}

function textOf<T>(one: T, { format }: SpanFlags, line: (one: T) => readonly string[]): string {
  if (format === 'ndjson') return `${JSON.stringify(one)}\n`;
  return `${line(one)
    .join('  ')
    .trimEnd()
    .replace(/[^\x20-\x7e]/g, '?')}\n`;
}

function findingLine({ kind, payer, value, transaction, key, resource, reason }: Finding) {
  return [kind.padEnd(11), value.padStart(10), payer, transaction, resource || key, reason];
}

function refundLine({ state, value, token, network, payer, reason, ...of }: Refund) {
  const transaction = of.refund_transaction || of.transaction;
  return [state.padEnd(7), value.padStart(10), token, network, payer, transaction, reason];
}
