import { canonicalJson } from '../format/canonical.ts';
import { defined } from '../format/errors.ts';
import { TABLE } from '../products/products.ts';
import type { Units } from '../products/shapes/line.ts';
import { CLASS } from '../products/shapes/rulers.ts';
import { metricsIn } from '../products/shapes/say.ts';
import { missingBasis, SIGNAL_TERMS } from '../products/signal-products.ts';
import { BUILTIN } from './builtin.ts';
import {
  type CatalogFault,
  type CatalogFile,
  type LineRow,
  meantOr,
  type NamedFile,
  type PlaceRow,
  pointerOf,
  type RulerRow,
  type SignalRow,
  type UnitRow,
} from './catalog-file.ts';
import { BUNDLE_PRICE, neededFor, userOf } from './operations.ts';
import { BUILTIN_UNITS, metricUnit, unitsOf } from './units.ts';

// What the format of one file cannot say: that rows of a whole catalogue fit each other. Everything is looked at, and every
// fault names the member to change.

type Path = readonly PropertyKey[];
/** Takes the path of a member below the row, and what is wrong with it. */
type Report = (at: Path, reason: string) => void;

interface Placed<Row> {
  readonly row: Row;
  readonly report: Report;
}

type Rows = ReturnType<typeof rowsOf>;

/** Every fault between the rows of a catalogue whose files have the format; empty where all fit. */
export function catalogFaults(files: readonly NamedFile<CatalogFile>[]): CatalogFault[] {
  const faults: CatalogFault[] = [];
  const rows = rowsOf(files, faults);
  const [first] = files;
  for (const { file, value } of files) {
    if (first === undefined || value.extends === first.value.extends) continue;
    const reason = `differs from "${first.file}"; write the same in all files of a catalogue`;
    faults.push({ file, pointer: '/extends', reason });
  }
  const rulers = new Map(rows.rulers.map(({ name, row }) => [name, row]));
  const units = unitsOf(files.map(({ value }) => value));
  for (const placed of rows.units) checkUnit(placed, units);
  for (const placed of rows.rulers) checkRuler(placed, rulers);
  for (const placed of rows.lines) checkLine(placed, { rulers, units });
  checkTwice(rows);
  checkPrices(rows);
  checkTerms(rows);
  checkLeftOut(rows);
  checkDiscounts(rows);
  checkAliases(rows);
  if (first?.value.extends === null) checkPriced(rows);
  return faults;
}

function rowsOf(files: readonly NamedFile<CatalogFile>[], faults: CatalogFault[]) {
  const placed = <Row>(file: string, path: Path, row: Row): Placed<Row> => ({
    row,
    report: (at, reason) => {
      faults.push({ file, pointer: pointerOf([...path, ...at]), reason });
    },
  });
  const named = <Row>(file: string, member: string, rows: Readonly<Record<string, Row>> = {}) =>
    Object.entries(rows).map(([name, row]) => ({ name, ...placed(file, [member, name], row) }));
  const listed = <Row>(file: string, member: string, rows: readonly Row[] = []) =>
    rows.map((row, at) => placed(file, [member, at], row));
  return {
    units: files.flatMap(({ file, value }) => named(file, 'units', value.units)),
    rulers: files.flatMap(({ file, value }) => named(file, 'rulers', value.rulers)),
    lines: files.flatMap(({ file, value }) => listed(file, 'lines', value.lines)),
    prices: files.flatMap(({ file, value }) => named(file, 'prices', value.prices)),
    leftOut: files.flatMap(({ file, value }) => listed(file, 'leftOut', value.leftOut)),
    discounts: files.flatMap(({ file, value: { humanTrack: track } }) =>
      track === undefined ? [] : [placed(file, ['humanTrack'], track)],
    ),
    aliases: files.flatMap(({ file, value }) => named(file, 'aliases', value.aliases)),
  };
}

function checkTwice({ units, rulers, lines }: Rows): void {
  const once = { unit: names(), ruler: names(), line: names(), signal: names(), path: names() };
  for (const { name, report } of units) once.unit(name, () => report([], twice('unit', name)));
  for (const { name, report } of rulers) once.ruler(name, () => report([], twice('ruler', name)));
  for (const { row, report } of lines) {
    once.line(row.id, () => report(['id'], twice('line', row.id)));
    for (const { id, at } of signalPlaces(row)) {
      once.signal(id, () => report(at, twice('signal', id)));
    }
    const bundle = bundleAt(row);
    if (bundle === null) continue;
    once.path(bundle.path, () => report(bundle.at, twice('bundle', bundle.path)));
    if (TABLE.some(({ path }) => path === bundle.path)) {
      report(bundle.at, `"${bundle.path}" is an operation of its own; write another path`);
    }
  }
}

