import type { Service } from '../../gatekeeper/heart/answers/service.ts';
import { filingSet, listingRow } from '../filing-rows.ts';
import { compileFolder, writeSnapshots } from '../snapshot-folder.ts';
import { compiledService } from './tiny-service.ts';

/** When the releases of filings are asked. */
export const FILING_NOW = '2026-11-20T12:30:00Z';

/** A release of one filer's filings, and what its list says otherwise; `removeFolders` takes its folder away. */
export async function filingData(rows: readonly object[], list = {}): Promise<string> {
  const { data } = await compileFolder(writeSnapshots(filingSet([listingRow(list), ...rows])));
  return data;
}

/** A service over such a release. */
export async function filingService(rows: readonly object[], list = {}): Promise<Service> {
  return compiledService(await filingData(rows, list), FILING_NOW);
}
