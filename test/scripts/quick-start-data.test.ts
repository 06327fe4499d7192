import { describe, expect, it } from 'vitest';
import { unusedText } from '../../scripts/quick-start-data.ts';

describe('unusedText()', () => {
  it('names every setting that the quick start does not read, and no value', () => {
    const env = {
      SIGNALPRESS_PAY_TO: 'hunter2',
      SIGNALPRESS_FACILITATOR_URL: 'x',
      SIGNALPRESS_PAYTO: 'x',
      SIGNALPRESS_PORT: '1',
      SIGNALPRESS_STATE: '',
    };
    const text = unusedText(env);
    expect(text).toContain('SIGNALPRESS_FACILITATOR_URL, SIGNALPRESS_PAYTO, SIGNALPRESS_PAY_TO;');
    expect(text).toMatch(/; only SIGNALPRESS_PORT and SIGNALPRESS_BASE_URL are\n$/);
    expect(text).not.toMatch(/hunter2|_STATE/);
  });

  it('says nothing where all that is set is read', () => {
    const env = { SIGNALPRESS_PORT: '1', SIGNALPRESS_BASE_URL: 'https://a.example', PATH: 'x' };
    expect(unusedText(env)).toBe('');
  });
});