/** The path at which a line sells its bundle, with the member that names it; null where it has none. */
function bundleAt(row: LineRow): { readonly path: string; readonly at: Path } | null {
  const place = row.bundle === undefined ? 'lifecycle' : 'bundle';
  const path = row[place]?.path;
  return path === undefined ? null : { path, at: [place, 'path'] };
}

function bundlePaths(lines: Rows['lines']): string[] {
  return lines.flatMap(({ row }) => bundleAt(row)?.path ?? []);
}

/** A price is that of one operation which costs, of a bundle, or of all bundles. */
function checkPrices({ lines, prices }: Rows): void {
  const once = names();
  const paths = (isPaid: boolean): string[] =>
    TABLE.filter(({ paid }) => paid === isPaid).map(({ path }) => path);
  const [paid, free] = [paths(true), paths(false)];
  const known = [BUNDLE_PRICE, ...paid, ...bundlePaths(lines)];
  for (const { name, report } of prices) {
    once(name, () => report([], `a second price of "${name}"; remove one`));
    if (free.includes(name)) report([], `"${name}" is free; remove its price`);
    else if (!known.includes(name)) report([], unknown('operation', name, asDeep(name, known)));
  }
}

/** Words for a line, a signal, an entity of a line, or an operation; each of them in one file. */
function checkAliases({ lines, aliases }: Rows): void {
  const once = names();
  const rows = lines.map(({ row }) => row);
  const signals = rows.flatMap((row) => signalPlaces(row).map(({ id }) => id));
  const operations = [...TABLE.map(({ path }) => path), ...bundlePaths(lines)];
  const known = [...rows.map(({ id }) => id), ...signals, ...operations];
  const entities = rows.flatMap(({ id, entities: own, places = [] }) =>
    [...own, ...places].map((row) => `${id}/${typeof row === 'string' ? row : row.id}`),
  );
  const all = new Set<string>([...known, ...entities]);
  // What tells a path, a signal and a line from each other.
  const separatorOf = (name: string): string | undefined => /[./]/.exec(name)?.[0];
  for (const { name, report } of aliases) {
    once(name, () => report([], twice('list of aliases of', name)));
    if (all.has(name) || rows.some((row) => isOpenEntity(name, row))) continue;
    const alike = known.filter((one) => separatorOf(one) === separatorOf(name));
    const advice = meantOr(name, alike, 'write the id of a line or signal, line/entity, or a path');
    report([], `nothing in the catalogue is called "${name}"; ${advice}`);
  }
}

function isOpenEntity(name: string, { id, open, lifecycle, signals }: LineRow): boolean {
  const takesAny = open === true || lifecycle !== undefined;
  const isOpen = takesAny || signals?.some(({ entities }) => entities === 'open') === true;
  return isOpen && name.startsWith(`${id}/`) && name.length > id.length + 1;
}

/** Paths of as many segments as another: of more or fewer, one is only the start of the other. */
function asDeep(path: string, known: readonly string[]): string[] {
  const depth = path.split('/').length;
  return known.filter((one) => one.split('/').length === depth);
}

/** Where nothing is taken over, each bundle needs a price of these files. */
function checkPriced({ lines, prices, leftOut }: Rows): void {
  const priced = new Set([...prices.map(({ name }) => name), ...leftOut.map(({ row }) => row)]);
  if (priced.has(BUNDLE_PRICE)) return;
  for (const { row, report } of lines) {
    const bundle = bundleAt(row);
    if (bundle === null || priced.has(bundle.path)) continue;
    const advice = `add it to "prices", or "${BUNDLE_PRICE}" for all bundles`;
    report(bundle.at, `"${bundle.path}" has no price; ${advice}`);
  }
}

/** What a signal says of its prices fits the products that it has, and those that the catalogue sells. */
function checkTerms({ lines, prices }: Rows): void {
  const priced = new Set(prices.map(({ name }) => name));
  for (const { row, report } of lines) {
    for (const [at, signal] of (row.signals ?? []).entries()) {
      const { free = [] } = signal;
      const given = free.map((product, index) => ({ product, at: ['free', index] }));
      const sold = Object.keys(signal.prices ?? {}).map((name) => {
        return { product: name, at: ['prices', name] };
      });
      const say = (member: Path, reason: string | null): void => {
        if (reason !== null) report(['signals', at, ...member], reason);
      };
      for (const [index, one] of given.entries()) say(one.at, freeReason(one.product, index, free));
      for (const one of sold) say(one.at, priceReason(one.product, free));
      for (const one of [...given, ...sold]) say(one.at, absentReason(one.product, signal, priced));
    }
  }
}

