import type { JsonObject, JsonValue } from '../../compiler/contract/strict-json.ts';
import {
  TOOL_ARGUMENT_CHARS_MAX,
  type Tool,
  type ToolArgument,
} from '../../compiler/contract/tools.ts';

/** Longest piece of a stranger's text that an error repeats. */
const SHOWN_CHARS_MAX = 60;

/** A stranger's text as an error repeats it. */
export function shown(text: string): string {
  return JSON.stringify(
    text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}…` : text,
  );
}

/** What is wrong with the arguments and what to send instead; null when they fit the schema. */
export function argumentFault({ inputSchema }: Tool, given: JsonObject): string | null {
  const { properties, required } = inputSchema;
  const legal = Object.keys(properties).join(', ');
  const missing = required.filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0)
    return `argument missing: ${missing.join(', ')}; legal arguments: ${legal}`;
  for (const [name, value] of Object.entries(given)) {
    const argument = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (argument === undefined) return `unknown argument ${shown(name)}; legal arguments: ${legal}`;
    const fault = valueFault(argument, value);
    if (fault !== null) return `argument "${name}" ${fault}`;
  }
  return null;
}

function valueFault(argument: ToolArgument, value: JsonValue): string | null {
  const { type } = argument;
  const wanted = argument.description ?? `a ${type}`;
  if (typeof value !== type) return `is not a ${type}; send ${wanted}`;
  if (typeof value !== 'string') return null;
  if (value === '') return `is empty; send ${wanted}`;
  if (value.length > TOOL_ARGUMENT_CHARS_MAX) {
    return `is longer than ${TOOL_ARGUMENT_CHARS_MAX} characters`;
  }
  const legal = argument.enum ?? [value];
  return legal.includes(value) ? null : `is ${shown(value)}; send one of ${legal.join(', ')}`;
}
