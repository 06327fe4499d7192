import { TABLE } from '../endpoints.ts';
import { signalTermFaults } from '../products.ts';
import { CLASS } from '../rulers.ts';
import { metricUnit } from '../units.ts';
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
} from './catalog-file.ts';
import { BUNDLE_PRICE, neededFor, userOf } from './operations.ts';

// What the format of one file cannot say: that rows of a whole catalogue fit each other. Everything is looked at, and every
// fault names the member to change.

type Path = readonly PropertyKey[];
type Report = (path: Path, reason: string) => void;

/** A row with its place. */
interface Placed<Row> {
  readonly row: Row;
  readonly path: Path;
  readonly report: Report;
}

/** All rows of the files, with their places. */
interface Rows {
  readonly rulers: readonly (Placed<RulerRow> & { readonly id: string })[];
  readonly lines: readonly Placed<LineRow>[];
  readonly prices: readonly (Placed<string> & { readonly name: string })[];
  readonly leftOut: readonly Placed<string>[];
  readonly discounts: readonly Placed<Discounts>[];
  readonly aliases: readonly (Placed<readonly string[]> & { readonly name: string })[];
}

type Discounts = NonNullable<CatalogFile['humanTrack']>;

/** Every fault between the rows of a catalogue whose files have the format; empty where all fit. */
export function catalogFaults(files: readonly NamedFile<CatalogFile>[]): CatalogFault[] {
  const faults: CatalogFault[] = [];
  const rows = rowsOf(files, faults);
  checkExtends(files, faults);
  const rulers = new Map(rows.rulers.map((placed) => [placed.id, placed.row]));
  for (const placed of rows.rulers) checkRuler(placed, rulers);
  for (const placed of rows.lines) checkLine(placed, rulers);
  checkTwice(rows);
  checkPrices(rows);
  checkTerms(rows);
  checkLeftOut(rows);
  checkDiscounts(rows);
  checkAliases(rows);
  if (files[0]?.value.extends === null) checkPriced(rows);
  return faults;
}

function rowsOf(files: readonly NamedFile<CatalogFile>[], faults: CatalogFault[]): Rows {
  const all = files.map(({ file, value }) => {
    const report: Report = (path, reason) =>
      faults.push({ file, pointer: pointerOf(path), reason });
    const rulers = Object.entries(value.rulers ?? {}).map(([id, row]) => {
      return { id, row, path: ['rulers', id], report };
    });
    const lines = (value.lines ?? []).map((row, at) => ({ row, path: ['lines', at], report }));
    const prices = Object.entries(value.prices ?? {}).map(([name, row]) => {
      return { name, row, path: ['prices', name], report };
    });
    const leftOut = (value.leftOut ?? []).map((row, at) => ({
      row,
      path: ['leftOut', at],
      report,
    }));
    const track = value.humanTrack;
    const discounts = track === undefined ? [] : [{ row: track, path: ['humanTrack'], report }];
    const aliases = Object.entries(value.aliases ?? {}).map(([name, row]) => {
      return { name, row, path: ['aliases', name], report };
    });
    return { rulers, lines, prices, leftOut, discounts, aliases };
  });
  return {
    rulers: all.flatMap(({ rulers }) => rulers),
    lines: all.flatMap(({ lines }) => lines),
    prices: all.flatMap(({ prices }) => prices),
    leftOut: all.flatMap(({ leftOut }) => leftOut),
    discounts: all.flatMap(({ discounts }) => discounts),
    aliases: all.flatMap(({ aliases }) => aliases),
  };
}

function checkExtends(files: readonly NamedFile<CatalogFile>[], faults: CatalogFault[]): void {
  const [first] = files;
  for (const { file, value } of files) {
    if (first === undefined || value.extends === first.value.extends) continue;
    const reason = `differs from "${first.file}"; write the same in all files of a catalogue`;
    faults.push({ file, pointer: '/extends', reason });
  }
}

/** Names that must be there once in the whole catalogue. */
function checkTwice({ rulers, lines }: Rows): void {
  const once = { ruler: names(), line: names(), signal: names(), path: names() };
  for (const { id, path, report } of rulers) once.ruler(id, () => report(path, twice('ruler', id)));
  for (const { row, path, report } of lines) {
    once.line(row.id, () => report([...path, 'id'], twice('line', row.id)));
    for (const { id, at } of signalPlaces(row)) {
      once.signal(id, () => report([...path, ...at], twice('signal', id)));
    }
    const bundle = bundleAt(row);
    if (bundle === null) continue;
    const { at, path: sold } = bundle;
    once.path(sold, () => report([...path, ...at], twice('bundle', sold)));
    if (TABLE.some((known) => known.path === sold)) {
      report([...path, ...at], `"${sold}" is an operation of its own; write another path`);
    }
  }
}

