// What a start finds on this machine: settings, secrets, release, journal, disk and clock.

import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { noticesOf, REGISTER } from '../../../compiler/catalog/register.ts';
import { messageOf } from '../../../compiler/format/errors.ts';
import { isoTime } from '../../../compiler/format/iso-time.ts';
import { keysInWords } from '../../../compiler/format/key-history.ts';
import { isStale } from '../../../compiler/format/release.ts';
import { JOURNAL_NAME } from '../../heart/journal/journal-file.ts';
import { journalFacts } from '../../heart/journal/with-journal.ts';
import { logTip } from '../../heart/release/log-tip.ts';
import { refuseFork, refuseOlder } from '../../heart/release/newest-served.ts';
import type { ReleaseIndex } from '../../heart/release/release-index.ts';
import { subscriptionWarnings } from '../../heart/release/release-source.ts';
import {
  paidNetworks,
  settlementOf,
  settlementWarnings,
  testPaymentsFault,
} from '../../settings/config.ts';
import { CONFIG_NAME } from '../../settings/load-config.ts';
import { isPostgresUrl, shownPlace } from '../../settings/settings.ts';
import { relayerKey } from '../../settle/address.ts';
import { clockFailure } from '../../settle/clock-guard.ts';
import {
  type Examined,
  type Finding,
  failed,
  failure,
  finding,
  graded,
  ok,
  skipped,
  warning,
} from './check.ts';

/** The settings could be read, or there would be nothing to examine; this says what they amount to. */
export async function settingsCheck({ config, ignored }: Examined): Promise<Finding[]> {
  const { payTo, host, port } = config;
  const networks = paidNetworks(config).map(({ network }) => network.name);
  const settlement = settlementOf(config);
  const isTest = settlement === 'test';
  const paid = isTest ? 'payments are simulated' : `${settlement} settles, paid to ${payTo}`;
  const remedy = isTest
    ? 'to be paid, set SIGNALPRESS_PAY_TO, _NETWORK, and _FACILITATOR_URL or _RELAYER_KEY'
    : 'set SIGNALPRESS_RPC_URL to an https URL';
  return [
    ok(`${host}:${port}, network ${networks.join(', ')}; ${paid}`),
    ...ignored.map((text) => warning(text, 'correct its name or remove it')),
    ...settlementWarnings(config).map((text) => warning(text, remedy)),
  ];
}

const READ = 0o044;
const WRITE = 0o022;

/** Whether others can read what is secret, or change what this program runs. */
export async function secretsCheck({ config }: Examined): Promise<Finding[]> {
  const { relayerKey: key, facilitatorAuthModule: module, stateDir } = config;
  const findings: Finding[] = [];
  try {
    // The start refuses a key file that others may read, and says so.
    if (key !== null) relayerKey(key);
  } catch (error) {
    findings.push(failure(error));
  }
  const rights = [
    [module, WRITE, 'change', 'go-w'],
    [CONFIG_NAME, WRITE, 'change', 'go-w'],
    [join(stateDir, JOURNAL_NAME), READ, 'read', 'go-rwx'],
    [stateDir, WRITE, 'write into', 'go-w'],
  ] as const;
  for (const [path, bits, word, to] of rights) {
    if (path === null || !existsSync(path) || (statSync(path).mode & bits) === 0) continue;
    const state = bits === WRITE ? 'failed' : 'warning';
    findings.push(finding(state, `others may ${word} "${path}"`, `run: chmod ${to} "${path}"`));
  }
  return findings.length > 0 ? findings : [ok('files with secrets are for their owner alone')];
}

/** Whether what remembers the log outside of the data folder stops two machines that compile, or restored folders alone. */
export async function memoryCheck({ logMemory }: Pick<Examined, 'logMemory'>): Promise<Finding[]> {
  if (logMemory === null) {
    return [
      skipped('SIGNALPRESS_LOG_MEMORY is not set here; where releases are compiled, it should be'),
    ];
  }
  const isSwapped =
    /^(postgres(ql)?|https?):\/\//.test(logMemory) && !/\/log\/checkpoint\/?$/.test(logMemory);
  if (isSwapped)
    return [ok('the memory of the log is swapped in one step: of two machines one goes on')];
  const state =
    'the memory of the log stops restored and lost folders, but not two machines that compile';
  return [warning(state, 'name PostgreSQL, or a store with If-Match, in SIGNALPRESS_LOG_MEMORY')];
}

/** Files whose bytes are read and hashed, spread evenly over the list, and how many damaged ones are named. */
const FILES_SAMPLED = 200;
const DAMAGED_SHOWN = 3;

