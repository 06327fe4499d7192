// Bodies with the verdict that every judge has to come to: genuine ones, and each way of forging that we know.

import { verify } from '../../../compiler/client/verify.ts';
import { isoTime } from '../../../compiler/contract/iso-time.ts';
import type { Delivery, Forgery, Handed, Trusted } from '../forgeries/forgery.ts';
import { allVerdicts, OF_CATALOG, UNREADABLE, type Verdicts } from '../forgeries/judges.ts';
import { chosen, readingForgeries, settlementForgeries } from '../forgeries/plan.ts';
import type { ReadingShop } from '../forgeries/reading-shop.ts';
import { isDisputed } from '../forgeries/run-forgeries.ts';
import { SETTLEMENT_NOW, type SettlementShop } from '../forgeries/settlement-shop.ts';
import type { Random } from '../forgeries/spliced-answers.ts';
import type { BodyVector, BodyVectors } from './body-vector.ts';
import { csvForgeries } from './csv-forgeries.ts';

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
    // Whether a class lights a leg is for the catalogue to say, which no vector brings.
    if (stated === undefined || stated.command === OF_CATALOG) continue;
    const row = vectorOf(one, trusted, rows.length + 1);
    if (isOff(one, stated, row))
      disputed.push(`${row.class}: ${row.about}: ${JSON.stringify(stated)}`);
    rows.push(row);
  }
  return { rows, disputed };
}

function vectorOf(
  { kind, target, where, text }: Forgery & Handed,
  { did, now }: Trusted,
  id: number,
): BodyVector {
  const { verdict, checks } = verify(text, { issuer: did, now, demandsProof: false });
  if (verdict === 'issuer_unknown' || verdict === 'unproven')
    throw new TypeError(`An issuer was given, and no proof demanded: "${verdict}"`);
  const failed = checks.find(({ status }) => status === 'fail');
  const about = where === '' ? target : `${target} ${where}`;
  const check = failed?.check ?? null;
  return { id, class: kind, about, text, issuer: did, now: isoTime(now), verdict, check };
}

/** Whether the judges disagree, or what is genuine is not taken. */
function isOff(forgery: Forgery & Handed, stated: Verdicts, row: BodyVector): boolean {
  if (row.class.startsWith('genuine') && row.verdict !== 'verified') return true;
  const isTable = row.class.includes('table');
  return isDisputed({ ...forgery, stated: isTable ? tableVerdicts(stated, row) : stated });
}

/** The service judges JSON alone, and for the command a table without a signature is no body. */
function tableVerdicts(stated: Verdicts, { verdict }: BodyVector): Verdicts {
  const isUnsigned = stated.command === UNREADABLE && verdict === 'unsigned';
  const command = isUnsigned ? verdict : stated.command;
  return { ...stated, command, service: command, library: verdict };
}
