import { bodySchemaOf } from '../../contract/bodies.ts';
import { ENDPOINTS, type Endpoint } from '../../contract/endpoints.ts';
import type { BodySchemas } from './body-schemas.ts';
import { maskedExample } from './masked-example.ts';
import type { StoredBodies } from './stored-bodies.ts';

/** One example for each body schema, from what is stored; a schema that nothing is stored of has an empty one. */
export function bodyExamples(
  schemas: BodySchemas,
  stored: StoredBodies,
): Readonly<Record<string, object>> {
  const examples: Record<string, object> = {};
  for (const row of ENDPOINTS as readonly Endpoint[]) {
    const name = schemas.nameOf(row);
    if (name === null || (examples[name] !== undefined && 'value' in examples[name])) continue;
    examples[name] = exampleOf(row, stored);
  }
  return examples;
}

function exampleOf(row: Endpoint, stored: StoredBodies): object {
  const body = stored.of(row);
  const summary = `an answer of ${row.path}`;
  // Of any other word the file is only what the answer is cut from.
  if (body === null || row.answer !== 'file') return { summary };
  const value = shown(row, stored.read(body.path));
  return value === null ? { summary } : { summary, value };
}

/** What is given away is shown as it is; of what is sold only the form, or the description would give it away. */
function shown(row: Endpoint, body: unknown): unknown {
  if (row.priceUsd === null && !row.token) return body;
  const schema = bodySchemaOf(row);
  return schema === null ? null : maskedExample(body, schema);
}