/** Opens the release as the start does: head, signature, tables, list of files, issuer; then reads a sample of files. */
export async function releaseCheck(examined: Examined): Promise<Finding[]> {
  const { config, clock } = examined;
  const release = await examined.release();
  refuseOlder(config.stateDir, release);
  await refuseFork(config.stateDir, release);
  const { head, files } = release;
  const count = Math.min(files.size, FILES_SAMPLED);
  const damaged: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const path = files.pathAt(Math.floor((at * files.size) / count));
    await release.body(path, () => {}).catch(() => damaged.push(path));
  }
  const about = `as of ${head.as_of}, ${files.size} files, issued by ${head.issuer_did}`;
  const findings: Finding[] = [ok(`release ${head.sequence} ${about}`)];
  const keys = keysInWords(release.keys, isoTime(clock()));
  if (keys !== null) findings.push(ok(keys));
  const named = damaged.slice(0, DAMAGED_SHOWN).join(', ');
  const spoilt = `${damaged.length} of ${count} files are missing or changed: ${named}`;
  if (damaged.length === 0) findings.push(ok(`${count} files were read and have their hashes`));
  else findings.push(failed(spoilt, 'restore the data folder, or compile again with --full'));
  for (const text of subscriptionWarnings(release.offers, config.tokenSecret !== null))
    findings.push(warning(text, 'set the secret, or leave subscriptions out of the release'));
  const remedy = 'check the run that publishes; the old release is served until then';
  if (isStale(head, clock()))
    findings.push(warning(`the release promised a newer one by ${head.valid_until}`, remedy));
  findings.push(...(await witnessFindings(release)));
  // The release may name a public address where no setting does.
  const place = { ...config, baseUrl: config.baseUrl ?? head.base_url };
  const fault = settlementOf(config) === 'test' ? testPaymentsFault(place) : null;
  if (fault !== null) findings.push(failed(fault, 'correct the setting that it names'));
  return findings;
}

const SIGNALS_MAX = 1000;
const sourcedSchema = z.looseObject({
  provenance: z.looseObject({
    data_lineage: z.array(z.looseObject({ evidence: z.looseObject({ importer: z.string() }) })),
  }),
});

/** Which sources of the register feed what is sold, by one record of each signal, and what the register says of them. */
export async function sourcesCheck({ release, clock }: Examined): Promise<Finding[]> {
  const index = await release().catch(() => null);
  if (index === null) return [skipped('there is no release to look into')];
  const ids = new Set<string>();
  for (const folder of index.files.namesUnder('record/', SIGNALS_MAX)) {
    const [path] = index.files.pathsUnder(`record/${folder}`, 1);
    if (path === undefined) continue;
    const { bytes } = await index.body(path, () => {});
    const { data } = sourcedSchema.safeParse(JSON.parse(bytes.toString()));
    for (const { evidence } of data?.provenance.data_lineage ?? []) ids.add(evidence.importer);
  }
  const rows = REGISTER.filter(({ id }) => ids.has(id));
  if (rows.length === 0) return [skipped('no record names a source of the register')];
  const notices = rows.flatMap((row) => noticesOf(row, clock()));
  return [
    ok(`${rows.length} sources feed the records: ${rows.map(({ id }) => id).join(', ')}`),
    ...notices
      .filter(({ isPressing, about }) => isPressing || about === 'sale')
      .map(({ id, text }) =>
        warning(`${id}: ${text}`, 'see "signalpress sources check" where `run` fetches'),
      ),
  ];
}

/** Whether anybody but the issuer signed the log: else it could show each reader another one. Nothing of a log that cannot be read. */
async function witnessFindings(release: ReleaseIndex): Promise<Finding[]> {
  const tip = await logTip(release).catch(() => null);
  if (tip === null) return [];
  const { note, signed } = tip.proof;
  const names = note.signatures.map(({ name }) => name).filter((name) => name !== signed.origin);
  if (names.length > 0) return [ok(`the log is cosigned by ${[...new Set(names)].join(', ')}`)];
  const why = 'nobody witnesses the log: only its issuer says that everybody sees the same one';
  return [warning(why, 'run "signalpress witness ask", or compile with --witnesses')];
}

