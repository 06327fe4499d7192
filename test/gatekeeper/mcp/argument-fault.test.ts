import { describe, expect, it } from 'vitest';
import { BUILTIN } from '../../../compiler/contract/catalog/builtin.ts';
import type { JsonObject } from '../../../compiler/contract/strict-json.ts';
import { toolsOf } from '../../../compiler/contract/tools.ts';
import { argumentFault, shown } from '../../../gatekeeper/mcp/call-tool.ts';

const TOOL_ARGUMENT_CHARS_MAX = 200;
const TOOLS = toolsOf(BUILTIN);
const wrong = (name: string, given: JsonObject): string | null =>
  argumentFault(TOOLS.find((tool) => tool.name === name) ?? (TOOLS[0] as never), given);
const long = 'a'.repeat(TOOL_ARGUMENT_CHARS_MAX);

describe('argumentFault()', () => {
  it.each<[string, JsonObject]>([
    ['find_signal', {}],
    ['find_signal', { full: false, entity: 'x' }],
    ['find_signal', { entity: long }],
    ['get_official_record', { signal_id: 'a', entity: 'b', dim: 'ruler' }],
  ])('finds nothing wrong with %s %j', (name, given) => {
    expect(wrong(name, given)).toBeNull();
  });

  it.each<[string, JsonObject, string]>([
    [
      'get_official_record',
      { entity: 'b' },
      'argument missing: signal_id; legal arguments: signal_id',
    ],
    ['get_official_record', { signal_id: 'a', entity: null }, 'argument "entity" is not a string'],
    ['get_official_record', { signal_id: 'a', entity: '' }, 'argument "entity" is empty'],
    [
      'get_official_record',
      { signal_id: 'a', entity: 'b', dim: 'x' },
      'argument "dim" is "x"; send one of gauge',
    ],
    ['find_signal', { full: 1 }, 'argument "full" is not a boolean; send a boolean'],
    [
      'find_signal',
      { toString: 'x' },
      'unknown argument "toString"; legal arguments: query, industry',
    ],
    ['find_signal', { entity: `${long}a` }, 'argument "entity" is longer than 200 characters'],
  ])('says of %s %j: %s', (name, given, words) => {
    expect(wrong(name, given)).toMatch(new RegExp(`^${words}`));
  });
});

describe('shown()', () => {
  it('repeats a piece of a text, escaped', () => {
    expect(shown('a"\n')).toBe('"a\\"\\n"');
    expect(shown(long)).toHaveLength(63);
  });
});