/** The path at which a line sells its bundle, with the member that names it; null where it has none. */
function bundleAt(row: LineRow): { readonly path: string; readonly at: Path } | null {
  const place = row.bundle === undefined ? 'lifecycle' : 'bundle';
  const path = row[place]?.path;
  return path === undefined ? null : { path, at: [place, 'path'] };
}

/** A price is that of one operation which costs, of a bundle, or of all bundles. */
function checkPrices({ lines, prices }: Rows): void {
  const once = names();
  const bundles = lines.flatMap(({ row }) => bundleAt(row)?.path ?? []);
  const paid = TABLE.filter((row) => row.paid).map(({ path }): string => path);
  const free = TABLE.filter((row) => !row.paid).map(({ path }): string => path);
  const known = [BUNDLE_PRICE, ...paid, ...bundles];
  for (const { name, path, report } of prices) {
    once(name, () => report(path, `a second price of "${name}"; remove one`));
    if (free.includes(name)) report(path, `"${name}" is free; remove its price`);
    else if (!known.includes(name)) report(path, unknown('operation', name, asDeep(name, known)));
  }
}

/** Words for a line, a signal, an entity of a line, or an operation; each of them in one file. */
function checkAliases({ lines, aliases }: Rows): void {
  const once = names();
  const rows = lines.map(({ row }) => row);
  const bundles = rows.flatMap((row) => bundleAt(row)?.path ?? []);
  const signals = rows.flatMap((row) => signalPlaces(row).map(({ id }) => id));
  const lineIds = rows.map(({ id }) => id);
  const known = [...lineIds, ...signals, ...TABLE.map(({ path }) => path), ...bundles];
  const all = new Set<string>([...known, ...rows.flatMap(namedEntities)]);
  for (const { name, path, report } of aliases) {
    once(name, () => report(path, twice('list of aliases of', name)));
    if (all.has(name) || isOpenEntity(name, rows)) continue;
    const alike = known.filter((one) => separatorOf(one) === separatorOf(name));
    const advice = meantOr(name, alike, 'write the id of a line or signal, line/entity, or a path');
    report(path, `nothing in the catalogue is called "${name}"; ${advice}`);
  }
}

/** What tells a path, a signal and a line from each other. */
function separatorOf(name: string): string | undefined {
  return /[./]/.exec(name)?.[0];
}

/** `line/entity` of every entity that a line lists. */
function namedEntities({ id, entities, places = [] }: LineRow): string[] {
  return [...entities, ...places].map((row) => `${id}/${typeof row === 'string' ? row : row.id}`);
}

/** An entity of a line in which any id may be read. */
function isOpenEntity(name: string, rows: readonly LineRow[]): boolean {
  return rows.some(({ id, open, lifecycle, signals }) => {
    const takesAny = open === true || lifecycle !== undefined;
    const isOpen = takesAny || signals?.some(({ entities }) => entities === 'open') === true;
    return isOpen && name.startsWith(`${id}/`) && name.length > id.length + 1;
  });
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
  for (const { row, path, report } of lines) {
    const bundle = bundleAt(row);
    if (bundle === null || priced.has(bundle.path)) continue;
    const reason = `"${bundle.path}" has no price; add it to "prices", or "${BUNDLE_PRICE}" for all bundles`;
    report([...path, ...bundle.at], reason);
  }
}

/** What a signal says of its prices fits the products that it has, and those that the catalogue sells. */
function checkTerms({ lines, prices }: Rows): void {
  const priced = new Set(prices.map(({ name }) => name));
  for (const { row, path, report } of lines) {
    for (const [at, signal] of (row.signals ?? []).entries()) {
      for (const { at: member, reason } of signalTermFaults(signal, priced)) {
        report([...path, 'signals', at, ...member], reason);
      }
    }
  }
}

/** Only what nobody needs is left out, and what an operation needs is there with it. */
function checkLeftOut({ lines, leftOut }: Rows): void {
  const once = names();
  const bundles = lines.flatMap(({ row }) => bundleAt(row)?.path ?? []);
  const known = [...TABLE.map(({ path }): string => path), ...bundles];
  const gone = new Set(leftOut.map(({ row }) => row));
  const left = new Set(known.filter((path) => !gone.has(path)));
  for (const { row, path, report } of leftOut) {
    once(row, () => report(path, twice('entry', row)));
    const needed = neededFor(row);
    const user = userOf(row, left);
    if (!known.includes(row)) report(path, unknown('operation', row, asDeep(row, known)));
    else if (needed !== null) report(path, `"${row}" stays: ${needed}; remove it here`);
    else if (user !== null) report(path, `"${user}" needs "${row}"; leave out both, or none`);
  }
}

