import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { errorText } from '../../compiler/commands/error-text.ts';
import { makeFolder, removeFolders } from '../snapshot-folder.ts';

afterAll(removeFolders);

function stated(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return errorText(error);
  }
  return 'nothing';
}

describe('errorText()', () => {
  it('says what the operating system could not do, with what, and what to do next', () => {
    const file = join(makeFolder(), 'data');
    writeFileSync(file, '');
    expect(stated(() => mkdirSync(join(file, 'x')))).toBe(
      `Cannot make folder "${join(file, 'x')}": a file stands where a folder is needed; name another place (ENOTDIR)`,
    );
    expect(stated(() => readdirSync(file))).toContain(`Cannot list "${file}": a file stands where`);
    expect(stated(() => readdirSync(`${file}2`))).toContain(
      'no such file or folder; correct the path',
    );
  });

  it('says of a full disk that nothing is lost, where no file is named', () => {
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' });
    expect(errorText(full)).toMatch(/^Cannot write: no space left on the disk; make room and run/);
  });

  it('says of a file beyond the limit of the shell which limit that is', () => {
    const long = Object.assign(new Error('too large'), { code: 'EFBIG', syscall: 'write' });
    expect(errorText(long)).toMatch(
      /^Cannot write: the file is larger than .* "ulimit -f".*\(EFBIG\)$/,
    );
  });

  it.each([
    [
      'an error of ours',
      new RangeError('Cannot use "x": not a time'),
      'Cannot use "x": not a time',
    ],
    ['a code that it does not know', Object.assign(new Error('odd'), { code: 'EODD' }), 'odd'],
    ['our own code', Object.assign(new Error('ours'), { code: 'ENOENT' }), 'ours'],
    ['what is no error', 'text', 'text'],
  ])('leaves %s as it is', (_, error, text) => {
    expect(errorText(error)).toBe(text);
  });
});
