import type { Forgery, Handed } from '../forgeries/forgery.ts';

const LINE_END = '\r\n';

/** A signed series as CSV with one thing changed, which nobody may believe. */
export function* csvForgeries({ target, text }: Handed): Generator<Forgery> {
  const lines = text.split(LINE_END).slice(0, -1);
  for (const [where, make] of Object.entries(CHANGES)) {
    yield { kind: 'table', target, where, make: () => make(text, lines) };
  }
  for (const [at, line] of lines.entries()) {
    for (const [how, others] of Object.entries(othersOf(line))) {
      if (others.join() === line) continue;
      const make = (): string => joined(lines.toSpliced(at, 1, ...others));
      yield { kind: 'line of a table', target, where: `line ${at + 1} ${how}`, make };
    }
  }
}

function othersOf(line: string): Readonly<Record<string, readonly string[]>> {
  return {
    removed: [],
    twice: [line, line],
    'with another digit': [line.replace(/\d(?=\D*$)/, (digit) => String(9 - Number(digit)))],
    'with a cell quoted': [line.replace(/^[^",]+/, '"$&"')],
  };
}

type Change = (text: string, lines: readonly string[]) => string;

const CHANGES: Readonly<Record<string, Change>> = {
  'with line feeds alone': (text) => text.replaceAll(LINE_END, '\n'),
  'with an empty line behind it': (text) => `${text}${LINE_END}`,
  'without its last line end': (text) => text.slice(0, -LINE_END.length),
  'with its rows turned round': (_, [head, columns, ...rows]) =>
    joined([head ?? '', columns ?? '', ...rows.toReversed()]),
  'without its first line': (_, lines) => joined(lines.slice(1)),
  'with a byte order mark': (text) => `\ufeff${text}`,
  'with another first line': (text) => text.replace(/^# \{/, '# {"x":1,'),
  'with a first line cut off': (text) => text.replace(/^(# .*)\}\r\n/, `$1${LINE_END}`),
  'with a column more': (_, lines) =>
    joined(lines.map((line, at) => (at === 0 ? line : `${line},`))),
};

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}${LINE_END}`).join('');
}
