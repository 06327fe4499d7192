import { readFileSync, writeFileSync } from 'node:fs';

/** Loaded in front of a program: writes down what the process took, when it ends. */
export interface Usage {
  /** User and system time of all threads. */
  readonly cpuMs: number;
  /** Bytes that were given to the system to be written. */
  readonly written: number;
  readonly peakMb: number;
}

/** Names the file that the usage is written to. */
export const USAGE_FILE = 'SIGNALPRESS_BENCH_USAGE';

const into = process.env[USAGE_FILE];
if (into !== undefined) process.on('exit', () => writeFileSync(into, JSON.stringify(usage())));

function usage(): Usage {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const [, written = Number.NaN] =
    /^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8')) ?? [];
  return {
    cpuMs: (userCPUTime + systemCPUTime) / 1000,
    written: Number(written),
    peakMb: maxRSS / 1024,
  };
}
