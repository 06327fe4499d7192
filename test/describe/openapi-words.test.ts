import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../compiler/catalog/builtin.ts';
import type { Catalog } from '../../compiler/catalog/catalog.ts';
import { described } from '../../compiler/describe/manifest.ts';
import { openApi } from '../../compiler/describe/openapi.ts';
import { functionTools, type OpenApiDocument } from '../function-tools.ts';
import { TIDES } from '../tide-shop.ts';

const NOTHING = { has: () => false, under: () => [], read: () => Buffer.alloc(0) };
const issuer = { name: 'Harbour', did: 'did:key:z', keyId: 'z', baseUrl: 'https://tides.example' };

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly schema: { enum?: unknown[] } }[];
  readonly responses: Readonly<Record<string, { readonly headers?: object; $ref?: string }>>;
}
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly description?: string;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: object;
  };
  readonly 'x-payment-headers': object;
}

/** The document as it is when everything of a catalogue is for sale. */
function documentOf(catalog: Catalog): Document {
  const { entries, bodies } = described(NOTHING, catalog, true);
  const open = entries.map((entry) => ({ ...entry, sells_now: true }));
  return openApi({ entries: open, bodies, catalog, issuer, contact: null }) as Document;
}

const operationsOf = ({ paths }: Document): Operation[] =>
  Object.values(paths).flatMap(Object.values);

/** Every member of every schema, as `holder.name`, with its description. */
function membersOf(value: unknown, holder: string): [string, string | undefined][] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Object.entries((value as Schema).properties ?? {});
  return [
    ...own.map(([name, { description }]): [string, string | undefined] => [
      `${holder}.${name}`,
      description,
    ]),
    ...own.flatMap(([name, member]) => membersOf(member, name)),
    ...Object.entries(value).flatMap(([key, inner]) =>
      key === 'properties' ? [] : membersOf(inner, holder),
    ),
  ];
}

/** Members that do not say what they mean. */
function unsaid(members: readonly [string, string | undefined][]): string[] {
  return members.flatMap(([name, text]) => ((text ?? '').length < 2 ? [name] : []));
}

describe.each([
  ['the built-in catalogue', BUILTIN],
  ['an own catalogue', TIDES],
] as const)('the OpenAPI document of %s', (_, catalog) => {
  const document = documentOf(catalog);
  const operations = operationsOf(document);

  it('says of each operation which question it answers and which not, and of no two the same', () => {
    // Every operation but the retired one, which no description names.
    const described = catalog.operations.filter(({ answer }) => answer !== 'gone');
    expect(operations).toHaveLength(described.length);
    for (const { operationId, description } of operations) {
      expect([operationId, description.split(/\. |\.$/).length]).toEqual([
        operationId,
        expect.toSatisfy((sentences: number) => sentences > 3),
      ]);
      expect([operationId, description]).toEqual([
        operationId,
        expect.stringMatching(/\b(Not|No|Never|nothing|Use)\b/),
      ]);
    }
    const answered = operations.map(({ description }) => description);
    expect(new Set(answered).size).toBe(answered.length);
  });

  it('says of each member of each schema what it means', () => {
    const members = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      membersOf(schema, name),
    );
    expect(members.length).toBeGreaterThan(500);
    expect(unsaid(members)).toEqual([]);
  });

  it('would be found out if a member said nothing, also deep inside', () => {
    const said = { description: 'what it means' };
    const deep = { anyOf: [{ properties: { known: said, silent: {} } }] };
    const members = membersOf({ properties: { outer: { ...said, items: deep } } }, 'Any');
    expect(unsaid(members)).toEqual(['outer.silent']);
  });

  it('repeats no long list of values', () => {
    const lists = operations.flatMap(({ parameters }) =>
      parameters.map(({ schema }) => (schema.enum ?? []).length),
    );
    expect(Math.max(...lists)).toBeLessThan(25);
    expect(lists.some((length) => length > 1)).toBe(true);
  });

  it('names the headers that pay, and those of the receipt', () => {
    expect(Object.keys(document['x-payment-headers'])).toEqual([
      'X-PAYMENT',
      'PAYMENT-SIGNATURE',
      'X-RECEIPT',
      'PAYMENT-IDENTIFIER',
      'SIGN-IN-WITH-X',
    ]);
    expect(Object.keys(document.components.headers)).toEqual(
      expect.arrayContaining(['PAYMENT-REQUIRED', 'X-PAYMENT-RESPONSE', 'PAYMENT-RESPONSE']),
    );
    for (const { responses } of operations) {
      const receipt = Object.keys(responses[200]?.headers ?? {}).includes('PAYMENT-RESPONSE');
      expect(receipt).toBe('402' in responses);
    }
  });

  it('refers to nothing that it lacks', () => {
    for (const [, kind, name] of JSON.stringify(document).matchAll(
      /"#\/components\/([a-z]+)\/([^"]+)"/gi,
    )) {
      expect(document.components).toHaveProperty([kind ?? '', name ?? '']);
    }
  });
});

describe('as function tools of an agent framework', () => {
  const tools = functionTools(documentOf(BUILTIN) as unknown as OpenApiDocument);
  const tokens = (value: object): number => countTokens(JSON.stringify(value));
  const TOKENS_MAX = 12_000;

  it('the document stays short enough to be read whole, and would not with one long list', () => {
    expect(tools).toHaveLength(operationsOf(documentOf(BUILTIN)).length);
    expect(tokens(tools)).toBeLessThan(TOKENS_MAX);
    const ids = [...BUILTIN.entryById.keys()];
    const listed = tools.filter((tool) => JSON.stringify(tool).includes('"signal_id":{'));
    const withLists = listed.map((tool) => ({ ...tool, enum: ids }));
    expect(tokens([...tools, ...withLists])).toBeGreaterThan(TOKENS_MAX);
  });

  it('every tool has a name, a description and its parameters by their place', () => {
    const gauge = tools.find((tool) => JSON.stringify(tool).includes('"getGauge"'));
    expect(gauge).toMatchObject({
      type: 'function',
      function: {
        description: expect.stringMatching(/^Answers what one signal reads/),
        parameters: { properties: { params: { required: ['signal_id', 'entity'] } } },
      },
    });
  });
});
