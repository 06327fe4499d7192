import { describe, expect, it } from 'vitest';
import { builtinLine } from '../../../compiler/contract/catalog/builtin.ts';
import { CLASSES, drugOf, isCombined } from '../../../compiler/import/sources/openfda/openfda.ts';
import { usDay } from '../../../compiler/import/sources/openfda/shortage-rows.ts';
import { PAYLOADS, readAs, valuesOf } from '../recorded.ts';
import { BULK, row, shortages } from '../shortages.ts';
import { zipOf } from '../zip-of.ts';

const DRUGS = builtinLine('drug-detail').entities;
const THERAPEUTIC_CLASSES = builtinLine('drug-shortage').entities;

const STATUS = 'drug-detail.status';
const NARROWING = 'drug-detail.supply-narrowing';
const ACTIVE = 'drug-shortage.active-shortages';
const INCIDENCE = 'drug-shortage.new-incidence';
const read = (results: readonly unknown[], over = {}) =>
  readAs('openfda', shortages(results, over), BULK);
const current = (imported: ReturnType<typeof read>, signal: string, entity: string) =>
  imported.readings.get(signal)?.find((reading) => reading.entity === entity)?.current;

describe('openfda, drugs', () => {
  it('counts packages of a drug in any salt and form, and makers that still supply it', () => {
    const imported = read([
      row('Cisplatin Injection', 'Available', { package_ndc: '1', company_name: 'A Labs' }),
      row('Cisplatin Injection', 'Limited Availability', {
        package_ndc: '2',
        company_name: 'B Labs',
      }),
      row('CISPLATIN  Solution', 'Unvailable', { package_ndc: '3', company_name: 'C Labs' }),
      row('Cisplatin Injection', undefined, {
        package_ndc: '4',
        company_name: 'D Labs',
        status: 'To Be Discontinued',
        update_date: '11/16/2026',
      }),
    ]);
    const [reading] = imported.readings.get(STATUS) ?? [];
    expect(reading).toMatchObject({
      entity: 'cisplatin',
      observed_at: '2026-11-17T00:00:00Z',
      grade: 'not decision-grade: the list itself says not to rely on it for medical care',
      current: {
        packages_count: 4,
        unavailable_count: 1,
        limited_count: 1,
        available_count: 1,
        discontinued_count: 1,
        companies_count: 4,
        band: 'in-shortage',
      },
    });
    expect(current(imported, NARROWING, 'cisplatin')).toEqual({
      companies_count: 2,
      band: 'narrow',
    });
  });

  it.each([
    [['Available'], 'available', 'sole-source'],
    [['Limited Availability', 'Available'], 'limited', 'sole-source'],
    [['Limited Availability'], 'in-shortage', 'sole-source'],
    [['Unavailable', 'Available'], 'in-shortage', 'sole-source'],
    [['Unavailable', 'Unavailable'], 'severe-shortage', 'none'],
  ])('calls packages that are %j %s', (words, band, supply) => {
    const imported = read(words.map((word, at) => row('Heparin', word, { package_ndc: `${at}` })));
    expect(current(imported, STATUS, 'heparin')?.band).toBe(band);
    expect(current(imported, NARROWING, 'heparin')?.band).toBe(supply);
  });

  it('says nothing of the supply of a drug that is only discontinued or resolved', () => {
    const gone = (status: string) => read([row('Heparin', undefined, { status })]);
    expect(current(gone('To Be Discontinued'), STATUS, 'heparin')?.band).toBe('discontinuing');
    expect(current(gone('Resolved'), STATUS, 'heparin')?.band).toBeNull();
    expect(gone('Resolved').readings.has(NARROWING)).toBe(false);
  });

  it('I55: gives no reading of a drug that is not listed', () => {
    const { readings } = read([row('Etomidate Injection', 'Available')]);
    expect([...readings.keys()].sort()).toEqual([ACTIVE, INCIDENCE]);
  });

  it.each([
    ['another status', { status: 'Sometimes' }],
    ['a word that is not known', { availability: 'Perhaps' }],
    ['no word', { availability: undefined }],
    ['no maker', { company_name: '' }],
    ['no package', { package_ndc: 'N/A' }],
    ['a day in another format', { update_date: '2026-11-17' }],
    ['a day that does not exist', { update_date: '02/30/2026' }],
    ['a day after the fetch', { update_date: '11/21/2026' }],
  ])('I55: uses nothing of a drug with %s in one row', (_name, over) => {
    const imported = read([
      row('Heparin Sodium Injection', 'Available'),
      row('Heparin Sodium Injection', 'Available', { package_ndc: '9', ...over }),
      row('Propofol Emulsion', 'Available'),
    ]);
    expect(imported.readings.get(STATUS)?.map(({ entity }) => entity)).toEqual(['propofol']);
    expect(imported.skipped.map(({ subject }) => subject)).toEqual(['heparin']);
  });

  it('leaves out products of several drugs, by name', () => {
    const { readings, skipped } = read([
      row('Lidocaine Hydrochloride; Epinephrine Bitartrate Injection', 'Unavailable'),
      row('Epinephrine Injection', 'Available'),
    ]);
    expect(readings.get(STATUS)?.map(({ entity }) => entity)).toEqual(['epinephrine']);
    expect(skipped).toMatchObject([{ subject: 'lidocaine' }]);
  });

  it.each([
    ['heparin sodium injection', 'heparin', false],
    ['norepinephrine bitartrate injection', 'norepinephrine', false],
    ['potassium chloride injection', 'potassium-chloride', false],
    ['potassium chloride in dextrose injection', 'potassium-chloride', true],
    ['amoxicillin powder, for suspension', 'amoxicillin', false],
    ['amoxicillin, clavulanate potassium', 'amoxicillin', true],
    ['bupivacaine and epinephrine', 'bupivacaine', true],
    ['heparinoid gel', undefined, false],
    ['xylocaine', undefined, false],
  ])('takes "%s" for %s', (name, drug, combined) => {
    expect(drugOf(name)).toBe(drug);
    expect(isCombined(name)).toBe(combined);
  });
});

