import { describe, expect, it } from 'vitest';
import { LINES } from '../../compiler/contract/catalog/builtin.ts';
import { assertingWord } from '../../compiler/contract/neutral-text.ts';

describe('assertingWord()', () => {
  it.each([
    ['the river will rise tomorrow', 'will rise'],
    ['We recommend this service', 'recommend'],
    ['buy before the weekend', 'buy'],
    ['a forecast of demand', 'forecast'],
    ['Users should act', 'should'],
    ['default is likely', 'likely'],
    ['no forecast here, but prices are expected to fall', 'are expected to'],
    ['this is advice', 'advice'],
  ])('finds what asserts: %s', (text, word) => {
    expect(assertingWord(text)).toBe(word);
  });

  it.each([
    'descriptive record of official readings: no forecast, no judgement, no recommendation, no advice',
    'a swarm rate, not a prediction',
    'it describes and does not advise',
    'stage 13.6 ft at 2026-11-20T10:45:00Z',
    'what is sold and what was bought',
    'a shoulder, a buyer, an expectation',
  ])('leaves what denies or describes: %s', (text) => {
    expect(assertingWord(text)).toBeNull();
  });

  it.each([
    'NOAA NWS Storm Prediction Center, Day 1 Convective Outlook',
    'National Weather Service, Weather Forecast Office St. Louis',
    'Flood Advisory in force',
    'BEST BUY CO INC',
    'Best Buy Co., Inc.',
    'Outlook Therapeutics, Inc.',
    'Predictive Oncology Inc.',
    'Invesco DB US Dollar Index Bullish Fund',
    'Eaton Vance Tax-Managed Buy-Write Income Fund',
  ])('leaves the name of an office, a product or a company: %s', (name) => {
    expect(assertingWord(name)).toBeNull();
  });

  it.each([
    ['Best Buy: buy it', 'buy'],
    ['a Flood Advisory should follow', 'should'],
    ['the best buy of the year', 'buy'],
    ['Strong Buy', 'Buy'],
  ])('finds what asserts beside a name: %s', (text, word) => {
    expect(assertingWord(text)).toBe(word);
  });

  it('knows the names of the table, which name official products', () => {
    for (const row of LINES) {
      for (const signal of row.signals) {
        expect(assertingWord(`${signal.measures} (${signal.id})`)).toBeNull();
      }
    }
  });
});
