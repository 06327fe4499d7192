import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fileDigest, HashedFile } from '../../../compiler/stages/publish/release-list.ts';
import { sha256Text } from '../../sha256-text.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';

afterAll(removeFolders);

describe('HashedFile', () => {
  it('writes texts and pieces of bytes in their order, also many more than it holds, and hashes them', () => {
    const path = join(makeFolder(), 'file');
    const piece = Buffer.from(Array.from({ length: 300_001 }, (_, at) => 65 + (at % 26)));
    const file = new HashedFile(path);
    let want = '';
    for (let turn = 0; turn < 12; turn += 1) {
      file.text(`turn ${turn}\n`);
      file.copy(piece, turn, piece.length - turn);
      want += `turn ${turn}\n${piece.toString('latin1', turn, piece.length - turn)}`;
    }
    file.copy(Buffer.concat(Array.from({ length: 8 }, () => piece)), 0, 8 * piece.length);
    want += piece.toString('latin1').repeat(8);
    expect(file.close()).toBe(sha256Text(want));
    expect(readFileSync(path, 'latin1') === want).toBe(true);
  });

  it('never writes over a file', () => {
    const path = join(makeFolder(), 'file');
    new HashedFile(path).close();
    expect(() => new HashedFile(path)).toThrow('EEXIST');
  });
});

describe('fileDigest()', () => {
  it.each([0, 1, 1 << 20, 3_000_001])('I34: hashes a file of %i bytes', (length) => {
    const path = join(makeFolder(), 'file');
    const text = 'abcdefg'.repeat(Math.ceil(length / 7)).slice(0, length);
    writeFileSync(path, text);
    expect(fileDigest(path)).toBe(sha256Text(text));
  });
});
