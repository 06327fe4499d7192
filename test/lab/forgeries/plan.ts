import {
  type Delivery,
  editedValues,
  type Forgery,
  type Moments,
  mixedMoments,
  otherProofs,
  otherSpellings,
  type Random,
  signedAgain,
  spliced,
  transplants,
  wrongMoments,
} from './body-forgeries.ts';
import type { SettlementShop } from './shops.ts';

/** Other answers that each answer is mixed with. */
const PARTNERS = 8;
const SPLICES = 40;
const MIXES = 60;

/** A random choice of as many forgeries as wanted, in the order in which they come. */
export function chosen(
  forgeries: Iterable<Forgery>,
  { most, random }: { readonly most: number; readonly random: Random },
): Forgery[] {
  const kept: Forgery[] = [];
  let met = 0;
  for (const forgery of forgeries) {
    met += 1;
    if (kept.length < most) kept.push(forgery);
    else {
      const at = random(met);
      if (at < most) kept[at] = forgery;
    }
  }
  return kept;
}

/** How many forgeries of each kind. */
type Shares = Readonly<Record<string, number>>;

const SETTLEMENT_SHARES: Shares = {
  edited: 30,
  spelled: 8,
  transplanted: 16,
  spliced: 16,
  moved: 20,
  proofs: 10,
};

const READING_SHARES: Shares = {
  edited: 30,
  spelled: 8,
  moments: 18,
  mixed: 12,
  proofs: 8,
  signed: 24,
};

/** Forgeries of settlement answers. */
export function settlementForgeries(shop: SettlementShop, most: number, random: Random): Forgery[] {
  const { answers } = shop;
  const partners = (): Delivery[] =>
    Array.from({ length: PARTNERS }, () => answers[random(answers.length)]).flatMap(
      (one) => one ?? [],
    );
  const pairs = function* (make: (one: Delivery, other: Delivery) => Iterable<Forgery>) {
    for (const one of answers) for (const other of partners()) yield* make(one, other);
  };
  const each = function* (make: (one: Delivery) => Iterable<Forgery>) {
    for (const one of answers) yield* make(one);
  };
  return taken(
    SETTLEMENT_SHARES,
    { most, random },
    {
      edited: each(editedValues),
      spelled: each(otherSpellings),
      transplanted: pairs(transplants),
      spliced: pairs((one, other) => times(SPLICES / PARTNERS, () => spliced(one, other, random))),
      moved: pairs(movedAnswers),
      proofs: pairs(otherProofs),
    },
  );
}

/** A true answer handed out for the request of another one, as it is and with what that request has given back. */
function* movedAnswers({ body }: Delivery, { target, body: other }: Delivery): Generator<Forgery> {
  const kind = 'answer to another request';
  const { cutoff_time = null, market_or_event = null } = other;
  yield { kind, target, where: 'as it is', make: () => JSON.stringify(body) };
  const echoed = { ...body, cutoff_time, market_or_event };
  yield { kind, target, where: 'with its echoes', make: () => JSON.stringify(echoed) };
}

/** Forgeries of all other bodies. */
export function readingForgeries(moments: Moments, most: number, random: Random): Forgery[] {
  const bodies = [...moments.values()];
  const each = function* (make: (one: Delivery) => Iterable<Forgery>) {
    for (const one of bodies.flat()) yield* make(one);
  };
  const mixes = function* () {
    for (const [early, ...later] of bodies) {
      for (const late of later) {
        if (early !== undefined) yield* times(MIXES, () => mixedMoments(early, late, random));
      }
    }
  };
  const proofs = function* () {
    for (const one of bodies.flat()) {
      const [other] = bodies[random(bodies.length)] ?? [];
      if (other !== undefined) yield* otherProofs(one, other);
    }
  };
  return taken(
    READING_SHARES,
    { most, random },
    {
      edited: each(editedValues),
      spelled: each(otherSpellings),
      moments: each(wrongMoments),
      mixed: mixes(),
      proofs: proofs(),
      signed: each(signedAgain),
    },
  );
}

function* times(count: number, make: () => Forgery | null): Generator<Forgery> {
  for (let at = 0; at < count; at += 1) {
    const made = make();
    if (made !== null) yield made;
  }
}

function taken(
  shares: Shares,
  { most, random }: { readonly most: number; readonly random: Random },
  sources: Readonly<Record<string, Iterable<Forgery>>>,
): Forgery[] {
  return Object.entries(shares).flatMap(([name, percent]) =>
    chosen(sources[name] ?? [], { most: Math.ceil((most * percent) / 100), random }),
  );
}
