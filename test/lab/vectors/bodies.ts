import type { Delivery, Forgery, Handed, Random, Trusted } from '../forgeries/body-forgeries.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../../compiler/format/errors.ts';
import { basketCases, demandCases, otherFormCases, readerVectors, receiptCases } from './reader-cases.ts';
import { BODIES_NAME, type BodyVector, type BodyVectors, type ReaderCase } from './body-vector.ts';
import { keyCases } from './key-cases.ts';
import { campaign, countsOf } from '../campaign.ts';
import { type ReadingShop, readingShop, SETTLEMENT_NOW, settlementShop, type SettlementShop } from '../forgeries/shops.ts';
import { verify } from '../../../compiler/client/verify.ts';
import { isoTime } from '../../../compiler/format/iso-time.ts';
import { allVerdicts, BEYOND, isDisputed, type Verdicts } from '../forgeries/forgeries.ts';
import { chosen, readingForgeries, settlementForgeries } from '../forgeries/plan.ts';
import { answer } from '../../../gatekeeper/heart/answers/answers.ts';
import { proven } from '../../../gatekeeper/rooms/proven.ts';
import { question } from '../../gatekeeper/tiny-service.ts';
import { SOLD_TARGETS } from '../../gate.ts';

/** The vectors of two draws as one file, numbered through. */
export function bodiesText(parts: readonly BodyVectors[]): string {
  const rows = parts.flatMap((part) => part.rows);
  return rows.map((row, at) => `${JSON.stringify({ ...row, id: at + 1 })}\n`).join('');
}

/**
 * Writes at least 500 bodies with the verdict that every judge has to come to, as `bodies.ndjson`. The command, the service,
 * the client and signalpress_verify.py judge each of them; where two disagree, the run names it.
 */
export const experiment = campaign(
  { into: '', seed: 24, vectors: 600 },
  async ({ flags, random, say }) => {
    if (flags.into === '') throw new RangeError('Cannot write bodies: name a folder, --into FOLDER');
    const draw = { most: Math.ceil(flags.vectors / 2), random };
    const settled = await settlementVectors(await settlementShop(), draw);
    const shop = await readingShop();
    const last = [...shop.moments.values()].flatMap((served) => served.at(-1) ?? []);
    const parts = [
      settled,
      await readingVectors(shop, await signedTables(shop), draw),
      await readerVectors(readerCases(last, { ...draw, now: shop.now }), shop),
    ];
    const file = join(flags.into, BODIES_NAME);
    mkdirSync(flags.into, { recursive: true });
    writeFileSync(file, bodiesText(parts));
    const rows = parts.flatMap((part) => part.rows);
    const counts = countsOf(rows.map(({ class: name, verdict }) => `${name}, ${verdict}`));
    say(`${rows.length} vectors in ${file}: ${JSON.stringify(counts)}`);
    return parts.flatMap((part) => part.disputed);
  },
);

/** Bodies, baskets and receipts, each with a reader who knows or demands something. */
export function readerCases(
  served: readonly Delivery[],
  { now, random }: Pick<ReadingShop, 'now'> & { readonly random: Random },
): ReaderCase[] {
  const signed = served.filter(({ body }) => body._citation !== undefined);
  const record = defined(
    signed.find(({ target }) => target.startsWith('/gauge?')),
    'a record',
  );
  return [
    ...demandCases(signed, now),
    ...basketCases(signed),
    ...keyCases(record, random),
    ...receiptCases(record),
    ...otherFormCases(record),
  ];
}


// Bodies with the verdict that every judge has to come to: genuine ones, and each way of forging that we know.


/** How many vectors at most, and how they are drawn. */
interface Draw {
  readonly most: number;
  readonly random: Random;
}

/** One in so many vectors is genuine. */
const GENUINE = 5;

/** Vectors of settlement answers. */
export async function settlementVectors(
  shop: SettlementShop,
  { most, random }: Draw,
): Promise<BodyVectors> {
  const trusted = { did: shop.did, service: shop.service, now: SETTLEMENT_NOW };
  const share = Math.ceil(most / GENUINE);
  const forged = settlementForgeries(shop, most - share, random);
  return judged([...genuine(shop.answers, { most: share, random }), ...forged], trusted);
}

