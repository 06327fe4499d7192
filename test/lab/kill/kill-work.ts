import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CompileOptions, compile } from '../../../compiler/cli/compile.ts';
import { HOUR_MS } from '../../../compiler/format/iso-time.ts';
import {
  CURRENT_LINK,
  FILES_NAME,
  parseFiles,
  RELEASES_FOLDER,
} from '../../../compiler/format/release.ts';
import { openLogMemory } from '../../../compiler/publish/anchor/log-memory.ts';
import { currentName, readRelease } from '../../../compiler/release/release-folders.ts';
import { readStored } from '../../../compiler/release/release-list.ts';
import { nodeDisk } from '../../../compiler/system/disk.ts';
import { Faults } from '../../../compiler/verify/release-fault.ts';
import { readHead } from '../../../compiler/verify/release-head.ts';
import { verifyRelease } from '../../../compiler/verify/verify-release.ts';
import { FORMAT_2_TERMS } from '../../format-2-folder.ts';
import { readLog, type SeenLog, seenLog } from '../../publish/log/memory-store.ts';
import { SEED } from '../../snapshot-folder.ts';

const ENTITIES = 60;
const AS_OF = '2026-11-20T12:00:00Z';
const TERMS = {
  issuerName: 'campaign',
  baseUrl: 'http://127.0.0.1:4021',
  seed: new Uint8Array(32).fill(1),
} as const;

/** Folder of what remembers the log outside, beside that of the data. */
export const MEMORY = 'memory';

/** Rounds from here on are those of a folder of the first format. */
export const FIRST_FORMAT = 1_000_000;

/** The compile of a round, in this thread. */
export function optionsOf(root: string, round: number): CompileOptions {
  const isFirst = round >= FIRST_FORMAT;
  const { asOf, ...terms } = isFirst
    ? { ...FORMAT_2_TERMS, seed: SEED, full: false }
    : { asOf: AS_OF, ...TERMS, full: isFull(round) };
  const minutes = isFirst ? round - FIRST_FORMAT : round;
  const data = join(root, 'data');
  const place = join(root, MEMORY, 'log');
  return {
    snapshots: join(root, 'snapshots'),
    data,
    // That of the first format is remembered from its first entry beside the releases on.
    logMemory: openLogMemory({ place, data, auth: null, fetch }),
    asOf: new Date(Date.parse(asOf) + minutes * 60_000).toISOString(),
    ...terms,
    workers: 0,
  };
}

/** Every third one whole, the others on what is remembered. */
export function isFull(round: number): boolean {
  return round % 3 === 0;
}

/** Compiles as a process of its own. One that was forked says `ready`, waits for a word, and says `publish` when it begins to. */
export async function compileApart(root: string, round: number): Promise<void> {
  const say = (word: string): void => void process.send?.(word);
  if (process.connected) {
    say('ready');
    await once(process, 'message');
  }
  const progress = ({ stage }: { readonly stage: string }): void => {
    if (stage === 'publish') say(stage);
  };
  try {
    await compile({ ...optionsOf(root, round), progress });
  } finally {
    if (process.connected) process.disconnect();
  }
}

/** The first batch has every entity, later ones a few. */
export function writeBatch(root: string, round: number): void {
  const time = new Date(Date.UTC(2026, 0, 1) + round * HOUR_MS).toISOString();
  const folder = join(root, 'snapshots', `${time.slice(0, 13)}Z`);
  mkdirSync(folder, { recursive: true });
  const count = round === 0 ? ENTITIES : 2;
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      entity: `coin-${(round * 2 + index) % ENTITIES}`,
      observed_at: time,
      collected_at: time,
      current: { price_usd: round + index },
      sources: [{ name: 'campaign', weight: 1, independent: true }],
      source_ref: null,
      source_tier: null,
    }),
  );
  writeFileSync(join(folder, 'crypto.spot.ndjson'), `${lines.join('\n')}\n`);
}

/** Says the first two faults of the release that is current in a data folder. */
export async function expectVerified(data: string, wrong: (what: string) => void): Promise<void> {
  const { faults } = await verifyRelease(data, { trust: 'any' });
  for (const { file, detail } of faults.slice(0, 2)) wrong(`${file} ${detail}`);
}

const TRUST = 'any' as const;
/** Of so many reads one is a whole verification. */
const VERIFY_EVERY = 250;

/** What a reader saw. */
export interface Watch {
  /** Heads with their signature, the whole list and one file of it, and the log. */
  reads: number;
  /** Whole verifications. */
  verified: number;
  /** Sequence of the newest release that was current. */
  newest: number;
  readonly log: SeenLog;
  readonly broken: string[];
}

export function watch(): Watch {
  return { reads: 0, verified: 0, newest: 0, log: seenLog(), broken: [] };
}

/**
 * A forked reader: reads what is current until it is told to stop, and rests so many milliseconds each time; then says
 * what it saw.
 */
export async function watchApart(
  root: string,
  { random, restMs }: { readonly random: (below: number) => number; readonly restMs: number },
): Promise<void> {
  const seen = watch();
  let stop = false;
  process.once('message', () => {
    stop = true;
  });
  process.once('disconnect', () => process.exit(1));
  while (!stop) {
    if (seen.reads % VERIFY_EVERY === 0) await verifyCurrent(root, seen);
    readCurrent(root, seen, random);
    await sleep(restMs);
  }
  process.send?.(seen, () => process.exit(0));
}

/** Head, signature, list and one random file must belong together, and never be older than before. */
export function readCurrent(root: string, seen: Watch, random: (below: number) => number): void {
  const name = nameOf(root, seen);
  if (name === null) return;
  const data = join(root, 'data');
  const folder = join(data, RELEASES_FOLDER, name);
  seen.reads += 1;
  readLog(data, seen.log, (what) => seen.broken.push(`${name}: ${what}`));
  try {
    const faults = new Faults();
    const head = readHead({ disk: nodeDisk, root: folder, trust: TRUST, faults });
    for (const { file, detail } of faults.kept) seen.broken.push(`${name}: ${file} ${detail}`);
    const entries = parseFiles(readFileSync(join(folder, FILES_NAME), 'utf8'));
    const entry = entries[random(entries.length)];
    if (entry === undefined) seen.broken.push(`${name}: lists no files`);
    else readStored(data, entry);
    if (head !== null) noteSequence(name, head.sequence, seen);
  } catch (error) {
    seen.broken.push(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Verifies all of what is current. */
export async function verifyCurrent(root: string, seen: Watch): Promise<void> {
  const name = nameOf(root, seen);
  if (name === null) return;
  const data = join(root, 'data');
  seen.verified += 1;
  const { faults } = await verifyRelease(join(data, RELEASES_FOLDER, name), { trust: TRUST });
  for (const { file, detail } of faults) {
    // A newer release may have been published meanwhile, which only makes this one the one before.
    if (file !== 'current') seen.broken.push(`${name}: ${file} ${detail}`);
  }
  noteSequence(name, readRelease(data, name).sequence, seen);
}

/** A reader pins the release it began with, as the gatekeeper does. */
function nameOf(root: string, seen: Watch): string | null {
  const name = currentName(join(root, 'data'));
  if (name === null) seen.broken.push(`"${CURRENT_LINK}" is gone`);
  return name;
}

function noteSequence(name: string, sequence: number, seen: Watch): void {
  if (sequence < seen.newest) seen.broken.push(`${name}: older than ${seen.newest}`);
  seen.newest = Math.max(seen.newest, sequence);
}