/** Reads the journal, also beside the gatekeeper that writes it: whether it is whole, and what is open. */
export async function journalCheck({ config }: Examined): Promise<Finding[]> {
  const { journal, stateDir } = config;
  const place = isPostgresUrl(journal) ? shownPlace(journal) : join(stateDir, JOURNAL_NAME);
  const facts = await journalFacts(config);
  if (facts === null) return [skipped(`nothing in "${place}" yet; the first start makes it`)];
  const { damage, open, oldestMs } = facts;
  const restore = 'stop the gatekeeper and restore a backup (gatekeeper/README.md)';
  if (damage !== null) return [failed(`its file is damaged: ${damage}`, restore)];
  const whole = ok(`"${place}" is whole`);
  if (open === 0 || oldestMs === null) return [whole, ok('no payment is open')];
  const since = new Date(oldestMs).toISOString();
  const remedy =
    'see them with "signalpress-gate ledger list --only unknown"; their buyers may send them again';
  return [whole, warning(`open payments: ${open}, the oldest since ${since}`, remedy)];
}

/** A journal grows by what is sold: this much is some 100,000 sales. */
const FREE_BYTES_WANTED = 1_000_000_000;
/** With less than this a write-ahead log may not find room for one burst of sales. */
const FREE_BYTES_MIN = 100_000_000;

/** Whether the state folder can be written, has room and lasts; what is in it must be writable too. */
export async function diskCheck({ config: { stateDir }, space }: Examined): Promise<Finding[]> {
  // The folder itself, or the one that it would be made in.
  let folder = resolve(stateDir);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  const findings: Finding[] = [];
  try {
    if (!statSync(folder).isDirectory()) throw new Error(`"${folder}" is a file`);
    accessSync(folder, constants.W_OK | constants.X_OK);
    const names = folder === resolve(stateDir) ? readdirSync(folder) : [];
    for (const name of names) accessSync(join(folder, name), constants.W_OK);
    findings.push(ok(`"${stateDir}" can be written`));
  } catch (error) {
    const remedy =
      'give the folder and its files to the user of the gatekeeper, on a disk that is mounted for writing';
    findings.push(failed(`"${stateDir}" cannot be written: ${messageOf(error)}`, remedy));
  }
  const { free, total, isLasting } = space(folder);
  const [left, all] = [free, total].map((bytes) => (bytes / 1e9).toFixed(1));
  const text = `${left} of ${all} GB are free for "${stateDir}"`;
  const remedy = 'free some space, or set SIGNALPRESS_STATE to a folder on a larger disk';
  findings.push(finding(graded(-free, -FREE_BYTES_WANTED, -FREE_BYTES_MIN), text, remedy));
  const volume = 'mount a volume there: without its journal, what was sold could be charged again';
  const lost = `"${stateDir}" lies in a container or in memory, and is gone with it`;
  return isLasting ? findings : [...findings, warning(lost, volume)];
}

/** A `Date` header has whole seconds and comes after a way through the network. */
const SKEW_S_OK = 5;
/** Buyers sign windows of some minutes that begin with their own clock. */
const SKEW_S_MAX = 60;

/** Compares the clock with the newest time in the journal, and with those whom the settings name. */
export async function clockCheck({ config, clock, ask }: Examined): Promise<Finding[]> {
  const facts = await journalFacts(config);
  const wrong = facts === null ? null : clockFailure(clock(), facts.newestMs);
  const time = new Date(clock()).toISOString();
  let own = ok(`${time} is not before the newest time in the journal`);
  if (facts === null) own = skipped('no journal to compare the clock with');
  if (wrong !== null) own = failure(wrong);
  const nodes = paidNetworks(config).flatMap(({ rpcUrl }) => rpcUrl ?? []);
  const lists = config.facilitatorUrls.map((url) => `${url.replace(/\/$/, '')}/supported`);
  const others = [...lists, ...nodes].map(async (url) => {
    const { host } = new URL(url);
    const before = clock();
    const answer = await ask(url);
    const date = 'code' in answer ? Number.NaN : Date.parse(String(answer.headers.date));
    if (Number.isNaN(date)) return skipped(`${host} told no time`);
    // The answer was made between two readings of the clock.
    const ahead = Math.round((Math.max(before - date, 0) - Math.max(date - clock(), 0)) / 1000);
    const seconds = Math.abs(ahead);
    if (seconds <= SKEW_S_OK) return ok(`within ${SKEW_S_OK} s of ${host}`);
    const skew = `${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} the clock of ${host}`;
    const remedy = 'set the clock of this machine, for example with chrony or systemd-timesyncd';
    return seconds > SKEW_S_MAX ? failed(skew, remedy) : warning(skew, remedy);
  });
  return [own, ...(await Promise.all(others))];
}