/** Vectors of all other bodies, tables among them. */
export async function readingVectors(
  shop: ReadingShop,
  tables: readonly Handed[],
  { most, random }: Draw,
): Promise<BodyVectors> {
  const share = Math.ceil(most / GENUINE);
  const draw = { most: share, random };
  const bodies = [...shop.moments.values()].flat();
  const whole = tables.map(({ target, text }) => ({
    kind: 'genuine table',
    target,
    where: '',
    make: () => text,
  }));
  const ofTables = chosen(
    tables.flatMap((one) => [...csvForgeries(one)]),
    draw,
  );
  const forged = readingForgeries(shop.moments, most - 2 * share - whole.length, random);
  return judged([...genuine(bodies, draw), ...whole, ...ofTables, ...forged], shop);
}

function genuine(bodies: readonly Delivery[], draw: Draw): Forgery[] {
  return chosen(
    bodies.map(({ target, body }) => ({
      kind: 'genuine',
      target,
      where: '',
      make: () => JSON.stringify(body),
    })),
    draw,
  );
}

async function judged(forgeries: readonly Forgery[], trusted: Trusted): Promise<BodyVectors> {
  const handed = forgeries.map((forgery) => ({ ...forgery, text: forgery.make() }));
  const verdicts = await allVerdicts(handed, trusted);
  const rows: BodyVector[] = [];
  const disputed: string[] = [];
  for (const [at, one] of handed.entries()) {
    const stated = verdicts[at];
    // What is beyond the core is judged by more than a vector brings.
    if (stated === undefined || stated.command === BEYOND) continue;
    const row = vectorOf(one, trusted, rows.length + 1);
    if (isOff(one, stated, row))
      disputed.push(`${row.class}: ${row.about}: ${JSON.stringify(stated)}`);
    rows.push(row);
  }
  return { rows, disputed };
}

function vectorOf(
  { kind, target, where, text, isOfIssuer }: Forgery & Handed,
  { did, now }: Trusted,
  id: number,
): BodyVector {
  // What is signed again has no proof that fits.
  const demand = isOfIssuer ? {} : ({ demands_proof: null } as const);
  const demandsProof = isOfIssuer ? false : undefined;
  const { verdict, checks } = verify(text, { issuer: did, now, demandsProof });
  if (verdict === 'issuer_unknown') throw new TypeError(`An issuer was given: "${verdict}"`);
  const failed = checks.find(({ status }) => status === 'fail');
  const about = where === '' ? target : `${target} ${where}`;
  const check = failed?.check ?? null;
  const reader = { issuer: did, now: isoTime(now), ...demand };
  return { id, class: kind, about, text, ...reader, verdict, check };
}

/** Whether the judges disagree, or what is genuine is not taken. */
function isOff(forgery: Forgery & Handed, stated: Verdicts, row: BodyVector): boolean {
  if (row.class.startsWith('genuine') && row.verdict !== 'verified') return true;
  const isTable = row.class.includes('table');
  return isDisputed({ ...forgery, stated: isTable ? tableVerdicts(stated, row) : stated });
}

/** The service judges no table without a signature. */
function tableVerdicts(stated: Verdicts, { verdict }: BodyVector): Verdicts {
  return verdict === 'unsigned' ? { ...stated, service: stated.command } : stated;
}

const LINE_END = '\r\n';

/** A signed series as CSV with one thing changed, which nobody may believe. */
function* csvForgeries({ target, text }: Handed): Generator<Forgery> {
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

/** The series of a shop as signed tables, also with the hash core of each row. */
export async function signedTables({ service }: Pick<ReadingShop, 'service'>): Promise<Handed[]> {
  const tables: Handed[] = [];
  const [series] = SOLD_TARGETS.filter((one) => one.startsWith('/gauge/history-series'));
  if (series === undefined) throw new Error('Cannot find a series among the operations');
  for (const more of ['', '&verifiable=1']) {
    const target = `${series}&format=csv-signed${more}`;
    const asked = question(target);
    const answered = await answer(asked, service);
    if (answered.kind !== 'content') throw new Error(`Cannot sell "${target}": no table`);
    const { body } = await proven(answered.content, asked, service);
    tables.push({ target, text: body.toString('utf8') });
  }
  return tables;
}
