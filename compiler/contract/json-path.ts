const PATH_CHARS_MAX = 120;

type Steps = (string | number)[];

/** The path, like `sources.0.name`, of the value at an offset of a JSON text that is well formed before it. */
export function jsonPath(text: string, at: number): string {
  const steps: Steps = [];
  let key = '';
  for (let i = 0; i < at; i += 1) {
    if (text[i] === '"') {
      const end = stringEnd(text, i);
      key = text.slice(i + 1, end);
      i = end;
    } else {
      step(steps, text[i], key);
    }
  }
  const path = steps.filter((each) => each !== '').join('.');
  return path.length > PATH_CHARS_MAX ? `${path.slice(0, PATH_CHARS_MAX)}…` : path;
}

function step(steps: Steps, unit: string | undefined, key: string): void {
  const last = steps.length - 1;
  if (unit === '{') steps.push('');
  else if (unit === '[') steps.push(0);
  else if (unit === '}' || unit === ']') steps.pop();
  else if (unit === ':') steps[last] = key;
  else if (unit === ',') steps[last] = following(steps[last]);
}

function following(current: string | number | undefined): string | number {
  return typeof current === 'number' ? current + 1 : '';
}

function stringEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end;
}
