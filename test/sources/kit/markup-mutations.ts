import type { Mutation } from './mutations.ts';

const PAGE = '<html><body>Service unavailable</body></html>';
/** An element that holds text or nothing. */
const LEAF = /<(\w+)([^>]*)>([^<]*)<\/\1>/g;
/** An element with all that it holds. */
const WHOLE = (name: string) => new RegExp(`<${name}[ >].*?</${name}>`, 's');

/**
 * A document of markup with one thing wrong in it: cut off, a page in its place, a document type; each element with text in
 * turn absent, twice, empty, of another name, format or unit; each attribute absent or of another value; each element that
 * holds others twice or empty.
 */
export function* markupMutations(text: string): Generator<Mutation> {
  for (const part of [0.25, 0.5, 0.9]) {
    yield { name: `cut off at ${part}`, payload: text.slice(0, Math.floor(text.length * part)) };
  }
  yield { name: 'a page of markup', payload: PAGE };
  yield { name: 'a document type', payload: `<!DOCTYPE x>${text}` };
  yield { name: 'two documents', payload: text + text };
  yield { name: 'another root', payload: `<x>${text}</x>` };
  for (const { index, 0: whole, 1: name = '', 2: attributes = '', 3: value = '' } of text.matchAll(
    LEAF,
  )) {
    const put = (other: string) => text.slice(0, index) + other + text.slice(index + whole.length);
    const at = `${name} at ${index}`;
    yield { name: `${at} absent`, payload: put('') };
    yield { name: `${at} twice`, payload: put(whole + whole) };
    yield { name: `${at} renamed`, payload: put(`<x${attributes}>${value}</x>`) };
    yield { name: `${at} nested`, payload: put(`<${name}><x>${value}</x></${name}>`) };
    for (const other of others(value)) {
      const payload = put(`<${name}${attributes}>${other}</${name}>`);
      yield { name: `${at} = ${JSON.stringify(other)}`, payload };
    }
  }
  for (const [attribute, name = '', value = ''] of text.matchAll(/ (\w+)="([^"]*)"/g)) {
    for (const other of ['', ` ${name}=""`, ` ${name}="n/a"`, ` x="${value}"`]) {
      yield { name: `${attribute} as "${other}"`, payload: text.replace(attribute, other) };
    }
  }
  yield* containers(text);
}

function* containers(text: string): Generator<Mutation> {
  const names = new Set([...text.matchAll(/<(\w+)[^>]*><\w/g)].map(([, name = '']) => name));
  for (const name of names) {
    const [whole = ''] = WHOLE(name).exec(text) ?? [];
    yield { name: `${name} twice`, payload: text.replace(whole, () => whole + whole) };
    yield { name: `${name} empty`, payload: text.replace(whole, `<${name}></${name}>`) };
    const other = whole.replaceAll(`<${name}`, '<x').replaceAll(`</${name}>`, '</x>');
    yield { name: `${name} renamed`, payload: text.replace(whole, () => other) };
  }
}

function others(value: string): readonly string[] {
  const bare = value.replace(/ ?(hours?|minutes?)\b/g, '');
  const month = value.replace(/\b[JFMASOND][a-z]{2}\b/g, '13');
  const variants = [bare, value.replace(/\d+/, '99999'), value.replace(/\d+/, 'x'), month];
  return ['', 'n/a', '-1', `${value} x`, ...variants.filter((other) => other !== value)];
}
