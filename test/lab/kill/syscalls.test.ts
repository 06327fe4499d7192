import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { built } from '../../built.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { callsOn, injectArgs, injectionsAt, runInjections, type TracedCall } from './syscalls.ts';

afterAll(removeFolders);

const TRACE = `
10 openat(AT_FDCWD</>, "/program.js", O_RDONLY) = 3</program.js>
10 openat(AT_FDCWD</>, "/data/.lock", O_WRONLY|O_CREAT) = 4</data/.lock>
11 openat(AT_FDCWD</>, "/data/file", O_RDONLY) = 5</data/file>
10 write(4</data/.lock>, "10", 2) = 2
12 syncfs(3</data>) = 0
10 rename("/data/.checkpoint.new", "/data/log/checkpoint") = 0
10 rename("/data/.current.new", "/data/current") = 0
10 +++ exited with 0 +++
`;

describe('callsOn()', () => {
  it('numbers calls by name and thread, and keeps those on the data folder', () => {
    expect(callsOn('/data', TRACE)).toEqual([
      { name: 'openat', when: 2, file: '.lock', isLate: false, isOfLog: false },
      { name: 'openat', when: 1, file: 'file', isLate: false, isOfLog: false },
      { name: 'write', when: 1, file: '.lock', isLate: false, isOfLog: false },
      { name: 'syncfs', when: 1, file: '', isLate: true, isOfLog: false },
      { name: 'rename', when: 1, file: 'log/checkpoint', isLate: true, isOfLog: true },
      { name: 'rename', when: 2, file: 'current', isLate: true, isOfLog: false },
    ]);
  });

  it('finds nothing where the folder is not named', () => {
    expect(callsOn('/elsewhere', TRACE)).toEqual([]);
  });
});

describe('injectionsAt()', () => {
  const calls = callsOn('/data', TRACE);

  it('I16: takes each fault at each call where all fit', () => {
    const made = injectionsAt(calls, 1000);
    expect(made).toHaveLength(24);
    const renames = made.filter(({ call }) => call.name === 'rename');
    expect(renames).toHaveLength(8);
    expect(new Set(renames.map(({ fault }) => fault)).size).toBe(4);
    expect(renames.map(injectArgs)).toContainEqual([
      ...['-e', 'trace=rename'],
      ...['-e', 'inject=rename:error=EIO:when=1'],
    ]);
  });

  it('takes mostly those around the switch where only some fit', () => {
    const made = injectionsAt(calls, 8);
    expect(made).toHaveLength(8);
    expect(made.filter(({ call }) => call.isLate)).toHaveLength(6);
  });
});

const canTrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;

describe('the system call campaign, its short form', () => {
  it.skipIf(!canTrace)(
    'I16: runInjections() finds a whole release after a fault at a call (skipped without strace)',
    async () => {
      const script = built('test/lab/apart.js');
      const choose = (calls: readonly TracedCall[]) =>
        calls.flatMap((call) => {
          if (call.name === 'symlink') return [{ call, fault: 'signal=KILL' }];
          return call.name === 'syncfs' ? [{ call, fault: 'error=ENOSPC' }] : [];
        });
      const tally = await runInjections({ root: makeFolder(), script, round: 1, choose });
      expect(tally).toMatchObject({ injections: 2, killed: 1, finished: 1, missed: 0 });
      expect(tally).toMatchObject({ old: 1, fresh: 1, broken: [] });
    },
  );
});