/** The phases come once, each ends after the one before. */
function checkDiscounts({ discounts }: Rows): void {
  discounts.slice(1).forEach(({ path, report }) => {
    report(path, 'a second "humanTrack"; write it in one file');
  });
  for (const { row, path, report } of discounts) {
    for (const [at, { phase, until }] of row.entries()) {
      if (row.findIndex((one) => one.phase === phase) !== at) {
        report([...path, at, 'phase'], twice('phase', phase));
      }
      const before = row[at - 1];
      if (before === undefined || until > before.until) continue;
      report([...path, at, 'until'], `${until} is not after ${before.until}; correct the order`);
    }
  }
}

/** Calls back for each name that was there before. */
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

/** Ids of the signals that a line has, with the member that names each. */
function signalPlaces(line: LineRow): { readonly id: string; readonly at: Path }[] {
  const { lifecycle } = line;
  if (lifecycle === undefined) {
    return (line.signals ?? []).map(({ id }, at) => ({ id, at: ['signals', at, 'id'] }));
  }
  const legs = lifecycle.legs.map(({ name }, at) => {
    return { id: `${line.id}.${name}`, at: ['lifecycle', 'legs', at, 'name'] };
  });
  const own = ['lifecycle', 'industry-timeline'].map((name) => {
    return { id: `${line.id}.${name}`, at: ['id'] };
  });
  return [...own, ...legs];
}

type Rulers = ReadonlyMap<string, RulerRow>;

function checkRuler({ row, path, report }: Placed<RulerRow>, rulers: Rulers): void {
  const bands = row.steps.map(({ band }) => band);
  checkOrder({ row, path, report });
  for (const [at, band] of bands.entries()) {
    if (bands.indexOf(band) === at) continue;
    report([...path, 'steps', at, 'band'], twice('class', band));
  }
  if (row.actionBand !== null && !bands.includes(row.actionBand)) {
    const advice = meantOr(row.actionBand, bands, `write one of ${bands.join(', ')}, or null`);
    report([...path, 'actionBand'], `"${row.actionBand}" is no step; ${advice}`);
  }
  if (row.beside !== undefined) checkBeside(row.beside, { row, path, report }, rulers);
}

function checkOrder({ row, path, report }: Placed<RulerRow>): void {
  const sign = row.direction === 'up' ? 1 : -1;
  for (const [at, { at: edge }] of row.steps.entries()) {
    const before = row.steps[at - 1];
    if (before === undefined || sign * edge >= sign * before.at) continue;
    const order = row.direction === 'up' ? 'rising' : 'falling';
    const reason = `${edge} comes after ${before.at}; write the steps ${order}, from the mildest class to the worst`;
    report([...path, 'steps', at, 'at'], reason);
  }
}

function checkBeside(id: string, { row, path, report }: Placed<RulerRow>, rulers: Rulers): void {
  const reason = besideFault(id, row, rulers);
  if (reason !== null) report([...path, 'beside'], reason);
}

function besideFault(id: string, row: RulerRow, rulers: Rulers): string | null {
  const other = rulers.get(id);
  if (other === undefined) return unknown('ruler', id, rulers.keys());
  if (other.beside !== undefined) {
    return `"${id}" has one beside it too; remove one, for only two may stand beside each other`;
  }
  const [own, its] = [row, other].map(({ steps }) => steps.map(({ band }) => band).join(', '));
  return own === its
    ? null
    : `"${id}" has other classes; give both the same ones in the same order`;
}

function unknown(kind: string, id: string, known: Iterable<string>): string {
  return `no ${kind} "${id}" is in the catalogue; ${meantOr(id, [...known], 'add it, or correct the name')}`;
}

function checkLine(placed: Placed<LineRow>, rulers: Rulers): void {
  const { row, path, report } = placed;
  if ((row.signals === undefined) === (row.lifecycle === undefined)) {
    const reason = 'needs either "signals" or "lifecycle"; write one of them';
    report(path, reason);
  }
  if (row.lifecycle !== undefined) checkLifecycle(placed);
  for (const [at, signal] of (row.signals ?? []).entries()) {
    checkSignal({ row: signal, path: [...path, 'signals', at], report }, rulers);
  }
  checkPlaces(placed);
  checkBundle(placed);
  checkEntityOf(placed);
}

/** A life-cycle line is open, and has the bundle of its legs. */
function checkLifecycle({ row, path, report }: Placed<LineRow>): void {
  for (const name of ['bundle', 'open', 'entityOf'] as const) {
    if (row[name] === undefined) continue;
    report([...path, name], 'a line with "lifecycle" has one already; remove it');
  }
  row.lifecycle?.legs.forEach(({ metrics }, at) => {
    checkMetrics(metrics, { path: [...path, 'lifecycle', 'legs', at], report });
  });
}

