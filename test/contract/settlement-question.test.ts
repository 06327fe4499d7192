import { describe, expect, it } from 'vitest';
import { isLookalike, settlementQuestion } from '../../compiler/contract/settlement-question.ts';

describe('settlementQuestion()', () => {
  const asked = (form: string) =>
    settlementQuestion({ form, event_class: null, cutoff: '2026-03-31' });

  it.each(['10-K', 'SC 13D/A', '24F-2NT', 'DEF 14A', '1-A POS'])('reads "%s"', (form) => {
    expect(asked(form)?.form).toBe(form);
  });

  it.each([
    '10\u2011K',
    '10-\u041a',
    '10-K\u200b',
    '10-K ',
    ' 10-K',
    'SC  13D',
    'FORM 10-K',
    '10-k',
    '-K',
    '',
    `1${'0'.repeat(40)}`,
  ])('I53: takes %j for no form type', (form) => {
    expect(asked(form)).toBeNull();
  });
});

describe('isLookalike()', () => {
  const question = (form: string, eventClass: string | null = null) => ({ form, eventClass });

  it.each([
    '10K',
    '1O-K',
    '0NT 10-K',
    'ONT 10-K',
    'FORM0NT 10-K',
    'I0-K',
    '10 K',
    '10-K.',
    '10K/A',
    'SC13D',
    'SCHEDULE13G',
    'DEF14A',
    '010-K',
    '04',
    '0-10-K',
    'FORM10-K',
    'F0RM-4',
  ])('I53: is true of "%s", which reads like a well-known form', (form) => {
    expect(isLookalike(question(form), [])).toBe(true);
  });

  it.each([
    '10-K',
    '10-K/A',
    'SC 13D',
    'SCHEDULE 13D/A',
    '10-KSB',
    'S-B',
    'T-3',
    '1-K',
    '40',
    'NT 20-F',
  ])('is false of "%s"', (form) => {
    expect(isLookalike(question(form), [])).toBe(false);
  });

  it('I53: is true of what reads like a form that the filer has filed, and false of that form', () => {
    expect(isLookalike(question('N CSR'), ['N-CSR'])).toBe(true);
    expect(isLookalike(question('N CSR'), [])).toBe(false);
    expect(isLookalike(question('N-CSR'), ['N-CSR'])).toBe(false);
  });

  it('I53: is true of an item that begins with 0', () => {
    expect(isLookalike(question('8-K', '02.02'), [])).toBe(true);
    expect(isLookalike(question('8-K', '2.02'), [])).toBe(false);
  });
});
