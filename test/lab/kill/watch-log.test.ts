import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../../compiler/cli/compile.ts';
import { readLog, seenLog } from '../../publish/log/watch-log.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { optionsOf, writeBatch } from './kill-work.ts';

afterAll(removeFolders);

/** Folders of one release and of two, and one whose second release is another. */
let one: string;
let two: string;
let other: string;
beforeAll(async () => {
  one = makeFolder();
  writeBatch(one, 0);
  await compile(optionsOf(one, 0));
  const follow = async (batch: number): Promise<string> => {
    const root = makeFolder();
    cpSync(one, root, { recursive: true, verbatimSymlinks: true });
    writeBatch(root, batch);
    await compile(optionsOf(root, 1));
    return root;
  };
  two = await follow(1);
  other = await follow(2);
});

/** What is wrong with the log of the last of these folders, which somebody looked at one after the other. */
function wrongs(...roots: readonly string[]): string[] {
  const seen = seenLog();
  let wrong: string[] = [];
  for (const root of roots) {
    wrong = [];
    readLog(join(root, 'data'), seen, (what) => wrong.push(what));
  }
  return wrong;
}

function spoiled(spoil: (data: string) => void): string {
  const root = makeFolder();
  cpSync(two, root, { recursive: true, verbatimSymlinks: true });
  spoil(join(root, 'data'));
  return root;
}

describe('readLog()', () => {
  it('I15: takes a log that grows, and one that is what it was', () => {
    expect(wrongs(makeFolder(), one, one, two)).toEqual([]);
    expect(wrongs(one, other)).toEqual([]);
  });

  it('I15: tells one that shrinks, forks, or is gone', () => {
    expect(wrongs(two, one)).toEqual(['the log has 1 entries, and had 2']);
    expect(wrongs(two, other)).toEqual([
      'the log forks at 2 entries',
      'release 2 has another entry',
    ]);
    expect(wrongs(two, makeFolder())).toEqual(['the log is gone']);
  });

  it('tells a tile that is missing, and what a release took in that is missing or torn', () => {
    const tile = spoiled((data) => rmSync(join(data, 'log/tile/0/000.p/2')));
    expect(wrongs(tile)).toEqual([expect.stringContaining('log/tile/0/000.p/2')]);
    const gone = spoiled((data) => rmSync(join(data, 'log/new/2')));
    expect(wrongs(gone)).toEqual([expect.stringContaining('log/new/2')]);
    const torn = spoiled((data) => {
      const path = join(data, 'log/new/2');
      writeFileSync(path, readFileSync(path).subarray(32));
    });
    expect(wrongs(torn)).toEqual(['log/new/2 is not what its entry states']);
  });
});
