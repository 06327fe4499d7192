import { hiddenFault } from '../format/hidden-signs.ts';
import { LINES } from './builtin.ts';

/**
 * Words of a sentence that looks ahead or tells people what to do. Compiled sentences hold none of them, and nothing that
 * is stored may bring one in.
 */
const WORDS =
  /\b(?:forecast\w*|predict\w*|outlook|projected|recommend\w*|advi[sc]e[sd]?|advisory|advisable|should|ought|must (?:buy|sell|avoid|hold)|buy|sell|will (?:rise|fall|recover|fail|default|increase|decrease|continue|default)|(?:is|are) (?:likely|expected|set) to|likely|unlikely|expect(?:s|ed)?|probably|undervalued|overvalued|bullish|bearish|safe bet|best choice)\b/iu;

/** A denial (`no forecast, no judgement`, `never advises`, `not a prediction`) and `not_advice` assert nothing. */
const DENIAL =
  /\b(?:no|not|never|without|neither|nor|cannot|does not|is not)\b(?: (?:a|an|any|the|of))?[- _](?:forecast\w*|predict\w*|recommend\w*|advi[sc]e[sd]?|advisory|buy|sell)\b/giu;

/** Names of offices, official products and companies that hold such words; registers write them in capitals too. */
const PROPER_NAMES: readonly string[] = [
  'Storm Prediction Center',
  'Weather Prediction Center',
  'Climate Prediction Center',
  'Weather Forecast Office',
  'Medium-Range Weather Forecasts',
  'Global Forecast System',
  'Tropical Weather Outlook',
  'Convective Outlook',
  'Dense Fog Advisory',
  'Flood Advisory',
  'Heat Advisory',
  'Small Craft Advisory',
  'Wind Advisory',
  'Winter Weather Advisory',
  'Best Buy',
  'Buy-Write',
  'Bearish Fund',
  'Bullish Fund',
  'Corporate Advisory',
  'Outlook Therapeutics',
  'Predictive Oncology',
  'Predictmedix',
];
const SPELLED = PROPER_NAMES.flatMap((name) => [name, name.toUpperCase()]);
const PROPER_NAME = new RegExp(`\\b(?:${SPELLED.join('|')})\\b`, 'gu');

/** Names of official products, such as the outlook categories of an agency, are names and no sentences of ours. */
const NAMES: readonly string[] = LINES.flatMap((row) => [
  row.title,
  ...row.signals.flatMap((signal) => [signal.id, signal.measures, ...signal.metrics]),
  ...row.signals.map((signal) => signal.id.slice(signal.id.indexOf('.') + 1)),
  ...(row.bundle?.legs.map((leg) => leg.name) ?? []),
])
  .filter((name) => WORDS.test(name))
  .sort((a, b) => b.length - a.length);

/** The first word of a text that forecasts, advises or recommends, or null; denials and names are left aside. */
export function assertingWord(text: string): string | null {
  if (!WORDS.test(text)) return null;
  let rest = text.replace(PROPER_NAME, ' ');
  for (const name of NAMES) rest = rest.replaceAll(name, ' ');
  return WORDS.exec(rest.replace(DENIAL, ' '))?.[0] ?? null;
}

/** What is wrong with a text that is not stored, since it does not describe or is not read as it stands; null for all others. */
export function neutralFault(text: string): string | null {
  const hidden = hiddenFault(text);
  if (hidden !== null) return hidden;
  const word = assertingWord(text);
  return word === null
    ? null
    : `"${word}" forecasts, advises or recommends; store a description only`;
}
