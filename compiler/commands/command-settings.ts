import type { Screen } from './progress.ts';

/** What a command is given of the world. */
export interface CommandSettings {
  /** Version of this package. */
  readonly version: string;
  readonly env: (name: string) => string | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Writes a line for the reader. */
  readonly print: (text: string) => void;
  /** Where progress is shown. */
  readonly screen: Screen;
  /** Sets the exit code. */
  readonly exit: (code: number) => void;
  /** Calls once when the process is told to end; returns what takes that back. */
  readonly onStop: (stop: () => void) => () => void;
}

/** The folder of releases where no option names one. */
export function dataFolder({ env }: Pick<CommandSettings, 'env'>): string {
  return env('SIGNALPRESS_DATA') ?? 'dist-data';
}
