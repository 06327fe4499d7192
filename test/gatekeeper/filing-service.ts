import type { Service } from '../../gatekeeper/answers/service.ts';
import { filingSet, listingRow } from '../filing-rows.ts';
import { compileFolder, writeSnapshots } from '../snapshot-folder.ts';
import { compiledService } from './compiled-service.ts';

/** A service over a release of one filer's filings, and what its list says otherwise; `removeFolders` takes its folder away. */
export async function filingService(rows: readonly object[], list = {}): Promise<Service> {
  const { data } = await compileFolder(writeSnapshots(filingSet([listingRow(list), ...rows])));
  return compiledService(data, '2026-11-20T12:30:00Z');
}
