import type { Config } from '../config.ts';
import { folderSource } from './folder-source.ts';
import type { ReadFile } from './read-body.ts';
import type { ReleaseSource } from './release-source.ts';

/** What a source needs beside its settings. */
export interface SourceSurroundings {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: (entry: Readonly<Record<string, unknown>>) => void;
  /** Stands in for the disk where bodies are read from a folder. */
  readonly read?: ReadFile;
}

/** Where the settings say that releases are. */
export async function openSource(
  config: Config,
  { read }: SourceSurroundings,
): Promise<ReleaseSource> {
  return folderSource(config.dataDir, read);
}
