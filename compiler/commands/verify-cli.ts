import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { runVerifyEvidence } from '../evidence/verify-evidence.ts';
import { systemClock } from '../fetch/clock.ts';
import type { Fetch } from '../monitor/log-client.ts';
import { NotPlainError, readPlain } from '../verify/plain-file.ts';
import { MEMORY_BYTES_MAX } from '../verify/release-chain.ts';
import { EXIT, type VerifyOutcome } from '../verify/report-text.ts';
import type { MemoryFile } from '../verify/verify-command.ts';
import { runVerify, runVerifyLog } from '../verify/verify-command.ts';
import { policyFile } from './ask-after.ts';
import {
  type CommandSettings,
  defaultWorkers,
  duration,
  repeated,
  workerCount,
} from './command-settings.ts';
import { errorText } from './error-text.ts';
import { verifyProgress } from './progress.ts';

const ADDRESS = /^https?:\/\//i;

const HELP = `
Every hash and signature is recomputed here; only an address is fetched from. Without --issuer or --root nothing is
verified, because anybody can make a key. compiler/VERIFY.md states the rules.`;

interface VerifySettings extends CommandSettings {
  write: (text: string) => void;
  complain: (text: string) => void;
  fetch: Fetch;
  end: (code: number) => void;
}

interface VerifyFlags {
  issuer?: readonly string[];
  root?: readonly string[];
  keys?: string;
  catalog?: string;
  body?: string;
  payer?: string;
  expect?: string;
  maxAge?: string;
  proof?: boolean;
  writeProof?: string;
  policy?: string;
  format: 'text' | 'json';
  json?: boolean;
  log?: boolean;
  since?: string;
  remember?: string;
  independent?: boolean;
  archive?: string;
  mirror?: string;
  workers: string;
}

export function defineVerify(command: Command, settings: VerifySettings): void {
  command
    .argument(
      '<target>',
      'a saved body, a release or data folder, the address of a service, or - for standard input',
    )
    .option('--issuer <did>', 'an issuer you trust, did:key:z6Mk…; may be repeated', repeated)
    .option('--root <did>', 'a root key of an issuer; name as many as sign', repeated)
    .option('--keys <path>', 'list of issuer keys, or a folder with a list and a log')
    .option('--catalog <path>', 'catalogue, its release.json beside it, or a release folder')
    .option(
      '--expect <request>',
      "the request that a body must answer, or a receipt be for, 'GET /gauge?…'",
    )
    .option('--body <file>', 'for a receipt: the body that was delivered')
    .option('--payer <address>', 'for a receipt: the account that paid')
    .option('--max-age <duration>', 'longest age of what a body observed, such as 2h or 7d')
    .option(
      '--proof',
      'fail a body that is not proven to be in the log; without it, it cannot be judged',
    )
    .option('--no-proof', 'take a body that is not proven to be in the log')
    .option('--write-proof <file>', 'write the proof of a body that holds into a file')
    .option('--policy <file>', 'logs and witnesses that you trust, in the tlog-policy format')
    .addOption(
      new Option('--format <form>', 'form of the report').choices(['text', 'json']).default('text'),
    )
    .option('--json', 'same as --format json')
    .option('--log', 'verify the transparency log of a release instead of its bodies')
    .option('--since <file>', 'with --log: a checkpoint saved earlier; the log must extend it')
    .option(
      '--remember <file>',
      'file that remembers what was verified, to notice older, forked and stale releases',
    )
    .option('--archive <folder>', 'lead each reading of a body back to the payload in this archive')
    .option(
      '--independent',
      'also check signatures with code that the signer does not use (slower)',
    )
    .option('--mirror <folder>', 'for an address: keep what was fetched here, and fetch only news')
    .option('--workers <count>', 'worker threads for a release, 0 for none', defaultWorkers())
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
  flags: VerifyFlags,
  { now, screen, fetch, onStop }: VerifySettings,
): Promise<VerifyOutcome> {
  const { remember, workers, archive, maxAge, format, writeProof, policy, ...given } = flags;
  const { mirror, ...rest } = given;
  refuseMisuse(target, flags);
  const json = format === 'json' || flags.json === true;
  const memory = remember === undefined ? {} : { memory: memoryFile(remember) };
  const demanded = policy === undefined ? {} : { policy: policyFile(policy) };
  if (flags.log === true) return runVerifyLog(target, { ...rest, ...demanded, now: now(), json });
  const options = {
    ...rest,
    ...demanded,
    ...memory,
    ...(writeProof === undefined ? {} : { writeProof: proofFile(writeProof) }),
    json,
    maxAgeMs: maxAge === undefined ? undefined : duration(maxAge),
    now: now(),
    workers: workerCount(workers),
    progress: verifyProgress(screen, now),
  };
  if (archive !== undefined) return runVerifyEvidence(target, { ...options, archive });
  if (!ADDRESS.test(target)) return runVerify(target, options);
  const { verifyAddress } = await import('../mirror/mirror-release.ts');
  const clock = systemClock(now, Math.random);
  const address = { mirror, memoryAt: memoryFile, fetch, clock, onStop };
  return verifyAddress(target, { ...options, ...address });
}