describe('openfda, classes', () => {
  it('counts names that are short, listed and new, in every class of a row', () => {
    const imported = read([
      row('Aaa Injection', 'Unavailable', {
        therapeutic_category: ['Oncology', 'Psychiatry', 'Other'],
      }),
      row('Aaa Injection', 'Available', { package_ndc: '2' }),
      row('Bbb Injection', 'Available'),
      row('Ccc Tablet', 'Limited Availability', { initial_posting_date: '08/20/2026' }),
      row('Ddd Tablet', 'Limited Availability', { initial_posting_date: '08/19/2026' }),
      row('Eee Tablet', undefined, {
        status: 'To Be Discontinued',
        initial_posting_date: '11/01/2026',
      }),
    ]);
    expect(valuesOf(imported, ACTIVE)).toEqual([
      ['oncology', '2026-11-18T00:00:00Z', { active_count: 3, listed_count: 4 }],
      ['psychiatry-cns', '2026-11-18T00:00:00Z', { active_count: 1, listed_count: 1 }],
    ]);
    expect(valuesOf(imported, INCIDENCE)).toMatchObject([
      ['oncology', '2026-11-18T00:00:00Z', { new_90d_count: 1 }],
      ['psychiatry-cns', '2026-11-18T00:00:00Z', { new_90d_count: 0 }],
    ]);
    expect(imported.skipped).toMatchObject([{ subject: 'Other', count: 1 }]);
  });

  it('I55: has no count where a row that cannot be read decides', () => {
    const counts = (...rows: readonly object[]) => {
      const imported = read(rows);
      return {
        ...current(imported, ACTIVE, 'oncology'),
        ...current(imported, INCIDENCE, 'oncology'),
      };
    };
    const open = row('Aaa Injection', 'Perhaps');
    expect(counts(open)).toEqual({ active_count: null, listed_count: null, new_90d_count: null });
    expect(counts(open, row('Aaa Injection', 'Unavailable'))).toEqual({
      active_count: 1,
      listed_count: 1,
      new_90d_count: 0,
    });
    const undated = row('Aaa Injection', 'Unavailable', { initial_posting_date: 'x' });
    expect(counts(undated)).toMatchObject({ active_count: 1, new_90d_count: null });
  });

  it('I55: counts no class where a row names none', () => {
    const imported = read([
      row('Heparin', 'Available'),
      row('Cisplatin', 'Available', { therapeutic_category: undefined }),
    ]);
    expect(imported.readings.get(STATUS)).toHaveLength(2);
    expect(imported.readings.has(ACTIVE)).toBe(false);
    expect(imported.skipped).toMatchObject([{ subject: 'classes', count: 1 }]);
  });

  it('knows every class and drug of the lines', () => {
    expect([...CLASSES.values()]).toEqual([...THERAPEUTIC_CLASSES]);
    for (const drug of DRUGS) expect(drugOf(`${drug.replaceAll('-', ' ')} injection`)).toBe(drug);
  });
});

