import type { JobChunk } from './chunk-builder.ts';
import { runSignalChange } from './signal-change.ts';
import { type JobResult, runSignalJob, type SignalJob } from './signal-job.ts';

/** Runs the job of one signal: all of it, or what its new files change. */
export function runJob(job: SignalJob, emit: (chunk: JobChunk) => void): JobResult {
  const { change } = job;
  return change === null ? runSignalJob(job, emit) : runSignalChange({ ...job, change }, emit);
}
