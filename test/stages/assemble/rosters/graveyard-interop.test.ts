import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { graveyardSchema } from '../../../../compiler/contract/roster-bodies.ts';
import { rosterSet } from '../../../roster-rows.ts';
import { removeFolders } from '../../../snapshot-folder.ts';
import { printed } from './printed.ts';

const FOLDER = new URL('../../../../../shared/interop/', import.meta.url);
afterAll(removeFolders);

const names = (value: unknown): string[] => Object.keys(value as object).sort();

describe.skipIf(!existsSync(FOLDER))(
  'graveyards beside recorded bodies of the same contract (skipped where these are not at hand)',
  () => {
    it.each(['stable', 'trust'])('%s: spell every member of a recorded body the same', (which) => {
      const theirs = JSON.parse(readFileSync(new URL(`${which}_graveyard.json`, FOLDER), 'utf8'));
      const ours = graveyardSchema.parse(
        printed(rosterSet()).body(`roster/${which}/graveyard.json`),
      );
      expect(names(ours)).toEqual(expect.arrayContaining(names(theirs).filter(isRequired)));
      expect(names(ours.deaths[0])).toEqual(names(theirs.deaths[0]));
      expect(names(ours.record_hash_verifiable)).toEqual(names(theirs.record_hash_verifiable));
      const entities = ours.deaths.map(({ entity }) => entity);
      expect(entities).toEqual([...entities].sort());
    });
  },
);

/** A note about an import is only there where rows have one. */
const isRequired = (name: string): boolean => name !== 'source_note';
