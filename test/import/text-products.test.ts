import { describe, expect, it } from 'vitest';
import { ImportError } from '../../compiler/import/payload.ts';
import { floodSegment, floodText } from './floods.ts';
import { boxPoints, point, pointsText } from './outlooks.ts';
import { readAs } from './recorded.ts';
import { reportText } from './reports.ts';
import { currentStatements, falseStatements } from './statements.ts';

const PRODUCTS: Readonly<Record<string, readonly [source: string, text: string]>> = {
  'points of an outlook': [
    'spc',
    pointsText([
      ['MDT', boxPoints([38.2, 38.6], [-99, -98])],
      ['SLGT', boxPoints([37, 40], [-101, -96]), boxPoints([27, 27.5], [-82, -81])],
      ['TSTM', [point(29, -105), point(49.5, -105)]],
    ]),
  ],
  'storm reports': [
    'nws-warnings',
    reportText(
      ['0837 PM', 'HAIL', '41.95N 93.66W', '07/22/2013', 'E1.00 INCH'],
      ['0838 PM', 'TSTM WND GST', '41.86N 93.92W', '07/22/2013', 'E65.00 MPH'],
      ['0910 PM', 'TORNADO', '41.20N 93.10W', '07/22/2013', ''],
    ),
  ],
  'a flood statement': [
    'nws-river-flood',
    floodText(
      floodSegment(),
      floodSegment({ gauge: 'TWOS1', stage: 'At 6 PM Friday the stage was 2.5 feet.' }),
    ),
  ],
};

/** A text with one line less, twice or after the next one, and a text that is cut off. */
function* mutants(text: string): Generator<readonly [name: string, text: string]> {
  const lines = text.split('\n');
  for (const [at, line] of lines.entries()) {
    yield [`line ${at} absent`, lines.toSpliced(at, 1).join('\n')];
    yield [`line ${at} twice`, lines.toSpliced(at, 0, line).join('\n')];
    yield [
      `line ${at} after the next`,
      lines.toSpliced(at, 2, lines[at + 1] ?? '', line).join('\n'),
    ];
  }
  for (let end = 0; end < text.length; end += 23) {
    yield [`cut off at ${end}`, text.slice(0, end)];
    yield [`cut off at ${end}, with a page of markup`, `${text.slice(0, end)}<html></html>`];
  }
}

describe.each(Object.entries(PRODUCTS))(
  '%s with a line in the wrong place',
  (_name, [source, text]) => {
    const note = { url: 'https://api.weather.gov/products/1', fetched_at: '2026-11-20T00:00:00Z' };
    const says = (written: string) => {
      try {
        return currentStatements(readAs(source, written, note));
      } catch (error) {
        if (error instanceof ImportError) return null;
        throw error;
      }
    };

    it('I55: makes no false statement', () => {
      const truth = says(text) ?? new Map();
      const stated = [...mutants(text)].map(([name, written]) => ({
        name,
        statements: says(written),
      }));
      const lies = stated.flatMap(({ name, statements }) =>
        falseStatements(statements ?? new Map(), truth).map((lie) => `${name} -> ${lie}`),
      );
      expect(lies).toEqual([]);
      expect(truth.size).toBeGreaterThan(3);
      expect(stated.filter(({ statements }) => statements === null).length).toBeGreaterThan(20);
      expect(stated.filter(({ statements }) => statements !== null).length).toBeGreaterThan(20);
    });
  },
);
