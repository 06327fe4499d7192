import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LockedError, lockData } from '../../../compiler/stages/publish/data-lock.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);

describe('lockData()', () => {
  it('I20: holds a folder that it makes, until it is given back', () => {
    const data = join(makeFolder(), 'new/data');
    const unlock = lockData(data);
    expect(readFileSync(join(data, '.lock'), 'utf8')).toBe(String(process.pid));
    expect(() => lockData(data)).toThrow(LockedError);
    unlock();
    expect(existsSync(join(data, '.lock'))).toBe(false);
    lockData(data)();
  });

  it('I20: names the process that holds it, and what to do', () => {
    const data = makeFolder();
    writeFileSync(join(data, '.lock'), String(process.ppid));
    expect(() => lockData(data)).toThrow(
      `Cannot write into "${data}": another command (process ${process.ppid}) is writing there; ` +
        'nothing was changed; run this again when it has ended, ' +
        `or remove "${join(data, '.lock')}" if that process is another program`,
    );
    expect(readFileSync(join(data, '.lock'), 'utf8')).toBe(String(process.ppid));
    expect(readdirSync(data)).toEqual(['.lock']);
  });

  it.each(['2147483646', '', 'a word', '-1', '1e3'])(
    'I20: takes over a lock that says %j, and leaves nothing beside it',
    (text) => {
      const data = makeFolder();
      writeFileSync(join(data, '.lock'), text);
      const unlock = lockData(data);
      expect(readFileSync(join(data, '.lock'), 'utf8')).toBe(String(process.pid));
      expect(() => lockData(data)).toThrow(LockedError);
      unlock();
      expect(readdirSync(data)).toEqual([]);
    },
  );

  it('I20: leaves a dead lock to the process that takes it away already', () => {
    const data = makeFolder();
    writeFileSync(join(data, '.lock'), '2147483646');
    writeFileSync(join(data, '.lock.after-2147483646'), String(process.ppid));
    expect(() => lockData(data)).toThrow(LockedError);
    writeFileSync(join(data, '.lock.after-2147483646'), '2147483645');
    lockData(data)();
    expect(readdirSync(data)).toEqual([]);
  });
});