function freeReason(product: string, index: number, free: readonly string[]) {
  if (free.indexOf(product) !== index) return `a second "${product}"; remove it`;
  if (SIGNAL_TERMS.get(product)?.term.holdsLatest !== true || free.includes('latest')) return null;
  return `"${product}" holds the latest readings, which are sold; add "latest", or remove it`;
}

function priceReason(product: string, free: readonly string[]): string | null {
  if (free.includes(product)) return `"${product}" is free too; remove one of both`;
  if (SIGNAL_TERMS.get(product)?.term.isPart !== true || !free.includes('latest')) return null;
  return `"${product}" repeats a part of the latest record, which is free; remove its price`;
}

function absentReason(product: string, signal: SignalRow, priced: ReadonlySet<string>) {
  const { path } = defined(SIGNAL_TERMS.get(product), 'the product of the word');
  const lack = missingBasis({ path }, signal);
  if (lack !== null) return `there is no "${product}": the signal ${lack}; remove it`;
  if (priced.has(path)) return null;
  return `"${path}" is not sold of any signal; add its price to the "prices" of the catalogue`;
}

/** Only what nobody needs is left out, and what an operation needs is there with it. */
function checkLeftOut({ lines, leftOut }: Rows): void {
  const once = names();
  const known = [...TABLE.map(({ path }): string => path), ...bundlePaths(lines)];
  const gone = new Set(leftOut.map(({ row }) => row));
  const left = new Set(known.filter((path) => !gone.has(path)));
  for (const { row, report } of leftOut) {
    once(row, () => report([], twice('entry', row)));
    const needed = neededFor(row);
    const user = userOf(row, left);
    if (!known.includes(row)) report([], unknown('operation', row, asDeep(row, known)));
    else if (needed !== null) report([], `"${row}" stays: ${needed}; remove it here`);
    else if (user !== null) report([], `"${user}" needs "${row}"; leave out both, or none`);
  }
}

function checkDiscounts({ discounts }: Rows): void {
  for (const { report } of discounts.slice(1)) {
    report([], 'a second "humanTrack"; write it in one file');
  }
  for (const { row, report } of discounts) {
    const phases = row.map(({ phase }) => phase);
    for (const [at, { phase, until }] of row.entries()) {
      if (phases.indexOf(phase) !== at) report([at, 'phase'], twice('phase', phase));
      const before = row[at - 1];
      if (before === undefined || until > before.until) continue;
      report([at, 'until'], `${until} is not after ${before.until}; correct the order`);
    }
  }
}

function names() {
  const known = new Set<string>();
  return (name: string, again: () => void): void => {
    if (known.has(name)) again();
    known.add(name);
  };
}

function twice(kind: string, name: string): string {
  return `a second ${kind} "${name}"; rename one, or remove it`;
}

function unknown(kind: string, id: string, known: Iterable<string>): string {
  return `no ${kind} "${id}" is in the catalogue; ${meantOr(id, [...known], 'add it, or correct the name')}`;
}

function signalPlaces({ id: line, signals = [], lifecycle }: LineRow) {
  if (lifecycle === undefined) {
    return signals.map(({ id }, at) => ({ id, at: ['signals', at, 'id'] }));
  }
  const own = ['lifecycle', 'industry-timeline'].map((name) => {
    return { id: `${line}.${name}`, at: ['id'] };
  });
  const legs = lifecycle.legs.map(({ name }, at) => {
    return { id: `${line}.${name}`, at: ['lifecycle', 'legs', at, 'name'] };
  });
  return [...own, ...legs];
}

/** A unit of a publisher adds to the built-in ones: what a metric of the built-in catalogue is in stays as it is. */
function checkUnit({ name, row, report }: Placed<UnitRow> & { name: string }, units: Units): void {
  const { range } = row;
  if (range?.to !== undefined && range.to <= range.from) {
    report(['range', 'to'], `${range.to} is not above ${range.from}; correct it`);
  }
  const builtin = BUILTIN_UNITS.get(name);
  if (builtin !== undefined) {
    if (canonicalJson({ symbol: name, ...row }) === canonicalJson(builtin)) return;
    report([], `"${name}" is the built-in unit "${builtin.name}"; write another symbol`);
    return;
  }
  const metrics = BUILTIN.signals.flatMap((signal) => signal.metrics);
  const taken = metrics.find((metric) => metricUnit(metric, units)?.symbol === name);
  if (taken === undefined) return;
  const before = metricUnit(taken, BUILTIN_UNITS)?.symbol;
  report([], `changes the unit of "${taken}", which is "${before}"; write another symbol`);
}

