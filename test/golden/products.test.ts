import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import type { Endpoint } from '../../compiler/products/shapes/product.ts';
import { productOf } from '../../compiler/products/products.ts';
import { answer } from '../../gatekeeper/heart/answers/answers.ts';
import { compiledService, jsonOf, question } from '../gatekeeper/tiny-service.ts';
import {
  AS_OF,
  compileFolder,
  removeFolders,
  type SnapshotFiles,
  writeSnapshots,
} from '../snapshot-folder.ts';
import { hasPython } from '../verify/python-judge.ts';

// One golden body a product: `products/shop.txt` holds the snapshots, `products/expected.json` by a name what a request for
// them is answered with. `python3 test/golden/products/figures.py --write` writes those figures from the lines alone. A new
// product needs one, `{target, by_hand, figures}`: `by_hand` says how the figures were worked out, and Python leaves it alone.

const FOLDER = join(import.meta.dirname, 'products');
const textOf = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');
const ASKED = '2026-11-20T15:20:00Z';

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

interface Golden {
  /** Path and query of the request. */
  readonly target: string;
  readonly by_hand?: string;
  readonly figures: Json;
}

/** What is made of no readings and no rows, and what repeats a golden body. */
const WITHOUT: Readonly<Record<string, string>> = {
  '/gauge/macro-reconcile-full': 'a document like /shadow/chatter',
  '/gauge/japan-region': 'a document like /gauge/taiwan-region',
  '/gauge/chokepoint-region': 'a document like /gauge/taiwan-region',
  '/pay/tier2': 'a document like /shadow/chatter',
  '/pay/tier3': 'a document like /shadow/chatter',
  '/shadow/signal-plus': 'a document like /shadow/chatter',
  '/shadow/region-plus': 'a document like /shadow/chatter',
  '/gauge/subscribe': 'a token, made at random',
  '/gauge/sample': 'a whole record, as /gauge sells it',
  '/gauge/coverage': 'a description: counts of what is stored',
  '/gauge/catalog': 'a description: lists of ids',
  '/gauge/search': 'a description: words to ids',
  '/gauge/preview': 'a description: counts, prices and lists of ids',
  '/gauge/channels': 'a description: ways to pay',
  '/stablecoin-deaths/preview': 'a description: what a roster holds',
  '/trust/preview': 'a description: what a roster holds',
  '/stable/preview': 'a description: what a roster holds',
  '/mcp/preview': 'a description: what a roster holds',
  '/resolve/preview': 'a description: who can be asked about',
  '/resolve/proposer/preview': 'a description: who can be asked about',
  '/manifest': 'a description: operations and prices',
  '/manifest (mcp)': 'a description: operations as tools',
  '/manifest (a2a)': 'a description: operations as skills',
  '/.well-known/x402': 'a description: resources for crawlers',
  '/.well-known/agent-card.json': 'a description: operations as skills',
  '/.well-known/agent.json': 'a description: operations as skills',
  '/gauge/verify': 'a verdict about a hash',
  '/v/:record_hash': 'a verdict about a hash',
  '/gauge/anchor': 'the log, which FORMAT.md and its vectors judge',
  '/proof/:record_hash': 'the log, which FORMAT.md and its vectors judge',
  '/verify': 'a verdict about a body that is sent',
  '/gauge/basket': 'parts that are bodies of other products',
  '/mcp': 'the answers of other operations',
  '/merkle/proof': 'retired',
  '/merkle/spec': 'retired',
};

/** Members that hold no figure: standing texts, hashes, signatures. Any other member that no golden body expects is a fault. */
const STANDING = new Set([
  ...['nature', 'note', 'grade', 'scope', 'served_from', 'validation_status', 'uncertainty'],
  ...['lineage_note', 'source_note', 'model_note', 'basis', 'method', 'comparable', 'mode'],
  ...['unavailable_fields', 'unavailable_reason', 'ots_status', 'decision_points'],
  // sentences about figures that stand beside them
  ...['summary_en', 'summary_zh'],
  ...['record_hash', 'record_hash_verifiable', 'hash_core_version', '_hash_core'],
  ...['chain', 'older_chain', 'content_hash', 'signature', 'key_id', 'issuer_DID', 'verify_url'],
  ...['schema_version', 'statement_type', 'not_advice', 'issuer', 'type', 'status', 'translated'],
]);

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);
const isObject = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === 'object' && value !== null && !isList(value);

/** JSON pointers of what differs; a body may also have the standing members that nothing is expected of. */
function differences(body: Json | undefined, wanted: Json | undefined, at = ''): string[] {
  if (wanted === undefined) return STANDING.has(at.slice(at.lastIndexOf('/') + 1)) ? [] : [at];
  if (isList(body) && isList(wanted) && body.length === wanted.length) {
    return wanted.flatMap((one, index) => differences(body[index], one, `${at}/${index}`));
  }
  if (!isObject(body) || !isObject(wanted)) {
    return JSON.stringify(body) === JSON.stringify(wanted) ? [] : [at];
  }
  const names = [...new Set([...Object.keys(body), ...Object.keys(wanted)])];
  return names.flatMap((name) => differences(body[name], wanted[name], `${at}/${name}`));
}

