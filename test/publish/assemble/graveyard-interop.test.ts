import { afterAll, describe, expect, it } from 'vitest';
import { graveyardSchema } from '../../../compiler/products/shapes/roster-bodies.ts';
import { rosterSet } from '../../roster-rows.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import { FOREIGN_BODIES } from '../../verify/foreign-texts.ts';
import { printed } from './printed.ts';

afterAll(removeFolders);

const names = (value: unknown): string[] => Object.keys(value as object).sort();
/** A note about an import is only there where rows have one. */
const isRequired = (name: string): boolean => name !== 'source_note';

describe('graveyards beside bodies of another service of the contract', () => {
  it.each(FOREIGN_BODIES)('$name: spell every member the same', ({ name, text }) => {
    const theirs = JSON.parse(text);
    const which = name.startsWith('stable') ? 'stable' : 'trust';
    const ours = graveyardSchema.parse(printed(rosterSet()).body(`roster/${which}/graveyard.json`));
    expect(names(ours)).toEqual(expect.arrayContaining(names(theirs).filter(isRequired)));
    expect(names(ours.deaths[0])).toEqual(names(theirs.deaths[0]));
    expect(names(ours.record_hash_verifiable)).toEqual(names(theirs.record_hash_verifiable));
    const entities = ours.deaths.map(({ entity }) => entity);
    expect(entities).toEqual([...entities].sort());
  });
});
