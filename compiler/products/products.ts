import { ADD_ONS } from './add-ons.ts';
import { BASKET } from './basket.ts';
import { BUNDLE, BUNDLE_FOLDER, bundleOf } from './bundle.ts';
import { CENSUS } from './census.ts';
import { CITIES } from './cities.ts';
import { CHANNELS, DESCRIPTIONS, TOOL_SERVER } from './descriptions.ts';
import { MACRO, REGIONS_AND_TEXTS } from './documents.ts';
import { FINDING } from './finding.ts';
import { LIFECYCLE } from './lifecycle.ts';
import { CHECKS, CITATION_LINK, LOOK_UPS, RETIRED } from './proof.ts';
import { RECORD } from './record.ts';
import { ROSTER_PREVIEWS, ROSTERS, SUBJECTS } from './rosters.ts';
import { SAMPLES } from './samples.ts';
import { SERIES } from './series.ts';
import { SETTLEMENT, SETTLEMENT_PREVIEWS } from './settlement.ts';
import type { BundlePath, Line } from './shapes/line.ts';
import type { Form, Product, SignalTerm } from './shapes/product.ts';
import { SUBSCRIPTION } from './subscription.ts';

/** What is sold of single signals and cities, in the order of the specification; the bundles of the lines come next. */
export const SIGNAL_PRODUCTS = [RECORD, ...ADD_ONS, SERIES, CENSUS, LIFECYCLE, ...CITIES] as const;

/** All other operations, in the order of the specification. */
export const OTHER_PRODUCTS = [
  ...ROSTERS,
  MACRO,
  ...SUBJECTS,
  ...SETTLEMENT,
  ...SUBSCRIPTION,
  ...REGIONS_AND_TEXTS,
  ...FINDING,
  ...SAMPLES,
  ...LOOK_UPS,
  CHANNELS,
  ...ROSTER_PREVIEWS,
  ...SETTLEMENT_PREVIEWS,
  ...DESCRIPTIONS,
  ...CHECKS,
  BASKET,
  TOOL_SERVER,
  ...RETIRED,
  CITATION_LINK,
] as const;

/** Every operation that is code. THE table. */
export const TABLE = [...SIGNAL_PRODUCTS, ...OTHER_PRODUCTS] as const;

type KnownProduct = (typeof TABLE)[number];
/** A path of the table. */
export type TablePath = KnownProduct['path'];
/** A path of the table, or one that a bundle can have. */
export type EndpointPath = TablePath | BundlePath;
/** A path that costs. */
export type PaidPath = Extract<KnownProduct, { readonly paid: true }>['path'] | BundlePath;
/** A path whose price a catalogue can set for one signal; that can be free. */
export type SignalPath = Extract<KnownProduct, { readonly term: SignalTerm }>['path'];
/** Names of the parameters of a path; those of a bundle follow from its line, and what is sold takes `proof` too. */
export type ParamName<Path extends EndpointPath> = Path extends TablePath
  ? (keyof Extract<KnownProduct, { readonly path: Path }>['params'] & string) | ProofName<Path>
  : string;
type ProofName<Path extends TablePath> = Path extends PaidPath ? 'proof' : never;

const BY_PATH = new Map<string, Product>(TABLE.map((product) => [product.path, product]));

/** The product of a path; undefined for a bundle, or a path that the table lacks. */
export function findProduct(path: string): Product | undefined {
  return BY_PATH.get(path);
}

/** The product of a path that the table holds; a mistyped path does not compile. */
export function endpointAt(path: TablePath): Product {
  const product = findProduct(path);
  if (product === undefined) throw new RangeError(`Cannot find "${path}": not in the table`);
  return product;
}

/** The product that an operation sells: one of the table, or the bundle of a line. */
export function productOf({ path }: Pick<Product, 'path'>, lines: readonly Line[]): Product {
  const line = lines.find(({ bundle }) => bundle?.path === path);
  const product = line === undefined ? findProduct(path) : bundleOf(line);
  if (product == null) throw new RangeError(`Cannot find the product of "${path}"`);
  return product;
}

/** The form of an operation's answers: the usual one, or the one in the folder of a variant; undefined where none is declared. */
export function formOf(
  { path, file }: Pick<Product, 'path' | 'file'>,
  folder = '',
): Partial<Form> | undefined {
  const product = file?.startsWith(BUNDLE_FOLDER) ? BUNDLE : BY_PATH.get(path);
  return folder === '' ? product : (product as Partial<Product> | undefined)?.forms?.[folder];
}
