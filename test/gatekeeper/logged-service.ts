import { parseCatalogRow } from '../../compiler/contract/release.ts';
import type { Service } from '../../gatekeeper/service.ts';
import {
  hashes,
  type LogFiles,
  type MemoryOptions,
  memoryLog,
} from '../stages/anchor/memory-log.ts';
import { tinyFiles } from './tiny-release.ts';
import { tinyService } from './tiny-service.ts';

/** Record hashes of the tiny release. */
export function tinyHashes(files = tinyFiles()): string[] {
  const lines = files.get('index/catalog.txt')?.toString('utf8').split('\n').slice(0, -1) ?? [];
  return lines.map((line) => parseCatalogRow(line).record_hash);
}

/** Files of the tiny release with a log of three batches around its records. */
export function loggedFiles(options: MemoryOptions = {}): LogFiles {
  const leaves = {
    '2026-11-19': hashes(0, 300),
    '2026-11-20': [...tinyHashes(), ...hashes(300, 40)],
    '2026-11-20T06Z': hashes(400, 10),
  };
  return new Map([...tinyFiles(), ...memoryLog(leaves, options)]);
}

/** A service over the tiny release with that log. */
export async function loggedService(options: MemoryOptions = {}): Promise<Service> {
  return tinyService({ files: loggedFiles(options) });
}
