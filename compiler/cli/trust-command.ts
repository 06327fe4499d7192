import { existsSync } from 'node:fs';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Command } from 'commander';
import { KEYS_URL, LOG_URL, RELEASE_URL } from '../catalog/static-files.ts';
import { plainAddress } from '../format/addresses.ts';
import { logOrigin, NOTE_CHARS_MAX, parseNote, verifierKey } from '../format/checkpoint.ts';
import { parseDidKey } from '../format/did-key.ts';
import { HOUR_MS, isoTime } from '../format/iso-time.ts';
import {
  firstHistory,
  KEYS_BYTES_MAX,
  type KeyHistory,
  keysInWords,
  readKeyHistory,
  rootDid,
} from '../format/key-history.ts';
import { HEAD_BYTES_MAX, type Release } from '../format/release.ts';
import { decodeUtf8, parseJson } from '../format/strict-json.ts';
import { policyLines } from '../publish/witness/witness-list.ts';
import type { Clock } from '../system/clock.ts';
import { type CommandSettings, duration, repeated } from '../system/command-settings.ts';
import { replaceFile } from '../system/plain-file.ts';
import { canonicalHash } from '../verify/body-check.ts';
import { believedDids, trustedBy, trustedList } from '../verify/key-trust.ts';
import { judgeNote } from '../verify/log-notes.ts';
import { type Fetch, type LogClient, logClient } from '../verify/monitor/log-client.ts';
import { keysSeenIn } from '../verify/release-chain.ts';
import { printed } from '../verify/report-text.ts';
import { signedHead } from '../verify/signed-head.ts';
import { formatTrust, TRUST_NAME, type TrustFile, trustOfFile } from '../verify/trust-file.ts';
import { readTrustFile } from '../verify/trust-option.ts';
import { isSignedBy } from '../verify/verify-citation.ts';

interface TrustSettings extends CommandSettings {
  readonly fetch: Fetch;
  readonly clock: Pick<Clock, 'steady'>;
  /** Asks whoever sits at the terminal; null without one. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

interface InitFlags {
  readonly issuer?: readonly string[];
  readonly witnesses?: string;
  readonly maxAge?: string;
  readonly trust: string;
  readonly yes?: boolean;
}

const TOTAL_MS = 60_000;

const HELP = `
The file says whom you trust. "verify", "buy", "monitor" and the clients read it; "verify URL" brings it up to date.
Whoever answers at the address could have made all of it up: compare the issuer with a source that you trust.
`;

export function defineTrust(trust: Command, settings: TrustSettings): void {
  trust.addHelpText('after', HELP);
  trust
    .command('init')
    .description(
      'fetch what a shop publishes of itself, show it, and write it down as whom you trust',
    )
    .argument('<url>', 'address of the shop')
    .option('--issuer <did>', 'an issuer that it has to be; may be repeated', repeated)
    .option('--witnesses <file>', 'demand these witnesses: a list of them, or a tlog-policy')
    .option('--max-age <duration>', 'longest age of what a body observed, such as 2h or 7d')
    .option('--trust <file>', 'the file to write', TRUST_NAME)
    .option('--yes', 'write it without a question, for scripts')
    .action((url: string, flags: InitFlags) => runInit(url, flags, settings));
}

async function runInit(
  text: string,
  flags: InitFlags,
  { fetch, clock, now, print, exit, confirm }: TrustSettings,
): Promise<void> {
  const address = plainAddress(text);
  if (address?.isSafe !== true) {
    throw new RangeError(
      `Cannot trust "${text.slice(0, 200)}": not an address such as https://signals.example.org; only a loopback address may be http`,
    );
  }
  const { trust: path, maxAge, issuer, yes, witnesses: from } = flags;
  if (existsSync(path)) {
    const { url } = readTrustFile(path);
    throw new RangeError(
      `Cannot write "${path}": it is there, for ${url}; "signalpress verify ${url}" brings it up to date, and without it you begin again`,
    );
  }
  const client = logClient(address.href, { fetch, clock, totalMs: TOTAL_MS });
  const published = await publishedBy(client, issuer);
  const max_age_hours = maxAge === undefined ? null : duration(maxAge) / HOUR_MS;
  const witnesses = from === undefined ? [] : policyLines(from, '--witnesses');
  const file = { ...published.file, url: address.href, witnesses, max_age_hours };
  trustOfFile(file);
  print(shownTrust(file, published, now()));
  const question = `Write "${path}"?`;
  if (yes !== true && confirm === null) {
    throw new RangeError(`Cannot ask you whether that is right: no terminal; pass --yes`);
  }
  if (yes === true || (await confirm?.(question)) === true) {
    replaceFile(path, formatTrust(file));
    print(`"${path}" is written.`);
    return;
  }
  print('Nothing is written.');
  exit(1);
}

interface Published {
  readonly file: Omit<TrustFile, 'url' | 'witnesses' | 'max_age_hours'>;
  readonly head: Release;
  readonly history: KeyHistory;
  /** The signed note of its log. */
  readonly note: string;
}

