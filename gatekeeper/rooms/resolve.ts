import { parseCutoff } from '../../compiler/format/cutoff.ts';
import { defined } from '../../compiler/format/errors.ts';
import { firstWhere } from '../../compiler/format/lists.ts';
import { withEchoes } from '../../compiler/format/settlement-echoes.ts';
import { canonicalForm, cikOf, isEventClass } from '../../compiler/products/shapes/filing.ts';
import {
  FILERS_PATH,
  type FilerLine,
  LATER_FILE,
  parseFilerLine,
  restFile,
  type SettlementIndex,
  type SettlementPath,
  settlementIndexPath,
  settlementPath,
} from '../../compiler/products/shapes/filing-index.ts';
import { listName } from '../../compiler/products/shapes/filing-lists.ts';
import { cutoffOrder, endOfLook } from '../../compiler/products/shapes/settlement-intervals.ts';
import {
  type Answered,
  IS_THERE,
  MISS,
  type Question,
  type Service,
} from '../heart/answers/service.ts';
import { noCharge } from '../heart/offer/no-charge.ts';
import { lineOf, lineStarts } from '../heart/release/listed-files.ts';
import {
  perRelease,
  type ReleaseIndex,
  type ReleaseReader,
} from '../heart/release/release-index.ts';
import { costOfParsing, FOR_EVERYBODY } from '../wire/cost.ts';
import { BoundedMap } from '../wire/maps.ts';
import { jsonContent } from './json-content.ts';

/**
 * `/resolve` and `/resolve/proposer`: the signed answer whose interval holds the cutoff, with what nobody signs of the request.
 * Computed, because the cutoff picks the file.
 */
export async function resolve(question: Question, service: Service): Promise<Answered> {
  const { route, spend } = question;
  const { release } = service;
  const { values } = route;
  const illegal = illegalValue(values);
  if (illegal !== null) {
    const fault = { miss: 'illegal_value', missing: [], ...illegal } as const;
    return { kind: 'reply', reply: await noCharge({ ...route, fault }, release) };
  }
  const entity = defined(values.entity, 'the filer');
  const { byCik, byTicker } = await filersOf(release);
  // By ticker or by any spelling of its CIK, in upper case.
  const filer = byTicker.get(entity) ?? byCik.get(cikOf(entity) ?? '');
  const cutoff = parseCutoff(defined(values.cutoff, 'the cutoff'));
  if (filer === undefined || cutoff === null) return MISS;
  const form = canonicalForm(defined(values.form, 'the form'));
  const name = listName(form, values.event_class ?? null);
  const operation = route.endpoint.path as SettlementPath;
  const placeOf = (file: string) => settlementPath(filer.cik, operation, file);
  const index = await settlementIndex(settlementIndexPath(filer.cik, name.form), {
    release,
    spend,
  });
  const list = index?.lists.find(({ event_class }) => event_class === name.event_class);
  const rest = restFile(name.form);
  // Nobody pays for a misspelt form.
  if (list === undefined && !release.has(placeOf(rest))) return MISS;
  if (question.isProbe) return IS_THERE;
  const isLater = cutoffOrder(cutoff, endOfLook(filer.collected_at, cutoff.basis)) >= 0;
  let file: string = isLater ? LATER_FILE : rest;
  if (!isLater && list !== undefined) {
    const intervals = list[cutoff.basis];
    // The first one that begins after the cutoff, which is not after the last, follows the one that holds it.
    const next = firstWhere(intervals.length, (at) => {
      const [from] = defined(intervals[at], 'an interval');
      return cutoffOrder(cutoff, from) < 0;
    });
    [, , file] = defined(intervals[next - 1], 'the interval of the cutoff');
  }
  const { bytes } = await release.body(placeOf(file), spend);
  spend(costOfParsing(bytes.length));
  const echoes = { cutoff_time: cutoff.at, market_or_event: values.market_or_event ?? null };
  return jsonContent(withEchoes(JSON.parse(bytes.toString('utf8')), echoes), 0);
}

/** The first value that no answer can be about, before anything is looked up. */
function illegalValue(values: Question['route']['values']) {
  const { cutoff = '', event_class, form = '', market_or_event = '' } = values;
  if (parseCutoff(cutoff) === null) return { name: 'cutoff', value: cutoff };
  if (event_class !== undefined) {
    const isLegal = isEventClass(canonicalForm(form), event_class);
    if (!isLegal) return { name: 'event_class', value: event_class };
  }
  // JSON that our own verifier reads holds no NUL.
  if (market_or_event.includes('\0')) return { name: 'market_or_event', value: market_or_event };
  return null;
}

/** Bytes of indexes of answers that are kept parsed for one release. */
const INDEXES_BYTES_MAX = 8 * 1024 * 1024;

/** Everybody whose filings are stored. */
const filersOf = perRelease(async (release: ReleaseIndex) => {
  const isStored = release.has(FILERS_PATH);
  const bytes = isStored ? (await release.body(FILERS_PATH, FOR_EVERYBODY)).bytes : Buffer.alloc(0);
  const starts = lineStarts(bytes);
  // Each line is a text of its own: as pieces of one text they would hold all of it.
  const filers = Array.from({ length: starts.length - 1 }, (_, at) =>
    parseFilerLine(lineOf(bytes, starts, at)),
  );
  return {
    byCik: new Map(filers.map((filer) => [filer.cik, filer])),
    byTicker: new Map<string, FilerLine>(
      filers.flatMap((filer) => filer.tickers.map((name) => [name, filer])),
    ),
  };
});

const indexes = perRelease(
  () => new BoundedMap<string, SettlementIndex>({ bytes: INDEXES_BYTES_MAX, isByUse: true }),
);

/** The answers about one form of a filer, at the cost of who makes their index be parsed; null where there is none. */
async function settlementIndex(
  path: string,
  { release, spend }: ReleaseReader,
): Promise<SettlementIndex | null> {
  const kept = indexes(release);
  const known = kept.get(path);
  if (known !== undefined) return known;
  if (!release.has(path)) return null;
  const { bytes } = await release.body(path, spend);
  spend(costOfParsing(bytes.length));
  const made: SettlementIndex = JSON.parse(bytes.toString('utf8'));
  kept.set(path, made, bytes.length);
  return made;
}