/** Each figure, with a copy of all of them in which it alone is another one. */
function spoilt(figures: Json, at = ''): { readonly at: string; readonly figures: Json }[] {
  if (isList(figures) && figures.length > 0) {
    return figures.flatMap((one, index) =>
      spoilt(one, `${at}/${index}`).map((part) => ({
        at: part.at,
        figures: figures.with(index, part.figures),
      })),
    );
  }
  if (isObject(figures) && Object.keys(figures).length > 0) {
    return Object.entries(figures).flatMap(([name, one]) =>
      spoilt(one, `${at}/${name}`).map((part) => ({
        at: part.at,
        figures: { ...figures, [name]: part.figures },
      })),
    );
  }
  return [{ at, figures: typeof figures === 'number' ? figures + 0.1 : 'another' }];
}

function readGolden(): ReadonlyMap<string, Golden> {
  const bodies: Record<string, Golden> = JSON.parse(textOf('expected.json'));
  return new Map(Object.entries(bodies));
}

/** The snapshots: each file after a line that names it. */
function shopFiles(): SnapshotFiles {
  const parts = textOf('shop.txt').split(/^== (.+)\n/m).slice(1);
  const paths = parts.filter((_, at) => at % 2 === 0);
  return Object.fromEntries(paths.map((path, at) => [path, parts[2 * at + 1] ?? '']));
}

/** A product by its path, and one of its forms by the folder; all bundles are one. */
function productKey({ path, file }: Endpoint, folder: string): string {
  const name = file?.startsWith('bundle/') === true ? 'a bundle' : path;
  return folder === '' ? name : `${name} (${folder})`;
}

/** The product that answers a target. */
function askedProduct(target: string): string {
  const { endpoint, values } = question(target).route;
  const folders = Object.entries(endpoint.params).flatMap(([name, { variant }]) => {
    const folder = variant?.[values[name] ?? ''];
    return folder === undefined ? [] : [folder];
  });
  return productKey(endpoint, folders.join());
}

/** Products and forms that no golden body is of; of those without one on purpose, what is needless or unknown. */
function unproven(golden: Iterable<Golden>, without: Readonly<Record<string, string>>): string[] {
  const all = BUILTIN.operations.flatMap((row) => {
    const { forms = {} } = productOf(row, BUILTIN.lines);
    return ['', ...Object.keys(forms)].map((folder) => productKey(row, folder));
  });
  const proven = new Set([...golden].map(({ target }) => askedProduct(target)));
  const open = new Set(all.filter((key) => !proven.has(key)));
  const excused = Object.keys(without);
  return [
    ...[...open].filter((key) => !excused.includes(key)),
    ...excused.filter((key) => !open.has(key)).map((key) => `needless: ${key}`),
  ];
}

const GOLDEN = readGolden();

describe('every product has a golden body', () => {
  it('or a reason why it has none', () => {
    expect(unproven(GOLDEN.values(), WITHOUT)).toEqual([]);
  });

  it('and one that lost its body is named, as is a needless reason', () => {
    const others = [...GOLDEN].flatMap(([name, body]) => (name === 'strata' ? [] : [body]));
    expect(unproven(others, WITHOUT)).toEqual(['/gauge/strata']);
    const more = { ...WITHOUT, '/gauge/ruler': 'no figures' };
    expect(unproven(GOLDEN.values(), more)).toEqual(['needless: /gauge/ruler']);
  });
});

describe('the figures of a golden body', () => {
  const bodies = new Map<string, Json>();
  beforeAll(async () => {
    const { data } = await compileFolder(writeSnapshots(shopFiles()), {
      asOf: AS_OF,
      baseUrl: 'https://readings.example',
      issuerName: 'Example readings',
    });
    const service = await compiledService(data, ASKED);
    for (const [name, { target }] of GOLDEN) {
      bodies.set(name, jsonOf(await answer(question(target), service)) as Json);
    }
  });
  afterAll(removeFolders);

  it.each([...GOLDEN])('%s: are those of the lines', (name, { figures }) => {
    expect(differences(bodies.get(name), figures)).toEqual([]);
  });

  it.each([...GOLDEN])('%s: another figure, one more or one less is found', (name, { figures }) => {
    const body = bodies.get(name) ?? null;
    for (const other of spoilt(figures)) {
      expect(differences(body, other.figures)).toEqual([other.at]);
    }
    expect(differences({ ...(body as object), surplus: 1 }, figures)).toEqual(['/surplus']);
    expect(differences(body, { ...(figures as object), surplus: 1 })).toEqual(['/surplus']);
  });
});

describe.skipIf(!hasPython)('figures.py (skipped without python3)', () => {
  const args = [join(FOLDER, 'figures.py')];
  const printed = (): Record<string, Golden> =>
    JSON.parse(spawnSync('python3', args, { encoding: 'utf8' }).stdout);

  it('works out every golden body that was not worked out by hand', () => {
    const computed = [...GOLDEN].filter(([, { by_hand }]) => by_hand === undefined);
    expect(printed()).toEqual(Object.fromEntries(computed));
  });
});
