import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { decodeUtf8 } from '../format/strict-json.ts';
import { runVerifyEvidence } from '../publish/evidence/verify-evidence.ts';
import { systemClock } from '../system/clock.ts';
import { type CommandSettings, defaultWorkers, repeated } from '../system/command-settings.ts';
import { nodeDisk, readNamed } from '../system/disk.ts';
import { errorText } from '../system/error-text.ts';
import { replaceFile } from '../system/plain-file.ts';
import { holdsCatalog } from '../verify/given-keys.ts';
import type { Fetch } from '../verify/monitor/log-client.ts';
import { MEMORY_BYTES_MAX } from '../verify/release-chain.ts';
import { EXIT, type VerifyOutcome } from '../verify/report-text.ts';
import { type NamedTrust, TRUST, trustNamed } from '../verify/trust-option.ts';
import { type MemoryFile, runVerify, runVerifyLog } from '../verify/verify-command.ts';
import { verifyProgress } from './progress.ts';

const ADDRESS = /^https?:\/\//i;

const HELP = `
Every hash and signature is recomputed here; only an address is fetched from. Without an issuer that you trust nothing is
verified, because anybody can make a key: name it with --issuer, or once with "signalpress trust init URL".
compiler/VERIFY.md states the rules.`;

interface VerifySettings extends CommandSettings {
  write: (text: string) => void;
  complain: (text: string) => void;
  fetch: Fetch;
  end: (code: number) => void;
}

interface VerifyFlags extends NamedTrust {
  expect?: string;
  body?: string;
  mirror?: string;
  archive?: string;
  log?: boolean;
  independent?: boolean;
  verbose?: boolean;
  json?: boolean;
}

export function defineVerify(command: Command, settings: VerifySettings): void {
  command
    .argument(
      '<target>',
      'a saved body, a release or data folder, the address of a service, or - for standard input',
    )
    .option('--issuer <did>', 'an issuer you trust, did:key:z6Mk…; may be repeated', repeated)
    .option(...TRUST)
    .option(
      '--expect <request>',
      "the request that a body must answer, or a receipt be for, 'GET /gauge?…'",
    )
    .option('--body <file>', 'for a receipt: the body that was delivered')
    .option(
      '--mirror <folder>',
      'for an address: keep what was fetched here, and fetch only news; else: take keys, log and catalogue from here',
    )
    .option('--archive <folder>', 'lead each reading of a body back to the payload in this archive')
    .option('--log', 'verify the transparency log of a release instead of its bodies')
    .option(
      '--independent',
      'also check signatures with code that the signer does not use (slower)',
    )
    .option('--verbose', 'list the checks')
    .option('--json', 'print the whole report as JSON')
    .addHelpText('after', HELP)
    .exitOverride(({ exitCode }) => settings.end(exitCode === 0 ? exitCode : EXIT.undecided))
    .action((target: string, flags: VerifyFlags) => runVerifyCommand(target, flags, settings));
}

/** Misuse is not a verdict: a script must not mistake it for an altered body. */
async function runVerifyCommand(
  target: string,
  flags: VerifyFlags,
  settings: VerifySettings,
): Promise<void> {
  try {
    const { exitCode, text } = await verified(target, flags, settings);
    settings.write(text);
    settings.exit(exitCode);
  } catch (error) {
    settings.complain(errorText(error));
    settings.exit(EXIT.undecided);
  }
}

async function verified(
  target: string,
  { issuer, trust, mirror, archive, log, ...rest }: VerifyFlags,
  { now, screen, fetch, onStop }: VerifySettings,
): Promise<VerifyOutcome> {
  const isAddress = ADDRESS.test(target);
  const { file, memory, ...trusted } = trustNamed({ issuer, trust });
  const held = mirror === undefined || isAddress ? {} : { keys: mirror };
  if (log === true) {
    refuseWithLog(isAddress, archive === undefined ? rest : { ...rest, archive });
    const [seen] = Object.values(file?.seen ?? {});
    const since = seen?.checkpoint ?? undefined;
    return runVerifyLog(target, { ...rest, ...trusted, ...held, since, now: now() });
  }
  const catalog = mirror !== undefined && holdsCatalog(nodeDisk, mirror) ? { catalog: mirror } : {};
  const options = {
    ...rest,
    ...trusted,
    ...held,
    ...(isAddress ? {} : catalog),
    ...(memory === undefined ? {} : { memory }),
    now: now(),
    workers: Number(defaultWorkers()),
    progress: verifyProgress(screen, now),
  };
  if (archive !== undefined) return runVerifyEvidence(target, { ...options, archive });
  if (!isAddress) return runVerify(target, options);
  const { verifyAddress } = await import('../publish/mirror/mirror-release.ts');
  const clock = systemClock(now, Math.random);
  const address = { mirror, memoryAt: memoryFile, fetch, clock, onStop };
  return verifyAddress(target, { ...options, ...address });
}

/** What is about one body or receipt says nothing of a log. */
function refuseWithLog(isAddress: boolean, flags: VerifyFlags): void {
  if (isAddress) {
    throw new RangeError(
      'Cannot use --log with an address: pass --mirror FOLDER, then verify --log FOLDER',
    );
  }
  const given = (['archive', 'expect', 'body'] as const).find((name) => flags[name] !== undefined);
  if (given === undefined) return;
  throw new RangeError(`Cannot use --${given} with --log: it is about one body; leave --log out`);
}

/** The file in which a mirror remembers what was verified. */
export function memoryFile(path: string): MemoryFile {
  const text = existsSync(path) ? decodeUtf8(readNamed(path, MEMORY_BYTES_MAX)) : null;
  return {
    text,
    save(next) {
      if (next !== text) replaceFile(path, next);
    },
  };
}
