import { z } from 'zod';
import { isObject } from '../../format/strict-json.ts';

/** Members of request time that every delivered body has wherever its schema knows them; the others depend on the instant. */
const ALWAYS: readonly string[] = ['age_hours_now', 'freshness', 'update_status'];

/** What keeps a body from being the delivered form of its schema, which declares members of request time as optional; null for nothing. */
export function deliveredFault(body: unknown, schema: z.ZodType): string | null {
  const [issue] = schema.safeParse(body).error?.issues ?? [];
  if (issue !== undefined) return `${issue.path.join('.')}: ${issue.message}`;
  const lacking = owedMembers(body, schema).find((path) => memberAt(body, path) === undefined);
  return lacking === undefined ? null : `${lacking.join('.')}: missing, and it follows from time`;
}

/** Where a body owes members of request time, as its schema says. */
export function owedMembers(value: unknown, schema: z.core.$ZodType): (readonly string[])[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return value === null || value === undefined ? [] : owedMembers(value, schema.unwrap());
  }
  if (schema instanceof z.ZodUnion) {
    const own = schema.options.find((option) => z.safeParse(option, value).success);
    return own === undefined ? [] : owedMembers(value, own);
  }
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((item, at) => below(String(at), owedMembers(item, schema.element)));
  }
  if (!isObject(value)) return [];
  if (schema instanceof z.ZodRecord) {
    const { valueType } = schema;
    return Object.entries(value).flatMap(([name, member]) =>
      below(name, owedMembers(member, valueType)),
    );
  }
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, member]) =>
    ALWAYS.includes(name) ? [[name]] : below(name, owedMembers(value[name], member)),
  );
}

function below(name: string, paths: readonly (readonly string[])[]): string[][] {
  return paths.map((path) => [name, ...path]);
}

function memberAt(body: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (value as Readonly<Record<string, unknown>>)[name],
    body,
  );
}
