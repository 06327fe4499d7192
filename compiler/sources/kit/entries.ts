import type { z } from 'zod';
import { dayTime } from './local-time.ts';
import type { Origin, ReadingList } from './readings.ts';
import { type Ask, isWanted, type Wanted } from './source.ts';

// What importers of lists have in common.

/** A body that speaks of what it measures or registers itself; `more` says where that is otherwise. */
export function originOf(
  name: string,
  page: string,
  { role = 'register', status = 'as published', ...more }: Partial<Origin> = {},
): Origin {
  return { name, role, independent: true, page, tier: 'T1', status, ...more };
}

/** Questions of a source that knows its entities by a table: one for each wanted entry, with what the entry fills in. */
export function asksFor<Entry>(
  table: Readonly<Record<string, Entry>>,
  values: (entry: Entry, entity: string) => NonNullable<Ask['with']>,
): (asked: Wanted) => readonly Ask[] {
  return (asked) =>
    Object.entries(table)
      .filter(([entity]) => isWanted(asked, entity))
      .map(([entity, entry]) => ({ with: values(entry, entity), about: entity }));
}

/** Entries of a list that are what the source documents. The others touch nothing but themselves: they are named and counted. */
export function readableEntries<Shape>(
  entries: readonly unknown[],
  schema: z.ZodType<Shape>,
  { list, of }: { list: ReadingList; of: (entry: unknown, at: number) => string },
): { readonly read: readonly Shape[]; readonly unread: number } {
  const read = entries.flatMap((entry, at) => {
    const { data, error } = schema.safeParse(entry);
    if (data !== undefined) return [data];
    const [issue] = error?.issues ?? [];
    list.skips.unread(
      of(entry, at).slice(0, 60),
      `${issue?.path.join('.') || 'entry'}: ${issue?.message}`,
    );
    return [];
  });
  return { read, unread: entries.length - read.length };
}

/** A member of an entry as text, to name one that cannot be read; its place where there is none. */
export function memberText(member: string) {
  return (entry: unknown, at: number): string => {
    const value =
      typeof entry === 'object' && entry !== null
        ? (entry as Readonly<Record<string, unknown>>)[member]
        : undefined;
    return typeof value === 'string' || typeof value === 'number'
      ? String(value)
      : `entry ${at + 1}`;
  };
}

/** The day of `20261130` at 00:00Z in epoch milliseconds; null for no such day. */
export function plainDay(digits: string): number | null {
  return dayTime(digits.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'));
}
