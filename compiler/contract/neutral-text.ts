import { LINES, type Line } from './lines.ts';

/**
 * Words of a sentence that looks ahead or tells people what to do. Compiled sentences hold none of them, and no stored
 * document may bring one in.
 */
const WORDS =
  /\b(?:forecast\w*|predict\w*|outlook|projected|recommend\w*|advi[sc]e[sd]?|advisory|advisable|should|ought|must (?:buy|sell|avoid|hold)|buy|sell|will (?:rise|fall|recover|fail|default|increase|decrease|continue|default)|(?:is|are) (?:likely|expected|set) to|likely|unlikely|expect(?:s|ed)?|probably|undervalued|overvalued|bullish|bearish|safe bet|best choice)\b/iu;

/** A denial (`no forecast, no judgement`, `never advises`, `not a prediction`) and `not_advice` assert nothing. */
const DENIAL =
  /\b(?:no|not|never|without|neither|nor|cannot|does not|is not)\b(?: (?:a|an|any|the|of))?[- _](?:forecast\w*|predict\w*|recommend\w*|advi[sc]e[sd]?|advisory|buy|sell)\b/giu;

/** Names of official products, such as the outlook categories of an agency, are names and no sentences of ours. */
const NAMES: readonly string[] = (LINES as readonly Line[])
  .flatMap((row) => [
    row.title,
    ...row.signals.flatMap((signal) => [signal.id, signal.measures, ...signal.metrics]),
    ...row.signals.map((signal) => signal.id.slice(signal.id.indexOf('.') + 1)),
    ...(row.bundle?.legs.map((leg) => leg.name) ?? []),
  ])
  .filter((name) => WORDS.test(name))
  .sort((a, b) => b.length - a.length);

/** The first word of a text that forecasts, advises or recommends, or null; denials and names of the table are left aside. */
export function assertingWord(text: string): string | null {
  if (!WORDS.test(text)) return null;
  let rest = text;
  for (const name of NAMES) rest = rest.replaceAll(name, ' ');
  return WORDS.exec(rest.replace(DENIAL, ' '))?.[0] ?? null;
}
