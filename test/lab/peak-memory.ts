/**
 * The most memory in megabytes that this process ever had. It stands by itself, so that its text can run in a child.
 * `maxRSS` also counts what the parent had when it made the child: a child of a large test runner begins at its size.
 */
export function peakMegabytes(): number {
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
  const status = '/proc/self/status';
  const peak = existsSync(status) && /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(status, 'utf8'));
  return (peak ? Number(peak[1]) : process.resourceUsage().maxRSS) / 1024;
}
