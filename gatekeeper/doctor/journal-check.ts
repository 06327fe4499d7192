import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { isPostgresUrl, shownPlace } from '../config/postgres-url.ts';
import { JOURNAL_NAME } from '../journal/journal-file.ts';
import { journalFacts } from '../journal/with-journal.ts';
import type { JournalFacts } from '../money/journal.ts';
import type { Examined } from './check.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';

/** Reads the journal, also beside the gatekeeper that writes it: whether it is whole, and what is open. */
export async function journalCheck({ config }: Examined): Promise<Finding[]> {
  const facts = await journalFacts(config);
  if (facts === null) {
    return [skipped(`nothing in "${placeOf(config)}" yet; the first start makes it`)];
  }
  if (facts.damage !== null) {
    const remedy = 'stop the gatekeeper and restore a backup (gatekeeper/README.md)';
    return [failed(`its file is damaged: ${facts.damage}`, remedy)];
  }
  return [ok(`"${placeOf(config)}" is whole`), openFinding(facts)];
}

function placeOf({ journal, stateDir }: Config): string {
  return isPostgresUrl(journal) ? shownPlace(journal) : join(stateDir, JOURNAL_NAME);
}

function openFinding({ open, oldestMs }: JournalFacts): Finding {
  if (open === 0 || oldestMs === null) return ok('no payment is open');
  return warning(
    `open payments: ${open}, the oldest since ${new Date(oldestMs).toISOString()}`,
    'see them with "signalpress-gate ledger list --only unknown"; their buyers may send them again',
  );
}
