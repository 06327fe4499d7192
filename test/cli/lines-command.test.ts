import { describe, expect, it } from 'vitest';
import { BUILTIN, LINES } from '../../compiler/catalog/builtin.ts';
import { catalogOf } from '../../compiler/catalog/catalog.ts';
import { REGISTER, saleDoubt } from '../../compiler/catalog/register.ts';
import {
  EXAMPLE_ROWS,
  exampleReading,
  linesText,
  unitsText,
} from '../../compiler/cli/lines-command.ts';
import { COLLECTIONS } from '../../compiler/products/collections.ts';
import { ROW_SCHEMAS } from '../../compiler/readings/collection-rows.ts';
import { batchTimes } from '../../compiler/readings/list-snapshots.ts';
import { parseReading } from '../../compiler/readings/reading.ts';
import { builtinEntry } from '../builtin-rows.ts';
import { TIDE_FILE } from '../tide-shop.ts';

const lastLine = (text: string): unknown =>
  JSON.parse(text.split('\n').findLast((line) => line.startsWith('{')) ?? '');

describe('unitsText()', () => {
  it('lists each unit of a catalogue by the end of a metric, with what people read', () => {
    const label = 'FNU';
    const fnu = { name: 'formazin unit', quantity: 'turbidity', label, range: { from: 0, to: 4 } };
    const lines = unitsText(catalogOf([{ ...TIDE_FILE, units: { fnu } }])).split('\n');
    expect(lines).toHaveLength(1 + BUILTIN.units.size + 1);
    expect(lines).toContain('  _fnu          formazin unit (turbidity, FNU, from 0 to 4)');
    expect(lines).toContain('  _ms           metre per second (speed, m/s)');
    expect(lines).toContain('  _count        number of things (count, from 0)');
    expect(unitsText(BUILTIN)).not.toContain('fnu');
  });
});

describe('linesText(BUILTIN)', () => {
  it('names every signal and every collection, and how to ask for one', () => {
    const text = linesText(BUILTIN);
    for (const { id } of [...BUILTIN.signals, ...COLLECTIONS])
      expect(text).toContain(`    ${id}  `);
    expect(text).toContain('signalpress lines <id>');
    expect(text).not.toMatch(/\.ts\b/);
  });

  it.each(BUILTIN.signals.map((signal) => [signal.id, signal] as const))(
    'shows of %s its metrics, bands and states, and a line that intake takes',
    (id, signal) => {
      const text = linesText(BUILTIN, id);
      const words = [...signal.metrics, ...(signal.bands ?? []), ...(signal.ownThresholds ?? [])];
      for (const word of [...words, signal.cadence]) expect(text).toContain(word);
      expect(lastLine(text)).toEqual(exampleReading(builtinEntry(signal.id)));
      const outcome = parseReading(lastLine(text), {}, builtinEntry(id));
      expect(outcome).toHaveProperty('ok');
      if ('ok' in outcome) {
        const judge = batchTimes('2026-11-20T12:00:00Z', '2026-11-20');
        expect(judge(outcome.ok.collected_at)).toBeNull();
      }
    },
  );

  it('names the sources of each signal and collection, or says that none is known', () => {
    expect(linesText(BUILTIN, 'hydrology.river-level')).toContain(
      '  source      nwps, nws-river-flood, usgs-nwis',
    );
    expect(linesText(BUILTIN, 'grid-reliability.stress')).toContain(
      '  source      eia (needs SIGNALPRESS_EIA_KEY)',
    );
    expect(linesText(BUILTIN, 'promise.slippage')).toContain(
      '  source      no public source known',
    );
    expect(linesText(BUILTIN, 'trust.service')).toContain('  source      no public source known');
    expect(linesText(BUILTIN)).toMatch(/ promise\.slippage .* \(no public source known\)\n/);
    expect(linesText(BUILTIN)).not.toMatch(/ hydrology\.river-level .* \(no public source/);
  });

  it('knows a real source of 75 signals, and of 60 one that needs no key and may be sold', () => {
    const fed = (rows: typeof REGISTER) => {
      const ids = new Set(rows.flatMap(({ feeds }) => feeds));
      return BUILTIN.signals.filter(({ id }) => ids.has(id)).length;
    };
    const keyless = REGISTER.filter(({ key }) => key === undefined || key.is_optional === true);
    expect(fed(REGISTER)).toBeGreaterThanOrEqual(75);
    const licensed = keyless.filter((row) => row.terms.may_be_sold && saleDoubt(row) === null);
    expect(fed(licensed)).toBeGreaterThanOrEqual(60);
  });

  it('shows no example that intake would take without its main metric', () => {
    for (const signal of BUILTIN.signals) {
      const example = { ...exampleReading(builtinEntry(signal.id)), current: {} };
      expect(parseReading(example, {}, builtinEntry(signal.id))).toHaveProperty('faults');
    }
  });

  it.each(COLLECTIONS.map(({ id }) => id))(
    'shows of %s its members, and a row that intake takes',
    (id) => {
      const text = linesText(BUILTIN, id);
      const row = lastLine(text) as object;
      expect(ROW_SCHEMAS[id].safeParse(row).error).toBeUndefined();
      expect(ROW_SCHEMAS[id].safeParse({ ...row, collected_at: undefined }).success).toBe(false);
      expect(row).toEqual(EXAMPLE_ROWS[id]);
      for (const name of Object.keys(row)) expect(text).toContain(name);
    },
  );

  it('marks the members that a row of a collection may lack, and no other', () => {
    const [, members = ''] = /^ {2}members +(.*)$/m.exec(linesText(BUILTIN, 'mcp.server')) ?? [];
    expect(members.split(', ')).toEqual(
      expect.arrayContaining(['server_id', 'capture_date', 'name?', 'grade?', 'imported?']),
    );
    expect(linesText(BUILTIN, 'document')).toMatch(/ form, legs\?, text\?, rows\?$/m);
  });

  it('shows all signals of a line', () => {
    const [line] = LINES;
    for (const { id } of line?.signals ?? [])
      expect(linesText(BUILTIN, line?.id)).toContain(`${id}: `);
  });

  it('suggests what a misspelt id means, and nothing for one that means none', () => {
    expect(() => linesText(BUILTIN, 'crypto.spott')).toThrow(/did you mean "crypto.spot"\?/);
    expect(() => linesText(BUILTIN, 'qqqqqqqqqqqq')).toThrow(
      /not a line, signal or collection; "signalpress lines"/,
    );
  });
});
