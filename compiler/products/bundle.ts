import type { Line } from '../contract/catalog/line.ts';
import { bundleSchema, thinBundleSchema } from '../contract/record.ts';
import { oneOf, type Product, text, thin } from './product.ts';

const EXAMPLES_MAX = 3;

/** What all bundles have in common. */
export const BUNDLE = {
  method: 'GET',
  paid: true,
  token: false,
  tag: '[3-LEG]',
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
    path,
    params: { [param]: subject, format: thin },
    file: `bundle/${id}/{${param}}.json`,
    summary: `${title}: ${legs}, in causal order`,
    guide: `Answers how the latest readings of ${title} stand together: ${legs}. Not one leg alone or past values, and no score.`,
  };
}
