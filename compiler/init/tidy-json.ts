/** Longest line of a file that people edit. */
const LINE_CHARS_MAX = 100;

/** JSON as people write it: what fits into a line stands in one. `indent` is that of the line in which it begins. */
export function tidyJson(value: unknown, indent = '', key = ''): string {
  const flat = spaced(value);
  const isFlat = typeof value !== 'object' || value === null;
  if (isFlat || `${indent}${key}${flat}`.length < LINE_CHARS_MAX) return flat;
  const deeper = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const rows = Object.entries(value).map(([name, member]) => {
    const start = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `;
    return `${deeper}${start}${tidyJson(member, deeper, start)}`;
  });
  return `${open}\n${rows.join(',\n')}\n${indent}${close}`;
}

function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const rows = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}: ${spaced(one)}`,
  );
  return rows.length === 0 ? '{}' : `{ ${rows.join(', ')} }`;
}
