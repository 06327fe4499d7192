import { canonicalJson } from '../format/canonical.ts';
import type { Release } from '../format/release.ts';
import { decodeUtf8, parseJson } from '../format/strict-json.ts';
import * as WORDS from '../products/shapes/words.ts';
import { BUILTIN } from './builtin.ts';
import { BUILTIN_FILES } from './builtin-files.ts';
import { type Catalog, catalogOf } from './catalog.ts';
import {
  CATALOG_FORMAT,
  type CatalogFile,
  catalogJsonSchema,
  formatFaults,
} from './catalog-file.ts';
import { BUILTIN_UNITS } from './units.ts';

// A catalogue is edited as several files and published as one: the whole of it, whatever it was added to.

/** Where a release holds its catalogue, as canonical JSON of one file. */
export const WHOLE_CATALOG_PATH = 'catalog.json';

/** A catalogue with the one file that says all of it. */
export interface WholeCatalog {
  readonly catalog: Catalog;
  readonly file: CatalogFile;
}

/** The catalogue of a shop without one of its own. */
export function builtinCatalog(): WholeCatalog {
  return { catalog: BUILTIN, file: joinedFiles(BUILTIN_FILES as readonly CatalogFile[]) };
}

/**
 * One file that says what checked files say together. Files that extend the built-in catalogue add to it; a line, a ruler or
 * a price of the same id replaces that of the built-in one in its place.
 */
export function wholeFile(own: readonly CatalogFile[]): CatalogFile {
  if (own[0]?.extends !== 'builtin') return joinedFiles(own);
  return joinedFiles([...(BUILTIN_FILES as readonly CatalogFile[]), ...own]);
}

/** What the built-in catalogue gives to files that extend it: all that none of them replaces. */
export function builtinRest(own: readonly CatalogFile[]): CatalogFile {
  const lines = new Set(own.flatMap((file) => file.lines ?? []).map(({ id }) => id));
  const { lines: builtin = [], rulers, prices } = joinedFiles(BUILTIN_FILES as CatalogFile[]);
  const replaced = joinedFiles(own);
  return {
    format: CATALOG_FORMAT,
    extends: 'builtin',
    lines: builtin.filter(({ id }) => !lines.has(id)),
    rulers: without(rulers, replaced.rulers),
    prices: without(prices, replaced.prices),
  };
}

function without<Row>(
  rows: Readonly<Record<string, Row>> = {},
  others: Readonly<Record<string, unknown>> = {},
): Record<string, Row> {
  return Object.fromEntries(Object.entries(rows).filter(([id]) => !Object.hasOwn(others, id)));
}

/** The bytes of `catalog.json`. */
export function catalogText(file: CatalogFile): string {
  return canonicalJson(file);
}

/** Reads `catalog.json`; throws a RangeError that names the first member which is not of this version. */
export function parseCatalog(bytes: Uint8Array): Catalog {
  const value = parseJson(decodeUtf8(bytes));
  const [fault] = formatFaults({ file: WHOLE_CATALOG_PATH, value });
  if (fault !== undefined) {
    throw new RangeError(`Cannot read "${fault.file}" at "${fault.pointer}": ${fault.reason}`);
  }
  return catalogOf([value as unknown as CatalogFile]);
}

/**
 * The same of bytes whose hash the issuer signed together with the format that they have: a start
 * need not look at every member again.
 */
export function compiledCatalog(bytes: Uint8Array): Catalog {
  const file = JSON.parse(decodeUtf8(bytes)) as CatalogFile;
  if (file.format !== CATALOG_FORMAT) {
    throw new RangeError(`Cannot read "${WHOLE_CATALOG_PATH}" at "/format": not ${CATALOG_FORMAT}`);
  }
  return catalogOf([file]);
}

