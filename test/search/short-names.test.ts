import { expect, it } from 'vitest';
import { catalogOf } from '../../compiler/contract/catalog/catalog.ts';
import { formatCatalogRow } from '../../compiler/contract/release.ts';
import { parseTermRow, SEARCH_TERMS_PATH } from '../../compiler/contract/search-index.ts';
import { searchIndexFiles } from '../../compiler/stages/describe/search-index.ts';

/** Names of the two lines of a catalogue; only the first entity of the first line has another name. */
const NAMES = {
  rivers: ['Port Anna, CA', 'Anna Creek', 'Weir near Port Anna'],
  roads: ['Port Anna Road'],
};

it('a place is called by the short name of another one of its line that stands in its name', () => {
  const lines = Object.entries(NAMES).map(([id, names]) => ({
    id,
    industry: 'measuring',
    title: id,
    signals: [
      {
        id: `${id}.a`,
        measures: 'depth',
        cadence: 'hourly' as const,
        metrics: ['level_m'] as [string],
      },
    ],
    entities: names.map((name, at) => ({ id: `E${at}`, name })),
  }));
  const catalog = catalogOf([
    {
      format: 'signalpress-catalog/1',
      extends: null,
      prices: { '/gauge': '0.01', bundle: '0.2' },
      abbreviations: {},
      aliases: { 'rivers/E0': ['PAX'] },
      lines,
    },
  ]);
  const rows = lines.flatMap(({ signals, entities }) =>
    entities.map(({ id }) =>
      formatCatalogRow({
        signal_id: signals[0]?.id ?? '',
        entity: id,
        entity_name: null,
        observed_at: '2026-11-21T00:00:00Z',
        band: null,
        record_hash: `sha256:${'0'.repeat(64)}`,
        last_looked_at: '2026-11-21T00:00:00Z',
      }),
    ),
  );
  const files = searchIndexFiles({ catalog, table: Buffer.from(rows.join('')), entries: [] });
  const [, ...terms] = (files.get(SEARCH_TERMS_PATH) ?? '').split('\n').slice(0, -1);
  const having = (term: string): number | undefined =>
    terms.map(parseTermRow).find((row) => row.term === term)?.places;
  expect(having('pax')).toBe(2);
  expect(having('anna')).toBe(4);
});
