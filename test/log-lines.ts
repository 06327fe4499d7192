import { type LogLine, parseLogLine } from '../compiler/contract/log-runs.ts';

/** Every line of the index of a log, from the files of a release. */
export function logLinesIn(files: Iterable<readonly [path: string, content: unknown]>): LogLine[] {
  return [...files]
    .filter(([path]) => path.startsWith('log/index/'))
    .flatMap(([, content]) => String(content).split('\n').slice(0, -1))
    .map(parseLogLine);
}
