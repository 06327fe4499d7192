import { existsSync, readFileSync } from 'node:fs';

const OWN = new URL('./vectors/foreign/', import.meta.url);
const RECORDED = new URL('../../shared/interop/', import.meta.url);
const NAMES = ['stable_graveyard', 'trust_graveyard'];

interface ForeignBody {
  readonly name: string;
  readonly text: string;
}

/**
 * Bodies as another service of the contract spells them: a label in place of the key id, no claim, a content hash that
 * nobody can make again. Ours were signed by other code; recorded ones stand beside them on a machine that has them.
 */
export const FOREIGN_BODIES: readonly ForeignBody[] = [OWN, RECORDED]
  .filter((folder) => existsSync(folder))
  .flatMap((folder) =>
    NAMES.map((name) => ({
      name: `${name}${folder === OWN ? '' : ' (recorded)'}`,
      text: readFileSync(new URL(`${name}.json`, folder), 'utf8'),
    })),
  );
