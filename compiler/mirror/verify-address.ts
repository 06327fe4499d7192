import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorText } from '../commands/error-text.ts';
import type { Fetch } from '../monitor/log-client.ts';
import { lockData } from '../stages/publish/data-lock.ts';
import { nodeDisk } from '../verify/disk.ts';
import { givenKeys } from '../verify/given-keys.ts';
import { trustedBy } from '../verify/key-trust.ts';
import { EXIT, undecided, type VerifyOutcome } from '../verify/report-text.ts';
import {
  type MemoryFile,
  misuseOfFolder,
  runVerify,
  type VerifyCommandOptions,
} from '../verify/verify-command.ts';
import { MirrorFolder } from './mirror-folder.ts';
import { type MirrorBy, type Mirrored, mirrorRelease } from './mirror-release.ts';

const ANSWER_MS = 30_000;
/** What a mirror remembers of what was verified. */
const SEEN_NAME = 'verified.json';
const LOOPBACK = /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\])$/;

/** What `verify` needs for an address beside what it needs for a folder. */
export interface AddressOptions extends VerifyCommandOptions {
  /** Where what was fetched stays; without one it goes when all is done. */
  readonly mirror: string | undefined;
  /** A file that remembers what was verified, where no other one is given. */
  readonly memoryAt: (path: string) => MemoryFile;
  readonly fetch: Fetch;
  /** Calls once when the process is told to end; returns what takes that back. */
  readonly onStop: (stop: () => void) => () => void;
  readonly clock: MirrorBy['clock'];
  /** Longest wait for an answer beside what its bytes take, in milliseconds. */
  readonly answerMs?: number;
}

/** `verify URL`: fetches what anybody may have of the release of a service, and judges it as a folder. */
export async function verifyAddress(
  target: string,
  { mirror, memoryAt, fetch, onStop, clock, answerMs = ANSWER_MS, ...options }: AddressOptions,
): Promise<VerifyOutcome> {
  const misuse = misuseOfFolder(options);
  if (misuse !== null) return undecided(target, misuse, options.json === true);
  const stop = new AbortController();
  const forget = onStop(() => stop.abort());
  const folder = mirror ?? mkdtempSync(join(tmpdir(), 'signalpress-mirror-'));
  try {
    const address = addressOf(target);
    const unlock = lockData(folder);
    // No older release takes the place of what a mirror holds, and no other history.
    const isKept = mirror !== undefined && options.memory === undefined;
    const remembering = isKept ? { memory: memoryAt(join(folder, SEEN_NAME)) } : {};
    try {
      const world = { fetch, clock, answerMs, signal: stop.signal };
      return await judge({ address, folder }, { ...options, ...remembering }, world);
    } finally {
      unlock();
    }
  } catch (error) {
    return undecided(target, errorText(error), options.json === true);
  } finally {
    forget();
    if (mirror === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Whoever is on the way could keep a newer release back, so only this machine is asked without TLS. */
function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && `${url.username}${url.password}${url.search}${url.hash}` === '';
  const isSafe = url !== null && (url.protocol === 'https:' || LOOPBACK.test(url.hostname));
  if (isPlain && isSafe) return url.href.replace(/\/+$/, '');
  throw new RangeError(
    `Cannot verify "${text.slice(0, 200)}": not an address such as https://signals.example.org; only a loopback address may be http`,
  );
}

async function judge(
  { address, folder }: { address: string; folder: string },
  options: VerifyCommandOptions,
  world: Pick<MirrorBy, 'fetch' | 'clock' | 'answerMs' | 'signal'>,
): Promise<VerifyOutcome> {
  const { issuer, root, keys, progress = () => undefined } = options;
  const trusted = trustedBy(issuer, root);
  const { keys: given } = keys === undefined ? {} : givenKeys(nodeDisk, keys, trusted);
  const known = given === undefined ? trusted : { ...trusted, keys: given };
  const held = new MirrorFolder(folder, address);
  const started = world.clock.steady();
  const mirrored = await mirrorRelease({ ...known, ...world, address, folder: held, progress });
  const seconds = (world.clock.steady() - started) / 1000;
  const { faults } = mirrored.served;
  const fetched = { from: address, facts: factsOf(mirrored, seconds), faults };
  const outcome = await runVerify(mirrored.root, { ...options, fetched });
  // What fails stays beside what was held before, for whoever wants to look; so does what cannot be judged beside what was verified.
  const isFirst = outcome.exitCode === EXIT.undecided && (options.memory?.text ?? null) === null;
  if (isFirst || outcome.exitCode === EXIT.verified) {
    held.keepOnly(mirrored.name, mirrored.listed);
  }
  return outcome;
}

function factsOf({ held, fetched, served }: Mirrored, seconds: number) {
  const { files, bytes, resumed } = fetched;
  const ungiven = [...fetched.ungiven, ...served.ungiven];
  return {
    fetched_files: files,
    fetched_bytes: bytes,
    resumed_files: resumed,
    held_files: held,
    compared_descriptions: served.compared,
    seconds: Math.round(seconds * 10) / 10,
    not_given: ungiven.slice(0, NOT_GIVEN_MAX).map(({ path, detail }) => `${path}: ${detail}`),
  };
}

/** Files that the service did not give as listed and that are named. */
const NOT_GIVEN_MAX = 20;