function refuseMisuse(target: string, flags: VerifyFlags): void {
  if (flags.since !== undefined && flags.log !== true) {
    throw new RangeError('Cannot use --since without --log: it concerns the log; pass --log too');
  }
  const isAddress = ADDRESS.test(target);
  if (flags.mirror !== undefined && !isAddress) {
    throw new RangeError('Cannot use --mirror without an address: name that of a service');
  }
  if (flags.log !== true) return;
  if (isAddress) {
    throw new RangeError(
      'Cannot use --log with an address: pass --mirror FOLDER, then verify --log FOLDER',
    );
  }
  const given = NOT_OF_LOGS.find(([name]) => flags[name] !== undefined);
  if (given === undefined) return;
  const [, option, why] = given;
  throw new RangeError(`Cannot use ${option} with --log: ${why}; leave --log out`);
}

const NOT_OF_LOGS = [
  ['remember', '--remember', 'it concerns releases'],
  ['archive', '--archive', 'it is about one body'],
  ['catalog', '--catalog', 'it is about one body'],
  ['expect', '--expect', 'it is about one body'],
  ['body', '--body', 'it is about one receipt'],
  ['payer', '--payer', 'it is about one receipt'],
  ['maxAge', '--max-age', 'it is about one body'],
  ['proof', '--proof', 'it is about one body'],
  ['writeProof', '--write-proof', 'it is about one body'],
] as const;

/** The file that `verify --remember` reads and replaces; throws a RangeError for an unusable path. */
export function memoryFile(path: string): MemoryFile {
  if (path === '') throw new RangeError('Cannot remember: --remember is empty; name a file');
  const text = existsSync(path) ? readSmall(path) : null;
  return {
    text,
    save(next) {
      if (next === text) return;
      const draft = `${path}.${process.pid}.tmp`;
      try {
        writeFileSync(draft, next);
        renameSync(draft, path);
      } catch (cause) {
        rmSync(draft, { force: true });
        throw new RangeError(
          `Cannot remember in "${path}" what was verified; the verification itself is done. ${errorText(cause)}`,
          { cause },
        );
      }
    },
  };
}

/** A longer file is not one of ours; it reads as empty, which the caller then refuses. */
function readSmall(path: string): string {
  try {
    return readPlain(path, MEMORY_BYTES_MAX).toString('utf8');
  } catch (cause) {
    if (!(cause instanceof NotPlainError)) throw cause;
    if (cause.code === 'ETOOLONG') return '';
    const state = cause.code === 'EISDIR' ? 'a folder' : 'not a plain file';
    throw new RangeError(`Cannot read "${path}" of --remember: it is ${state}; name a file`, {
      cause,
    });
  }
}

/** The file that `verify --write-proof` writes; throws a RangeError for an unusable path. */
function proofFile(path: string): (proof: string) => void {
  if (path === '') throw new RangeError('Cannot write: --write-proof is empty; name a file');
  return (proof) => {
    try {
      writeFileSync(path, proof);
    } catch (cause) {
      throw new RangeError(`Cannot write the proof to "${path}": ${errorText(cause)}`, { cause });
    }
  };
}
