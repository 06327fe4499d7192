import { styleText } from 'node:util';

const COLOURS = [
  [/^verified\b/, 'green'],
  [/^(failed|Cannot)/, 'red'],
  [/^cannot be judged\b/, 'yellow'],
] as const;

/** A text with the words coloured that it begins with, where a terminal shows it and NO_COLOR is not set. */
export function coloured(text: string, stream: NodeJS.WriteStream): string {
  const [begin, colour] = COLOURS.find(([one]) => one.test(text)) ?? [];
  if (begin === undefined || colour === undefined) return text;
  return text.replace(begin, (words) => styleText(colour, words, { stream }));
}
