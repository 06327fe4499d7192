import type { JsonValue } from '../../../compiler/contract/strict-json.ts';
import { type Delivery, type Forgery, type Open, type Path, valuesIn, withAt } from './forgery.ts';

const DAY_MS = 86_400_000;
const TIME = /^\d{4}-\d\d-\d\d(T[\d:.]+Z)?$/;
/** Looks like the Latin letter that it replaces. */
const LOOKALIKES: Readonly<Record<string, string>> = { a: 'а', e: 'е', o: 'о', p: 'р', c: 'с' };

/** Every value of a body replaced by each thing that could stand there instead, removed, doubled, moved or wrapped. */
export function* editedValues({ target, body }: Delivery): Generator<Forgery> {
  for (const [path, value] of valuesIn(body)) {
    const where = path.join('.');
    for (const [name, other] of othersOf(value)) {
      const make = (): string => JSON.stringify(withAt(body, path, other));
      yield { kind: 'edited value', target, where: `${where} ${name}`, make };
    }
    if (path.length > 0) yield removed({ target, body }, path);
  }
}

function removed({ target, body }: Delivery, path: Path): Forgery {
  const make = (): string => JSON.stringify(withAt(body, path, undefined));
  return { kind: 'edited value', target, where: `${path.join('.')} removed`, make };
}

type Named = readonly [name: string, other: JsonValue];

function othersOf(value: JsonValue): Named[] {
  if (value === null) return othersOfNull();
  if (typeof value === 'string') return othersOfText(value);
  if (typeof value === 'number') return othersOfNumber(value);
  if (typeof value === 'boolean') {
    return [
      ['turned round', !value],
      ['null', null],
      ['as text', String(value)],
      ['as a number', Number(value)],
    ];
  }
  return Array.isArray(value) ? othersOfList(value) : othersOfObject(value as Open);
}

function othersOfNull(): Named[] {
  const others: JsonValue[] = [false, 0, '', '2026-01-01', [], {}];
  return others.map((other) => [`null as ${JSON.stringify(other)}`, other]);
}

function othersOfNumber(value: number): Named[] {
  return [
    ['one more', value + 1],
    ['one less', value - 1],
    ['a tenth more', Math.round((value + 0.1) * 10) / 10],
    ['negative', value === 0 ? -1 : -value],
    ['as text', String(value)],
    ['null', null],
    ['in a list', [value]],
  ];
}

function othersOfText(value: string): Named[] {
  const middle = Math.floor(value.length / 2);
  const swapped = value.toUpperCase() === value ? value.toLowerCase() : value.toUpperCase();
  const others: Named[] = [
    ['empty', ''],
    ['longer', `${value}x`],
    ['with a space', `${value} `],
    ['shorter', value.slice(0, -1)],
    ['in another case', swapped],
    ['with a lookalike', value.replace(/[aeopc]/, (letter) => LOOKALIKES[letter] ?? letter)],
    ['with a zero-width space', `${value.slice(0, middle)}\u200b${value.slice(middle)}`],
    ['another digit', value.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 1) % 10))],
    ['null', null],
    ['in an object', { value }],
    ...otherTimes(value),
  ];
  return others.filter(([, other]) => other !== value);
}

function otherTimes(value: string): Named[] {
  if (!TIME.test(value)) return [];
  const moved = (days: number): string => {
    const text = new Date(Date.parse(value) + days * DAY_MS).toISOString().replace('.000Z', 'Z');
    return value.includes('T') ? text : text.slice(0, 10);
  };
  const spelled: Named[] = value.includes('T')
    ? [['with an offset', value.replace('Z', '+00:00')]]
    : [['as an instant', `${value}T00:00:00Z`]];
  return [['a day later', moved(1)], ['a day earlier', moved(-1)], ...spelled];
}

function othersOfList(list: readonly JsonValue[]): Named[] {
  const [first = null] = list;
  const others: Named[] = [
    ['emptied', []],
    ['with null behind', [...list, null]],
    ['null', null],
    ['first twice', [first, ...list]],
    ['last twice', [...list, list.at(-1) ?? null]],
    ['reversed', list.toReversed()],
    ['as an object', Object.fromEntries(list.entries()) as Open],
  ];
  return others.filter(([, other]) => JSON.stringify(other) !== JSON.stringify(list));
}

function othersOfObject(object: Open): Named[] {
  return [
    ['null', null],
    ['emptied', {}],
    ['in a list', [object]],
    ['with a member more', { ...object, verdict: 'certain' }],
    ['with a member of request time more', { ...object, freshness: 'fresh', age_hours_now: 0 }],
    ['with a citation more', { ...object, _citation: object._citation ?? {} }],
    ['with a hash more', { ...object, record_hash: object.record_hash ?? null }],
  ];
}
