import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { outliveReader } from '../../compiler/commands/error-text.ts';

function failing(code: string): Writable {
  const output = new Writable();
  outliveReader(output);
  output.emit('error', Object.assign(new Error(`write ${code}`), { code }));
  return output;
}

describe('outliveReader()', () => {
  it('goes on when the reader is gone', () => {
    expect(() => failing('EPIPE')).not.toThrow();
  });

  it('does not when the text is lost for another reason', () => {
    expect(() => failing('ENOSPC')).toThrow('write ENOSPC');
  });
});