function joinedFiles(files: readonly CatalogFile[]): CatalogFile {
  const lines = files.flatMap((file) => file.lines ?? []);
  const humanTrack = files.findLast((file) => file.humanTrack)?.humanTrack;
  const leftOut = files.flatMap((file) => file.leftOut ?? []);
  const units = files.flatMap((file) => Object.entries(file.units ?? {}));
  // Every catalogue has the built-in ones, so they are not said again.
  const own = units.filter(([symbol]) => !BUILTIN_UNITS.has(symbol));
  return {
    format: CATALOG_FORMAT,
    extends: null,
    lines: [...new Map(lines.map((line) => [line.id, line])).values()],
    ...(own.length === 0 ? {} : { units: Object.fromEntries(own) }),
    rulers: Object.assign({}, ...files.map(({ rulers }) => rulers)),
    prices: Object.assign({}, ...files.map(({ prices }) => prices)),
    ...(humanTrack === undefined ? {} : { humanTrack }),
    ...(leftOut.length === 0 ? {} : { leftOut: [...new Set(leftOut)] }),
    aliases: Object.assign({}, ...files.map(({ aliases }) => aliases)),
    abbreviations: Object.assign({}, ...files.map(({ abbreviations }) => abbreviations)),
  };
}

/** `sha256:` of the canonical JSON of a value. */
type DigestOf = (value: unknown) => string;

interface Carried {
  readonly head: Pick<Release, 'table_digest' | 'catalog_sha256'>;
  /** `catalog.json`, whose hash was checked, in hex; null for a release without one. */
  readonly file: { readonly bytes: Uint8Array; readonly sha256: string } | null;
  readonly digestOf: DigestOf;
  /** `parseCatalog` by default, which takes nothing for granted. */
  readonly read?: (bytes: Uint8Array) => Catalog;
}

/** The table digest of a release of the built-in catalogue. */
export function builtinDigest(digestOf: DigestOf): string {
  return digestOf(tables(BUILTIN));
}

/**
 * The table digest of a release of another catalogue: of its `catalog.json`, of the format that it was checked by, and of the
 * machine that makes operations of it, which that of the built-in catalogue stands for. To write all tables out would cost a large catalogue half a second.
 */
export function ownDigest(sha256: string, digestOf: DigestOf): string {
  return digestOf({
    catalog: `sha256:${sha256}`,
    format: digestOf(catalogJsonSchema()),
    machine: builtinDigest(digestOf),
  });
}

/**
 * The catalogue that a release was compiled from, held to the digest of its head. A release without `catalog.json` has the
 * built-in one of this version, or is refused: throws a RangeError that says what to do.
 */
export function releaseCatalog({ head, file, digestOf, read = parseCatalog }: Carried): Catalog {
  const { table_digest: tableDigest, catalog_sha256: stated } = head;
  if (stated !== undefined && stated !== `sha256:${file?.sha256}`) {
    refuse(`its "${WHOLE_CATALOG_PATH}" is not the one that its head signs`);
  }
  if (builtinDigest(digestOf) === tableDigest) return BUILTIN;
  if (file === null) refuse(`carries no "${WHOLE_CATALOG_PATH}"`);
  if (ownDigest(file.sha256, digestOf) !== tableDigest) {
    refuse(`its head is not made of its "${WHOLE_CATALOG_PATH}" by the rules of this version`);
  }
  return read(file.bytes);
}

function refuse(state: string): never {
  throw new RangeError(
    `compiled with another table of lines and endpoints (${state}); compile again with this version`,
  );
}

/** What a catalogue and the fixed words say, as plain data: its digest is in every release. */
export function tables(catalog: Catalog) {
  const { operations: endpoints, lines } = catalog;
  return { endpoints, lines, places: placeTables(catalog), words: { ...WORDS } };
}

/** What the names and positions of bodies follow from, as plain data; a name alone is a text. */
function placeTables({ namedByLine }: Catalog): {
  readonly [line: string]: Readonly<Record<string, unknown>>;
} {
  const tables = [...namedByLine].map(([line, named]) => {
    const rows = Object.entries(named).map(([entity, known]) => {
      return [entity, known.latitude === undefined ? known.name : known];
    });
    return [line, Object.fromEntries(rows)] as const;
  });
  return Object.fromEntries(tables.filter(([, rows]) => Object.keys(rows).length > 0));
}
