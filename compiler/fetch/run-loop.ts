import type { Clock } from './clock.ts';
import type { SourcesRunner, StepReport } from './sources-runner.ts';

/** Clocks are set and machines sleep, so what is due is looked at this often. */
const LOOK_MS_MAX = 600_000;
const LOOK_MS_MIN = 1_000;
/** Wait after a step that could not be done at all, such as on a full disk. */
const FAULT_MS = 300_000;

interface LoopBy {
  readonly clock: Clock;
  /** Aborted to stop; the step that is under way is finished. */
  readonly signal: AbortSignal;
  readonly onStep: (report: StepReport) => void | Promise<void>;
  readonly onFault: (error: unknown) => void;
}

/** Does step after step until it is told to stop. */
export async function runLoop(
  runner: Pick<SourcesRunner, 'step' | 'nextWake'>,
  { clock, signal, onStep, onFault }: LoopBy,
): Promise<void> {
  while (!signal.aborted) {
    const wait = await stepAndWait();
    if (!signal.aborted) await clock.sleep(wait, signal);
  }

  async function stepAndWait(): Promise<number> {
    try {
      const report = await runner.step();
      await onStep(report);
      const wait = runner.nextWake(report.status) - clock.now();
      return Math.min(Math.max(wait, LOOK_MS_MIN), LOOK_MS_MAX);
    } catch (error) {
      onFault(error);
      return FAULT_MS;
    }
  }
}
