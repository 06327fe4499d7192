import { formatKeyHistory, KEYS_PATH, type KeyHistory } from '../../contract/key-history.ts';
import { DID_PATH } from '../../contract/static-files.ts';
import { TOOLS } from '../../contract/tools.ts';
import type { Press } from '../publish/press.ts';
import { agentCard, legacyCard, signedCard } from './agent-card.ts';
import { didDocument } from './did-document.ts';
import { releaseExamples } from './examples.ts';
import { manifestBody, manifestEntries } from './manifest.ts';
import { openApi } from './openapi.ts';
import { type Shelf, storedBodies } from './stored-bodies.ts';
import { FAVICON, llmsText, robotsText, securityText } from './texts.ts';

export interface Description {
  /** What was published before the descriptions. */
  readonly shelf: Shelf;
  /** `mailto:` or https address of the operator; null when none was given. */
  readonly contact: string | null;
  /** Issuer keys, past ones and announced ones too. */
  readonly keys: KeyHistory;
}

/** Writes every description of the service; all of them are projections of the two tables. */
export function describe(press: Press, { shelf, contact, keys }: Description): void {
  const { issuer, asOf } = press;
  const stored = storedBodies(shelf);
  const entries = manifestEntries(stored, releaseExamples(shelf));
  const open = entries.filter((entry) => entry.sells_now);
  const card = { issuer, entries };
  const texts = { issuer, entries, asOf, contact };
  press.put('/manifest', {}, manifestBody(open));
  press.put('/manifest', { all: '1' }, manifestBody(entries));
  press.put('/manifest', { platform: 'mcp' }, { tools: TOOLS });
  press.put('/manifest', { platform: 'a2a' }, agentCard(card));
  press.put('/.well-known/agent-card.json', {}, signedCard(agentCard(card), press));
  press.put('/.well-known/agent.json', {}, legacyCard(card));
  const json = (path: string, body: object): void => press.file(path, JSON.stringify(body));
  json('well-known/openapi.json', openApi({ issuer, contact, entries, stored }));
  json(DID_PATH, didDocument({ issuer, keys, asOf }));
  press.file(KEYS_PATH, formatKeyHistory(keys));
  press.file('well-known/llms.txt', llmsText(texts));
  press.file('well-known/robots.txt', robotsText(texts));
  press.file('well-known/security.txt', securityText(texts));
  press.file('well-known/favicon.svg', FAVICON);
}
