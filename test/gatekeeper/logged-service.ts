import { parseCatalogRow } from '../../compiler/contract/release.ts';
import type { Service } from '../../gatekeeper/answers/service.ts';
import {
  hashes,
  type LogFiles,
  type MemoryOptions,
  memoryLog,
} from '../stages/anchor/memory-log.ts';
import { tinyFiles } from './tiny-release.ts';
import { tinyService } from './tiny-service.ts';

/** A hash of which nothing but its place in that log is left. */
export const SUPERSEDED_HASH = `sha256:${'ab'.repeat(32)}`;

/** Record hashes of the tiny release. */
export function tinyHashes(files = tinyFiles()): string[] {
  const lines = files.get('index/catalog.txt')?.toString('utf8').split('\n').slice(0, -1) ?? [];
  return lines.map((line) => parseCatalogRow(line).record_hash);
}

/** Files of the tiny release with a log of three batches around its records, and `more` hashes. */
export function loggedFiles(options: MemoryOptions = {}, more: readonly string[] = []): LogFiles {
  const leaves = {
    '2026-11-19': [...hashes(0, 299), SUPERSEDED_HASH],
    '2026-11-20': [...tinyHashes(), ...hashes(300, 40)],
    '2026-11-20T06Z': [...hashes(400, 10), ...more],
  };
  return new Map([...tinyFiles(), ...memoryLog(leaves, options)]);
}

/** A service over the tiny release with that log. */
export async function loggedService(options: MemoryOptions = {}): Promise<Service> {
  return tinyService({ files: loggedFiles(options) });
}
