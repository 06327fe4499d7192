import { z } from 'zod';
import { bodySchemaOf } from '../../contract/bodies.ts';
import { ENDPOINTS, type Endpoint } from '../../contract/endpoints.ts';

/** JSON Schemas of all bodies: one component for each schema, however many operations share it. */
export interface BodySchemas {
  readonly components: Readonly<Record<string, object>>;
  /** Name of the component that an operation's 200 body meets; null where none is declared. */
  nameOf(endpoint: Endpoint): string | null;
}

export function bodySchemas(): BodySchemas {
  const names = new Map<z.ZodType, string>();
  const components: Record<string, object> = {};
  for (const row of ENDPOINTS as readonly Endpoint[]) {
    const schema = bodySchemaOf(row);
    if (schema === null || names.has(schema)) continue;
    const name = componentName(row.path);
    names.set(schema, name);
    components[name] = loose(jsonSchema(schema)) as object;
  }
  return {
    components,
    nameOf(endpoint) {
      const schema = bodySchemaOf(endpoint);
      return schema === null ? null : (names.get(schema) ?? null);
    },
  };
}

/** Named after the first operation that answers with it: `/gauge/history-series` is `GaugeHistorySeries`. */
function componentName(path: string): string {
  const words = path.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function jsonSchema(schema: z.ZodType): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
}

/** Clients must not break when a member is added: what is strict inside is open in the description. */
function loose(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(loose);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([name, member]) => !(name === 'additionalProperties' && member === false),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, loose(member)]));
}
