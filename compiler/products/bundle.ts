import type { Statement } from '../format/citation.ts';
import { defined } from '../format/errors.ts';
import {
  bundleBody,
  type LegReading,
  legReadings,
  placeLegs,
  thinBundle,
  timesOf,
} from './shapes/bundle.ts';
import type { Line } from './shapes/line.ts';
import { type JoinedMaker, oneOf, type Product, text, thin } from './shapes/product.ts';
import { knownName } from './shapes/reading-text.ts';
import { type Bundle, bundleSchema, thinBundleSchema } from './shapes/record.ts';

const EXAMPLES_MAX = 3;
/** Folder of the bundles of all lines. */
export const BUNDLE_FOLDER = 'bundle/';

/** What all bundles have in common. */
export const BUNDLE = {
  method: 'GET',
  paid: true,
  token: false,
  tag: '[3-LEG]',
  kind: 'bundles',
  answer: 'file',
  body: bundleSchema,
  forms: { thin: { body: thinBundleSchema } },
} as const satisfies Partial<Product>;

/** The bundle of a line, whose parameter takes the entities of that line; null for a line without one. */
export function bundleOf(line: Line): Product | null {
  const { id, title, bundle, entities, entityAliases: aliases, upperCase } = line;
  if (bundle === undefined) return null;
  const { path, param } = bundle;
  const legs = bundle.legs.map(({ name }) => name).join(', then ');
  const open = {
    ...text(`one of the ${title}`, ...entities.slice(0, EXAMPLES_MAX)),
    ...(aliases ? { aliases } : {}),
    ...(upperCase ? { upperCase } : {}),
  };
  const subject = line.open ? open : oneOf(`one of the ${title}`, entities);
  return {
    ...BUNDLE,
    ofJoined: bundleMaker(line),
    forms: { thin: { ...BUNDLE.forms.thin, ofJoined: thinMaker(line) } },
    path,
    params: { [param]: subject, format: thin },
    file: `${BUNDLE_FOLDER}${id}/{${param}}.json`,
    summary: `${title}: ${legs}, in causal order`,
    guide: `Answers how the latest readings of ${title} stand together: ${legs}. Not one leg alone or past values, and no score.`,
  };
}

function bundleMaker(line: Line): JoinedMaker {
  return (subject, { namedByLine, leg, subjects }) => {
    const placed = placeLegs(line, subject, leg);
    const legs = legReadings(placed);
    const name = knownName({ named: namedByLine.get(line.id) ?? {} }, subject);
    const body = bundleBody(line, { subject, name, placed, subjects: subjects() });
    return body && { body, statement: bundleStatement(line, body, legs) };
  };
}

function thinMaker(line: Line): JoinedMaker {
  return (subject, { leg, usual }) => {
    if (usual === null) return null;
    const bundle = usual as Bundle;
    const legs = legReadings(placeLegs(line, subject, leg));
    return { body: thinBundle(bundle), statement: thinBundleStatement(line, bundle, legs) };
  };
}

/** What the citation of a bundle says. */
function bundleStatement(line: Line, bundle: Bundle, legs: readonly LegReading[]): Statement {
  const { path, param } = defined(line.bundle, 'the bundle of the line');
  const subject = defined(bundle.location ?? bundle.entity, 'the subject of the bundle');
  return {
    claim: `${line.title}: joined readings of ${subject}, in causal order`,
    fact: bundle.cross_line_narrative,
    target: `${path}?${param}=${encodeURIComponent(subject)}`,
    ...timesOf(legs),
  };
}

/** What the citation of the short form says; the legs themselves say what they read. */
function thinBundleStatement(line: Line, bundle: Bundle, legs: readonly LegReading[]): Statement {
  const { target, ...statement } = bundleStatement(line, bundle, legs);
  const { count, of } = bundle.legs_lit;
  return {
    ...statement,
    claim: `joined readings of ${bundle.location ?? bundle.entity}`,
    fact: `${count} of ${of} legs lit`,
    target: `${target}&format=thin`,
  };
}