describe('openfda, payloads', () => {
  const one = row('Heparin', 'Available');

  it('reads the bulk file in its archive to the same readings', () => {
    const payload = shortages([one]);
    const packed = zipOf('drug-shortages-0001-of-0001.json', JSON.stringify(payload));
    const readings = (answer: unknown) =>
      [...readAs('openfda', answer, BULK).readings.values()]
        .flat()
        .map(({ evidence, ...reading }) => reading);
    expect(readings(packed)).toEqual(readings(payload));
    expect(readings(packed).length).toBeGreaterThan(0);
  });

  it.each([
    [
      'fewer rows than it announces',
      shortages([one], { total: 2 }),
      'announces 2 rows and holds 1',
    ],
    ['a later page', shortages([one], { skip: 1 }), 'from 1 on'],
    ['no row', shortages([]), 'not a list of drug shortages'],
    [
      'a batch of after the fetch',
      shortages([one], { last_updated: '2026-11-21' }),
      'after its fetch',
    ],
    ['a row of no name', shortages([{ ...one, generic_name: 'N/A' }]), 'results.0.generic_name'],
    [
      'a row of no class',
      shortages([{ ...one, therapeutic_category: [] }]),
      'results.0.therapeutic',
    ],
    ['an error', { error: { code: 'NOT_FOUND' } }, 'not a list of drug shortages'],
  ])('refuses %s', (_name, payload, message) => {
    expect(() => readAs('openfda', payload, BULK)).toThrow(message);
  });

  it('refuses an answer to a search, which is whole for that search only', () => {
    const url = 'https://api.fda.gov/drug/shortages.json?search=generic_name:heparin';
    expect(() => readAs('openfda', shortages([one]), { ...BULK, url })).toThrow(
      'answer to a search',
    );
    const whole = url.replace(/search=.*/, 'limit=1000');
    expect(readAs('openfda', shortages([one]), { ...BULK, url: whole }).readings.size).toBe(4);
  });

  it('reads days as the US writes them', () => {
    expect(usDay('06/09/2026')).toBe(Date.parse('2026-06-09'));
    expect(['6/9/2026', '2026-06-09', '31/12/2026', '02/29/2026', ''].map(usDay)).toEqual(
      [0, 0, 0, 0, 0].map(() => null),
    );
  });
});

describe.each(PAYLOADS)('recorded lists: $name', ({ recorded }) => {
  const JUNE = 'openfda/drug_shortages_2026-06-19_first-records.json';
  const SEPTEMBER = 'openfda/drug_shortages_2026-09-26_first-records.json';
  /** The first records, as if the list had no others. */
  const asWhole = (file: string) => {
    const value = JSON.parse(recorded(file).toString()) as ReturnType<typeof shortages>;
    return { ...value, meta: { ...value.meta, results: { skip: 0, total: value.results.length } } };
  };
  const at = (fetched_at: string) => ({ ...BULK, fetched_at });

  it('refuses both as parts of a list', () => {
    const june = () => readAs('openfda', recorded(JUNE), at('2026-06-20T00:00:00Z'));
    expect(june).toThrow('announces 1640 rows and holds 7');
    const september = () => readAs('openfda', recorded(SEPTEMBER), at('2026-09-27T00:00:00Z'));
    expect(september).toThrow('announces 1601 rows and holds 7');
  });

  it('would read the records of June to their worked values', () => {
    const imported = readAs('openfda', asWhole(JUNE), at('2026-06-20T00:00:00Z'));
    const band = (drug: string) => current(imported, STATUS, drug);
    expect(band('hydromorphone')).toMatchObject({ unavailable_count: 1, band: 'severe-shortage' });
    expect(band('dexamethasone')).toMatchObject({ unavailable_count: 1, band: 'severe-shortage' });
    expect(imported.readings.get(STATUS)).toHaveLength(2);
    // Etomidate is limited, quinapril available, moxifloxacin discontinued.
    expect(current(imported, ACTIVE, 'anesthesia')).toEqual({ active_count: 1, listed_count: 1 });
    expect(current(imported, ACTIVE, 'cardiovascular')).toEqual({
      active_count: 0,
      listed_count: 1,
    });
    expect(current(imported, ACTIVE, 'anti-infective')).toEqual({
      active_count: 0,
      listed_count: 0,
    });
    expect(current(imported, ACTIVE, 'pulmonary-allergy')?.active_count).toBe(1);
  });

  it('would read the records of September to their worked values', () => {
    const imported = readAs('openfda', asWhole(SEPTEMBER), at('2026-09-27T00:00:00Z'));
    const bands = imported.readings
      .get(STATUS)
      ?.map(({ entity, current: { band } }) => [entity, band]);
    expect(bands).toEqual([
      ['dobutamine', 'severe-shortage'],
      ['hydromorphone', 'available'],
      ['midazolam', 'available'],
    ]);
    expect(current(imported, ACTIVE, 'cardiovascular')).toEqual({
      active_count: 2,
      listed_count: 2,
    });
  });
});
