import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertingWord } from '../compiler/catalog/neutral-text.ts';
import { type CompiledSample, compiledSample } from './shop.ts';
import { removeFolders } from './snapshot-folder.ts';

let sample: CompiledSample;
beforeAll(async () => {
  sample = await compiledSample();
});
afterAll(removeFolders);

/** Every text of a JSON value with the place it stands at; names of members are ours and no sentences. */
function texts(value: unknown, at = ''): [string, string][] {
  if (typeof value === 'string') return [[at, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => texts(member, `${at}.${name}`));
}

/** Whether a text is a sentence: an id, an address, a time or a single word asserts nothing. */
const isSentence = (text: string): boolean => / /.test(text) && !/^https?:/.test(text);

function assertions(path: string, content: string): string[] {
  const found: [string, string][] = path.endsWith('.json')
    ? texts(JSON.parse(content))
    : content.split('\n').map((line, number) => [`line ${number + 1}`, line]);
  return found.flatMap(([at, text]) => {
    const word = isSentence(text) ? assertingWord(text) : null;
    return word === null ? [] : [`${path} ${at} "${word}": ${text.slice(0, 160)}`];
  });
}

describe('every sentence of the compiled sample', () => {
  it('describes: none forecasts, advises or recommends', () => {
    // What the search of the documents reads tells people how to run a shop: it says nothing of a reading.
    const scanned = sample.paths.filter(
      (path) => /\.(json|txt)$/.test(path) && path !== 'site/data/docs.json',
    );
    expect(scanned.length).toBeGreaterThan(1000);
    const found = scanned.flatMap((path) => assertions(path, sample.text(path)));
    expect(found).toEqual([]);
  });

  it('would be found in any member of any file', () => {
    const body = { rows: [{ note: 'no forecast: prices will rise soon' }], nature: 'no advice' };
    expect(assertions('a.json', JSON.stringify(body))).toEqual([
      'a.json .rows.0.note "will rise": no forecast: prices will rise soon',
    ]);
    expect(assertions('a.txt', 'one line\nwe recommend it')).toHaveLength(1);
  });
});
