import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { LockedError, lockData } from '../../compiler/system/data-lock.ts';
import { durableFolder, replaceFile } from '../../compiler/system/plain-file.ts';
import { built } from '../command-runs.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

const BOOT_FILE = '/proc/sys/kernel/random/boot_id';
const BOOT = existsSync(BOOT_FILE) ? readFileSync(BOOT_FILE, 'utf8').trim() : '';
const HERE = { pid: process.pid, host: hostname(), boot: BOOT };

function textIn(data: string): unknown {
  return JSON.parse(readFileSync(join(data, '.lock'), 'utf8'));
}

const MODULE = pathToFileURL(built('compiler/system/data-lock.js')).href;
const IMPORT = `import { lockData } from ${JSON.stringify(MODULE)};`;
const HOLDER = `${IMPORT} lockData(process.argv[1]); console.log('held'); setInterval(() => {}, 1000);`;

/** A process of its own that runs a line of code, with `lockData` and `data` at hand, and lives until it is killed. */
async function apart(data: string, line: string) {
  const program = `${IMPORT}
    const data = ${JSON.stringify(data)};
    setInterval(() => {}, 1000);
    ${line}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout, 'data');
  return { child, said: String(said).trim() };
}

describe('lockData()', () => {
  it('I20: holds a folder that it makes, until it is given back', () => {
    const data = join(makeFolder(), 'new/data');
    const unlock = lockData(data);
    expect(textIn(data)).toEqual(HERE);
    expect(() => lockData(data)).toThrow(LockedError);
    unlock();
    expect(readdirSync(data)).toEqual([]);
    lockData(data)();
  });

  it('I20: names the process that holds it and its machine, and what to do', () => {
    const data = makeFolder();
    const unlock = lockData(data);
    expect(() => lockData(data)).toThrow(
      `Cannot write into "${data}": another command (process ${process.pid} on "${hostname()}") is writing there; ` +
        'nothing was changed; run this again when it has ended',
    );
    expect(textIn(data)).toEqual(HERE);
    unlock();
  });

  it('I20: keeps another process out as long as the first one lives, whatever became of the text', async () => {
    const data = makeFolder();
    const { child } = await apart(data, "lockData(data); console.log('held');");
    expect(() => lockData(data)).toThrow(`process ${child.pid} on`);
    writeFileSync(join(data, '.lock'), '');
    expect(() => lockData(data)).toThrow('another command is writing there');
    child.kill('SIGKILL');
    await once(child, 'exit');
    lockData(data)();
    expect(readdirSync(data)).toEqual([]);
  });

  it('I20: takes over from a process that was killed and that nobody has waited for', async () => {
    const data = makeFolder();
    const { child, said } = await apart(
      data,
      "const { spawn } = await import('node:child_process');" +
        `const holder = spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(HOLDER)}, data]);` +
        "holder.stdout.once('data', () => { holder.kill('SIGKILL'); console.log(holder.pid); for (;;); });",
    );
    try {
      // Its parent is busy for ever, so it stays a zombie, and a signal still reaches its number. Its threads end one by one.
      await expect.poll(() => stateOf(said)).toBe('Z');
      await expect.poll(() => lockData(data)).toBeTypeOf('function');
      expect([stateOf(said), process.kill(Number(said), 0)]).toEqual(['Z', true]);
      expect(textIn(data)).toEqual(HERE);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it.each([
    ['a number that another program has now', { ...HERE, pid: process.ppid }],
    ['the number of this very process, as in a container that was started again', HERE],
    ['another container of this machine', { pid: 1, host: 'a3f1c2d4e5b6', boot: BOOT }],
    ['this machine before it was started again', { ...HERE, boot: 'an-earlier-one' }],
  ])('I20: takes over what is left of %s', (_, left) => {
    const data = makeFolder();
    writeFileSync(join(data, '.lock'), JSON.stringify(left));
    writeFileSync(join(data, '.lock-held'), '');
    const unlock = lockData(data);
    expect(textIn(data)).toEqual(HERE);
    unlock();
    expect(readdirSync(data)).toEqual([]);
  });

  const FOREIGN = JSON.stringify({ pid: 1, host: 'elsewhere', boot: 'another-kernel' });
  const foreignLock = (data: string, ageMs: number): string => {
    const path = join(data, '.lock');
    writeFileSync(path, FOREIGN);
    const at = new Date(Date.now() - ageMs);
    utimesSync(path, at, at);
    return path;
  };

  it.each([
    ['just now', 0],
    ['a while ago', 14 * 60_000],
    ['in the future', -86_400_000],
  ])(
    'I20: leaves the lock that another machine touched %s, and says when it takes it over',
    (_, ageMs) => {
      const data = makeFolder();
      const path = foreignLock(data, ageMs);
      const end = new Date(statSync(path).mtimeMs + 15 * 60_000).toISOString();
      expect(() => lockData(data)).toThrow(
        `Cannot write into "${data}": another command (process 1 on "elsewhere") took the lock there, and whether it ` +
          `still runs cannot be seen from this machine; nothing was changed; run this again when it has ended, or after ` +
          `${end}, when it is taken over unless that machine touches it again; if it runs no more, you may remove ` +
          `"${path}" before`,
      );
      expect(readFileSync(path, 'utf8')).toBe(FOREIGN);
      expect(readdirSync(data)).toEqual(['.lock']);
    },
  );

  it('I20: takes over the lock that a machine left which has not touched it for 15 minutes, and says so', () => {
    const data = makeFolder();
    foreignLock(data, 16 * 60_000);
    const warned: string[] = [];
    const unlock = lockData(data, '.lock', (text) => warned.push(text));
    expect(textIn(data)).toEqual(HERE);
    expect(warned).toEqual([
      `Took over "${data}" from process 1 on "elsewhere": it has not touched its lock for 15 minutes`,
    ]);
    unlock();
    expect(readdirSync(data)).toEqual([]);
  });

  it('I20: touches its own lock while it holds it, and never that of who took it over', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const data = makeFolder();
      const path = join(data, '.lock');
      const unlock = lockData(data);
      const old = new Date(Date.now() - 3_600_000);
      utimesSync(path, old, old);
      vi.advanceTimersByTime(31_000);
      expect(Date.now() - statSync(path).mtimeMs).toBeLessThan(600_000);
      expect(textIn(data)).toEqual(HERE);
      const leftMs = statSync(foreignLock(data, 600_000)).mtimeMs;
      vi.advanceTimersByTime(31_000);
      expect(statSync(path).mtimeMs).toBe(leftMs);
      unlock();
      expect(readFileSync(path, 'utf8')).toBe(FOREIGN);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([String(process.ppid), '', 'a word', '{"pid":1}', '-1'])(
    'I20: takes over a lock that says %j, which names no machine',
    (text) => {
      const data = makeFolder();
      writeFileSync(join(data, '.lock'), text);
      lockData(data)();
      expect(readdirSync(data)).toEqual([]);
    },
  );

  it('I20: never lets two processes hold it at the same time', async () => {
    const data = makeFolder();
    const line = `const fs = await import('node:fs');
      let taken = 0, overlaps = 0;
      for (let turn = 0; turn < 2000 && taken < 100; turn += 1) {
        let unlock;
        try { unlock = lockData(data); } catch (error) {
          if (error.name !== 'LockedError') throw error;
          await new Promise((done) => setTimeout(done, 1));
          continue;
        }
        try { fs.writeFileSync(data + '/inside', '', { flag: 'wx' }); } catch { overlaps += 1; }
        fs.rmSync(data + '/inside', { force: true });
        unlock();
        taken += 1;
      }
      console.log(JSON.stringify({ hasTaken: taken > 0, overlaps }));`;
    const runs = await Promise.all([1, 2, 3].map(() => apart(data, line)));
    for (const { child } of runs) child.kill('SIGKILL');
    const alone = { hasTaken: true, overlaps: 0 };
    expect(runs.map(({ said }) => JSON.parse(said))).toEqual([alone, alone, alone]);
    expect(readdirSync(data)).toEqual([]);
  });
});

function stateOf(pid: string): string | undefined {
  return / ([A-Z]) [0-9]+ /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
}

describe('replaceFile()', () => {
  it('writes what is new in place of what was there, and leaves nothing beside it', () => {
    const folder = makeFolder();
    const path = join(folder, 'state');
    writeFileSync(path, 'a longer text from before');
    replaceFile(path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(readdirSync(folder)).toEqual(['state']);
  });

  it('leaves the old content where the new one cannot be written', () => {
    const folder = makeFolder();
    const path = join(folder, 'state');
    writeFileSync(path, 'old');
    mkdirSync(`${path}.new`);
    expect(() => replaceFile(path, 'new')).toThrow('EISDIR');
    expect(readFileSync(path, 'utf8')).toBe('old');
  });
});

describe('durableFolder()', () => {
  it('makes what is missing, waits for the disk above each new folder, and for nothing where all stand', () => {
    const root = makeFolder();
    const opened = vi.spyOn(fs, 'openSync');
    syncBuiltinESMExports();
    try {
      durableFolder(join(root, 'a/b/c'));
      expect(opened.mock.calls.map(([path]) => path)).toEqual(
        ['a/b', 'a', ''].map((path) => join(root, path)),
      );
      durableFolder(join(root, 'a/b/c'));
      expect(opened).toHaveBeenCalledTimes(3);
      expect(readdirSync(join(root, 'a/b'))).toEqual(['c']);
    } finally {
      opened.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it('throws where a file stands in the way', () => {
    const root = makeFolder();
    writeFileSync(join(root, 'a'), '');
    expect(() => durableFolder(join(root, 'a/b'))).toThrow('ENOTDIR');
  });
});