function checkSignal(placed: Placed<SignalRow>, rulers: Rulers): void {
  const { row, path, report } = placed;
  checkMetrics(row.metrics, placed);
  if (row.range?.to !== undefined && row.range.to <= row.range.from) {
    report([...path, 'range', 'to'], `${row.range.to} is not above ${row.range.from}; correct it`);
  }
  if (row.rulers !== undefined && row.ownThresholds !== undefined) {
    report(
      [...path, 'ownThresholds'],
      'a signal has rulers or thresholds of its readings, not both; remove one',
    );
  }
  for (const [at, id] of (row.rulers ?? []).entries()) {
    const ruler = rulers.get(id);
    const where = [...path, 'rulers', at];
    if (ruler === undefined) report(where, unknown('ruler', id, rulers.keys()));
    else checkScale(ruler, row, (reason) => report(where, reason));
  }
}

function checkScale(ruler: RulerRow, signal: SignalRow, report: (reason: string) => void): void {
  const { metrics, bands } = signal;
  if (![...metrics, CLASS].includes(ruler.metric)) {
    report(`is about "${ruler.metric}", which is no metric of the signal; add it to "metrics"`);
  }
  const lacking = ruler.steps
    .map(({ band }) => band)
    .filter((band) => bands?.includes(band) === false);
  if (lacking.length > 0) report(`has classes that "bands" lacks: ${lacking.join(', ')}; add them`);
}

/** Whoever reads a number must know its unit; a state is no number. */
function checkMetrics(
  metrics: readonly string[],
  { path, report }: Pick<Placed<unknown>, 'path' | 'report'>,
): void {
  for (const [at, name] of metrics.entries()) {
    if (metrics.indexOf(name) !== at) report([...path, 'metrics', at], twice('metric', name));
    if (name === 'state' || metricUnit(name).unit !== '') continue;
    report(
      [...path, 'metrics', at],
      `"${name}" ends in no known unit; write it as in level_m or wait_min`,
    );
  }
}

function checkPlaces(placed: Placed<LineRow>): void {
  const once = names();
  const zones = new Map<string, Placed<unknown>>();
  for (const entity of entityPlaces(placed)) {
    const { row, path, report } = entity;
    once(row.id, () => report(path, twice('entity', row.id)));
    checkEntity(entity, placed.row.upperCase === true);
    if (row.zone !== undefined && !zones.has(row.zone)) zones.set(row.zone, entity);
  }
  for (const [zone, { path, report }] of zones) {
    if (isZone(zone)) continue;
    report([...path, 'zone'], `"${zone}" is no time zone; write one such as Europe/Berlin`);
  }
}

function checkEntity({ row, path, report }: Placed<Entity>, upperCase: boolean): void {
  if (upperCase && row.id !== row.id.toUpperCase()) {
    report(path, `"${row.id}" is not upper case, as the line demands; write it in capitals`);
  }
  if ((row.latitude === undefined) !== (row.longitude === undefined)) {
    report(path, 'has one of latitude and longitude; write both, or none');
  }
}

type Entity = Partial<PlaceRow> & { readonly id: string };

function entityPlaces({ row, path, report }: Placed<LineRow>) {
  const placesIn = (list: 'entities' | 'places') =>
    (row[list] ?? []).map((entity, at): Placed<Entity> => {
      const own = typeof entity === 'string' ? { id: entity } : entity;
      return { row: own, path: [...path, list, at], report };
    });
  return [...placesIn('entities'), ...placesIn('places')];
}

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

function checkBundle({ row, path, report }: Placed<LineRow>): void {
  const own = new Set(row.signals?.map(({ id }) => id));
  const used = new Set<string>();
  for (const [at, leg] of (row.bundle?.legs ?? []).entries()) {
    for (const [index, id] of leg.signals.entries()) {
      const where = [...path, 'bundle', 'legs', at, 'signals', index];
      if (!own.has(id))
        report(where, `not a signal of this line; ${meantOr(id, [...own], 'correct it')}`);
      if (used.has(id)) report(where, twice('leg of', id));
      used.add(id);
    }
  }
}

function checkEntityOf({ row, path, report }: Placed<LineRow>): void {
  const signals = new Set(row.signals?.map(({ id }) => id));
  const entities = new Set(row.entities.map((each) => (typeof each === 'string' ? each : each.id)));
  for (const [at, map] of (row.entityOf ?? []).entries()) {
    const where = [...path, 'entityOf', at];
    for (const [index, id] of map.signals.entries()) {
      if (signals.has(id)) continue;
      const reason = `not a signal of this line; ${meantOr(id, [...signals], 'correct it')}`;
      report([...where, 'signals', index], reason);
    }
    for (const id of Object.keys(map.entities)) {
      if (entities.has(id)) continue;
      const reason = `not an entity of this line; ${meantOr(id, [...entities], 'add it to "entities"')}`;
      report([...where, 'entities', id], reason);
    }
  }
}
