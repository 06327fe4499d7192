import { folderSource } from '../../heart/release/folder-source.ts';
import type { ReadFile } from '../../heart/release/read-body.ts';
import type { ReleaseSource } from '../../heart/release/release-source.ts';
import type { Config } from '../../settings/config.ts';
import { dataUrl, isRemote } from '../../settings/settings.ts';
import type { ServiceState } from '../../wire/service-state.ts';

export interface SourceOptions {
  readonly clock: () => number;
  readonly log: (entry: Readonly<Record<string, unknown>>) => void;
  readonly state: ServiceState;
  /** Stands in for the disk where bodies are read from a folder. */
  readonly read?: ReadFile;
  /** Milliseconds that an answer of a host may take beside what its bytes take. */
  readonly answerMs?: number;
  /** Milliseconds for which it is remembered that a file of a host could not be had. */
  readonly refusedMs?: number;
}

export async function openSource(config: Config, by: SourceOptions): Promise<ReleaseSource> {
  const { dataDir, dataAuth: auth, cacheDir, cacheMb } = config;
  if (!isRemote(dataDir)) return folderSource(dataDir, by.read);
  // Only who names a host waits for what talks to it to load.
  const { RemoteSource } = await import('./remote-source.ts');
  const cacheBytesMax = cacheMb * 1024 * 1024;
  return new RemoteSource({ url: dataUrl(dataDir), auth, cacheDir, cacheBytesMax, ...by });
}
