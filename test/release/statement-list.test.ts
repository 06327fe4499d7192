import { describe, expect, it } from 'vitest';
import { formatStatement, StatementList } from '../../compiler/release/statement-list.ts';

const hex = (digit: string): string => digit.repeat(64);
const line = (target: string, digit: string): string => `${target} ${hex(digit)}\n`;
const added = (target: string, digit: string, isReplaced = false): string =>
  formatStatement({ target, hex: hex(digit) }, isReplaced);

/** A release of the statements of /a, /b and /d, and what the next one says. */
function listed(edit: (list: StatementList) => void): string {
  const list = new StatementList(Buffer.from(line('/a', '1') + line('/b', '2') + line('/d', '4')));
  edit(list);
  return list.lines().toString('latin1');
}

describe('StatementList', () => {
  it('keeps what is not spoken of, in the order of the targets', () => {
    expect(listed((list) => list.add(added('/c', '3')))).toBe(
      line('/a', '1') + line('/b', '2') + line('/c', '3') + line('/d', '4'),
    );
  });

  it('takes one away and adds the one behind it', () => {
    const edited = listed((list) => {
      list.remove('/b');
      list.add(added('/c', '3'));
    });
    expect(edited).toBe(line('/a', '1') + line('/c', '3') + line('/d', '4'));
  });

  it('replaces one that is taken away and added again, or said to be replaced', () => {
    const edited = listed((list) => {
      list.remove('/b');
      list.add(added('/b', '5') + added('/d', '6', true));
    });
    expect(edited).toBe(line('/a', '1') + line('/b', '5') + line('/d', '6'));
  });

  it('refuses two bodies for one target, in one compile or over two', () => {
    const within = (list: StatementList) => list.add(added('/c', '3') + added('/c', '5'));
    expect(() => listed(within)).toThrow('two bodies answer the same request');
    const again = (list: StatementList) => list.add(added('/b', '5'));
    expect(() => listed(again)).toThrow('two bodies answer the same request');
  });

  it('forgets the release before where that lacks what is replaced or taken away', () => {
    expect(() => listed((list) => list.add(added('/c', '3', true)))).toThrow('one is not there');
    expect(() => listed((list) => list.remove('/c'))).toThrow('one is not there');
  });
});