type Rulers = ReadonlyMap<string, RulerRow>;

interface Known {
  readonly rulers: Rulers;
  readonly units: Units;
}

function checkRuler({ row, report }: Placed<RulerRow>, rulers: Rulers): void {
  const { steps, direction, actionBand, beside } = row;
  const bands = steps.map(({ band }) => band);
  const sign = direction === 'up' ? 1 : -1;
  const order = direction === 'up' ? 'rising' : 'falling';
  for (const [at, { at: edge }] of steps.entries()) {
    const before = steps[at - 1];
    if (before === undefined || sign * edge >= sign * before.at) continue;
    const advice = `write the steps ${order}, from the mildest class to the worst`;
    report(['steps', at, 'at'], `${edge} comes after ${before.at}; ${advice}`);
  }
  for (const [at, band] of bands.entries()) {
    if (bands.indexOf(band) !== at) report(['steps', at, 'band'], twice('class', band));
  }
  if (actionBand !== null && !bands.includes(actionBand)) {
    const advice = meantOr(actionBand, bands, `write one of ${bands.join(', ')}, or null`);
    report(['actionBand'], `"${actionBand}" is no step; ${advice}`);
  }
  if ((row.agency === undefined) !== (row.document === undefined)) {
    const [has, lacks] = row.agency === undefined ? ['document', 'agency'] : ['agency', 'document'];
    report([has], `is alone; add "${lacks}", for an official scale has both, or remove it`);
  }
  const fault = beside === undefined ? null : besideFault(beside, bands, rulers);
  if (fault !== null) report(['beside'], fault);
}

function besideFault(id: string, bands: readonly string[], rulers: Rulers): string | null {
  const other = rulers.get(id);
  if (other === undefined) return unknown('ruler', id, rulers.keys());
  if (other.beside !== undefined) {
    return `"${id}" has one beside it too; remove one, for only two may stand beside each other`;
  }
  return other.steps.map(({ band }) => band).join(', ') === bands.join(', ')
    ? null
    : `"${id}" has other classes; give both the same ones in the same order`;
}

function checkLine(placed: Placed<LineRow>, known: Known): void {
  const { row, report } = placed;
  const { signals, lifecycle } = row;
  const below = (...at: Path): Report => {
    return (member, reason) => report([...at, ...member], reason);
  };
  if ((signals === undefined) === (lifecycle === undefined)) {
    report([], 'needs either "signals" or "lifecycle"; write one of them');
  }
  if (lifecycle !== undefined) {
    for (const name of ['bundle', 'open', 'entityOf'] as const) {
      if (row[name] === undefined) continue;
      report([name], 'a line with "lifecycle" has one already; remove it');
    }
    for (const [at, leg] of lifecycle.legs.entries()) {
      const legBelow = below('lifecycle', 'legs', at);
      checkMetrics({ row: leg.metrics, report: legBelow }, known);
      checkWords({ row: leg, report: legBelow }, known);
    }
  }
  for (const [at, signal] of (signals ?? []).entries()) {
    checkSignal({ row: signal, report: below('signals', at) }, known);
  }
  checkPlaces(placed);
  checkLegs(placed);
}

function checkSignal({ row, report }: Placed<SignalRow>, { rulers, units }: Known): void {
  const { metrics, range, ownThresholds, bands } = row;
  checkMetrics({ row: metrics, report }, { units });
  checkWords({ row, report }, { units });
  if (range?.to !== undefined && range.to <= range.from) {
    report(['range', 'to'], `${range.to} is not above ${range.from}; correct it`);
  }
  if (row.rulers !== undefined && ownThresholds !== undefined) {
    const reason = 'a signal has rulers or thresholds of its readings, not both; remove one';
    report(['ownThresholds'], reason);
  }
  for (const [at, id] of (row.rulers ?? []).entries()) {
    const ruler = rulers.get(id);
    if (ruler === undefined) {
      report(['rulers', at], unknown('ruler', id, rulers.keys()));
      continue;
    }
    if (![...metrics, CLASS].includes(ruler.metric)) {
      const state = `is about "${ruler.metric}", which is no metric of the signal`;
      report(['rulers', at], `${state}; add it to "metrics"`);
    }
    const steps = ruler.steps.map(({ band }) => band);
    const lacking = steps.filter((band) => bands?.includes(band) === false).join(', ');
    if (lacking === '') continue;
    report(['rulers', at], `has classes that "bands" lacks: ${lacking}; add them`);
  }
}