/** What a shop says of itself, as far as it holds together; throws a RangeError that says what does not. */
async function publishedBy(
  { get }: LogClient,
  named: readonly string[] | undefined,
): Promise<Published> {
  const textAt = async (url: string, max: number): Promise<string> => {
    const bytes = await get(url, max);
    if (bytes !== null) return decodeUtf8(bytes);
    throw new RangeError(`Cannot trust it: nothing is at ${url}; name the address of a shop`);
  };
  const headText = await textAt(RELEASE_URL, HEAD_BYTES_MAX);
  const bytes = await get(KEYS_URL, KEYS_BYTES_MAX);
  const listed = bytes === null ? null : readKeyHistory(parseJson(decodeUtf8(bytes)), isSignedBy);
  const unread = signedHead(Buffer.from(headText), { trust: 'any' }, () => undefined);
  if (unread === null)
    throw new RangeError(`Cannot trust it: ${RELEASE_URL} is no head of a release`);
  const history = listed ?? firstHistory(unread.issuer_did);
  const roots = named === undefined ? (history.roots?.at(-1)?.root_keys ?? []) : [];
  const issuers = roots.length > 0 ? [] : (named ?? [rootDid(history)]);
  const trusted = trustedBy(issuers, roots);
  const keys = trustedList(history, trusted);
  const faults: string[] = [];
  const head = signedHead(Buffer.from(headText), { ...trusted, keys }, (where, detail) =>
    faults.push(`${where}: ${detail}`),
  );
  const note = await textAt(LOG_URL, NOTE_CHARS_MAX);
  const believed = believedDids({ ...trusted, keys }, undefined);
  const { checkpoint, fault, signers } = judgeNote(note, believed);
  const origin = logOrigin(unread.base_url);
  if (checkpoint !== null && checkpoint.origin !== origin)
    faults.push(`its log is "${checkpoint.origin}", and its release is of "${origin}"`);
  const [wrong = fault] = faults;
  const signer = signers.at(-1);
  if (head === null || wrong !== null || signer === undefined)
    throw new RangeError(`Cannot trust it: ${wrong}`);
  const { sequence, as_of } = head;
  const seen = { sequence, as_of, head: canonicalHash(head), checkpoint: note };
  return {
    file: {
      format: 'signalpress-trust/1',
      issuers: [...issuers],
      roots: [...roots],
      log: verifierKey(origin, parseDidKey(signer), sha256),
      keys: listed,
      seen: { [rootDid(history)]: { ...seen, keys: keysSeenIn(history) } },
    },
    head,
    history,
    note,
  };
}

function shownTrust(file: TrustFile, { head, history, note }: Published, now: number): string {
  const { issuers, roots, log, witnesses, max_age_hours: hours } = file;
  const signatures = parseNote(note)?.signatures.filter(({ name }) => !log.startsWith(`${name}+`));
  const seen = signatures?.length ?? 0;
  const demanded = witnesses.filter((line) => line.startsWith('witness '));
  return printed([
    `${file.url} publishes this of itself. Compare the issuer with a source that you trust.`,
    ...(roots.length === 0 ? issuers : roots).map(
      (did) => `  ${roots.length === 0 ? 'issuer   ' : 'root key '}  ${did}`,
    ),
    `  called     ${head.issuer_name}, at ${head.base_url}`,
    `  keys       ${keysInWords(history, isoTime(now)) ?? 'this one alone'}`,
    `  log        ${log}`,
    `  release    ${head.sequence} as of ${head.as_of}, which later ones have to follow`,
    ...(demanded.length === 0 ? [`  witnesses  none that you demand (${seen} sign its log)`] : []),
    ...demanded.map((line) => `  witnesses  ${line.slice('witness '.length)}`),
    `  max age    ${hours === null ? 'none' : `${hours} h`}`,
  ]).trimEnd();
}
