import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentName } from '../compiler/stages/publish/release-folders.ts';
import { verifyRelease } from '../compiler/verify/verify-release.ts';

/**
 * Fails or kills a compile at single system calls, found by tracing a good one, and verifies what is current after each. Needs
 * strace. Usage: campaign-syscalls [runs] ; runs are spread evenly over all calls that touch the data folder's file system.
 */
const CALLS = [
  'openat',
  'write',
  'rename',
  'mkdir',
  'unlink',
  'fsync',
  'symlink',
  'rmdir',
] as const;
const FAULTS = ['signal=KILL', 'error=EIO', 'error=ENOSPC'] as const;

const [wanted = '120'] = process.argv.slice(2);
const child = join(import.meta.dirname, `campaign-kill${import.meta.url.slice(-3)}`);
await main(Number(wanted));

async function main(runs: number): Promise<void> {
  if (spawnSync('strace', ['-V']).status !== 0) throw new Error('Cannot inject: strace is missing');
  const root = mkdtempSync(join(tmpdir(), 'campaign-syscalls-'));
  try {
    for (const round of [0, 1]) batch(root, round);
    execFileSync(process.execPath, compileArgs(root, 0).slice(1));
    const points = injections(countCalls(root), runs);
    const tally: Tally = { old: 0, fresh: 0, broken: [] };
    for (const [index, inject] of points.entries()) {
      batch(root, index + 2);
      await injectOne(root, { inject, round: index + 2 }, tally);
    }
    execFileSync(process.execPath, compileArgs(root, points.length + 2).slice(1));
    const { verdict } = await verifyRelease(join(root, 'data'), { trust: 'any' });
    if (verdict !== 'verified') tally.broken.push('the compile after all of them does not verify');
    report(points.length, tally);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

interface Tally {
  old: number;
  fresh: number;
  readonly broken: string[];
}

async function injectOne(
  root: string,
  { inject, round }: { readonly inject: string; readonly round: number },
  tally: Tally,
): Promise<void> {
  const data = join(root, 'data');
  const before = currentName(data);
  const args = ['-f', '-o', '/dev/null', '-e', `inject=${inject}`];
  const { status } = spawnSync('strace', [...args, ...compileArgs(root, round)]);
  const isOld = currentName(data) === before;
  const { faults } = await verifyRelease(data, { trust: 'any' });
  const [fault] = faults;
  if (fault !== undefined) tally.broken.push(`${inject}: ${fault.file} ${fault.detail}`);
  if (status === 0 && isOld) tally.broken.push(`${inject}: exit 0, but old`);
  if (isOld) tally.old += 1;
  else tally.fresh += 1;
}

function report(
  runs: number,
  { old, fresh, broken }: { old: number; fresh: number; broken: readonly string[] },
): void {
  console.log(`${runs} injections: ${old} old, ${fresh} new, ${broken.length} broken`);
  for (const line of broken.slice(0, 20)) console.log(`  ${line}`);
  if (broken.length > 0) process.exitCode = 1;
}

function batch(root: string, round: number): void {
  execFileSync(process.execPath, [child, 'batch', root, String(round)]);
}

function compileArgs(root: string, round: number): string[] {
  return [process.execPath, child, 'child', root, String(round)];
}

/** How often each call occurs in a compile that succeeds. */
function countCalls(root: string): ReadonlyMap<string, number> {
  const log = join(root, 'trace');
  const args = ['-f', '-o', log, '-e', `trace=${CALLS.join(',')}`, ...compileArgs(root, 1)];
  const { status } = spawnSync('strace', args);
  if (status !== 0 || !existsSync(log)) throw new Error('Cannot trace: the compile failed');
  const text = readFileSync(log, 'utf8');
  return new Map(
    CALLS.map((call) => [call, text.match(new RegExp(`\\b${call}\\(`, 'g'))?.length ?? 0]),
  );
}

/** Every call in turn, spread over its occurrences; the first ones only load the program. */
function injections(counts: ReadonlyMap<string, number>, runs: number): string[] {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts].flatMap(([call, count]) => {
    const share = Math.max(1, Math.round((runs * count) / total));
    return Array.from({ length: count === 0 ? 0 : share }, (_, index) => {
      const when = Math.floor(((index + 1) * count) / (share + 1)) + 1;
      const fault = FAULTS[index % FAULTS.length] ?? FAULTS[0];
      return `${call}:${fault}:when=${when}`;
    });
  });
}