const UNITS_ADVICE =
  'write it as in level_m or wait_min, or add the unit to "units" of this file; the known ones stand in ' +
  'compiler/catalog/builtin/units.json ("signalpress lines --units")';

/** Whoever reads a number must know its unit; a state is no number. */
function checkMetrics(
  { row: metrics, report }: Placed<readonly string[]>,
  { units }: Pick<Known, 'units'>,
): void {
  for (const [at, name] of metrics.entries()) {
    if (metrics.indexOf(name) !== at) report(['metrics', at], twice('metric', name));
    if (name === 'state' || metricUnit(name, units) !== null) continue;
    report(['metrics', at], `"${name}" ends in no known unit; ${UNITS_ADVICE}`);
  }
}

/** A sentence names numbers that a reading may hold, and one of them says the main metric. */
function checkWords(
  { row: { metrics, words = {} }, report }: Placed<Pick<SignalRow, 'metrics' | 'words'>>,
  { units }: Pick<Known, 'units'>,
): void {
  const { labels = {}, says = [], none = '' } = words;
  const known = [...metrics, ...Object.keys(labels), 'name'];
  for (const name of Object.keys(labels)) {
    if (name === 'state' || metricUnit(name, units) !== null) continue;
    report(['words', 'labels', name], `"${name}" ends in no known unit; ${UNITS_ADVICE}`);
  }
  for (const [at, sentence] of says.entries()) {
    const used = metricsIn(sentence);
    const lacking = used?.find((name) => !known.includes(name));
    if (used === null) {
      report(['words', 'says', at], 'has braces that hold no metric; write it as in {level_m}');
    } else if (lacking !== undefined) {
      const advice = meantOr(lacking, known, 'give it a label in "labels"');
      report(['words', 'says', at], `"${lacking}" is no metric of the signal; ${advice}`);
    }
  }
  if (metricsIn(none)?.every((name) => name === 'name') !== true) {
    report(['words', 'none'], 'is said without a value; leave out all braces but {name}');
  }
  const [main] = metrics;
  if (says.length === 0 || says.some((sentence) => metricsIn(sentence)?.includes(main))) return;
  report(['words', 'says'], `no sentence holds the main metric; write one with {${main}}`);
}

function checkPlaces({ row: line, report }: Placed<LineRow>): void {
  const once = names();
  const zones = new Map<string, Path>();
  const placesIn = (list: 'entities' | 'places') =>
    (line[list] ?? []).map((entity, index) => {
      const own: Partial<PlaceRow> & { id: string } =
        typeof entity === 'string' ? { id: entity } : entity;
      return { ...own, at: [list, index] };
    });
  for (const entity of [...placesIn('entities'), ...placesIn('places')]) {
    const { id, latitude, longitude, zone, at } = entity;
    once(id, () => report(at, twice('entity', id)));
    if (line.upperCase === true && id !== id.toUpperCase()) {
      report(at, `"${id}" is not upper case, as the line demands; write it in capitals`);
    }
    if ((latitude === undefined) !== (longitude === undefined)) {
      report(at, 'has one of latitude and longitude; write both, or none');
    }
    if (zone !== undefined && !zones.has(zone)) zones.set(zone, [...at, 'zone']);
  }
  for (const [zone, at] of zones) {
    if (isZone(zone)) continue;
    report(at, `"${zone}" is no time zone; write one such as Europe/Berlin`);
  }
}

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

function checkLegs({ row, report }: Placed<LineRow>): void {
  const signals = new Set(row.signals?.map(({ id }) => id));
  const entities = new Set(row.entities.map((each) => (typeof each === 'string' ? each : each.id)));
  const once = names();
  const strange = (id: string): string =>
    `not a signal of this line; ${meantOr(id, [...signals], 'correct it')}`;
  for (const [at, leg] of (row.bundle?.legs ?? []).entries()) {
    for (const [index, id] of leg.signals.entries()) {
      const where = ['bundle', 'legs', at, 'signals', index];
      if (!signals.has(id)) report(where, strange(id));
      once(id, () => report(where, twice('leg of', id)));
    }
  }
  for (const [at, map] of (row.entityOf ?? []).entries()) {
    for (const [index, id] of map.signals.entries()) {
      if (!signals.has(id)) report(['entityOf', at, 'signals', index], strange(id));
    }
    for (const id of Object.keys(map.entities)) {
      if (entities.has(id)) continue;
      const advice = meantOr(id, [...entities], 'add it to "entities"');
      report(['entityOf', at, 'entities', id], `not an entity of this line; ${advice}`);
    }
  }
}
