import { jsonIn, noteOf, PLAYED, playedPayloads } from './cases.ts';
import {
  currentStatements,
  type Mutated,
  readingStatements,
  rosterStatements,
} from './statements.ts';

const SAYS = {
  readings: readingStatements,
  current: currentStatements,
  roster: rosterStatements,
} as const;

/**
 * Every payload of the cases that says by `spoil` what it is held to, by `honest` which changes an agency makes itself, and by
 * `anywhere` which values say whom an entry is about.
 */
export const SPOILED = PLAYED.flatMap((source) =>
  playedPayloads(source).flatMap(({ name, heads, text }) => {
    const says = SAYS[heads.spoil as keyof typeof SAYS];
    if (says === undefined) return [];
    const honest = heads.honest === undefined ? {} : { honest: new RegExp(heads.honest) };
    const payload = jsonIn(text) ?? text;
    const note = noteOf(heads, text.length);
    const mutated: Mutated = { source, payload, note, says, ...honest };
    const anywhere = heads.anywhere === undefined ? null : new RegExp(heads.anywhere);
    return [{ name, mutated, anywhere }];
  }),
);
