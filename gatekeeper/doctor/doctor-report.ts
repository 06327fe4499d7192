import type { Reported } from './examine.ts';
import type { State } from './finding.ts';

const STATES: readonly State[] = ['ok', 'warning', 'failed', 'skipped'];

/** Whether the gatekeeper should be started: warnings do not keep it from that. */
export function isHealthy(findings: readonly Reported[]): boolean {
  return findings.every(({ state }) => state !== 'failed');
}

/** One line for each finding, and under it what to do. */
export function reportText(findings: readonly Reported[]): string {
  const stateWidth = Math.max(...STATES.map(({ length }) => length));
  const nameWidth = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ state, check, detail, remedy }) => {
    const start = `${state.padEnd(stateWidth)}  ${check.padEnd(nameWidth)}  `;
    const todo = remedy === undefined ? [] : [`${' '.repeat(start.length)}-> ${remedy}`];
    return [start + detail, ...todo].map(printable);
  });
  return `${[...lines, '', sumText(findings)].join('\n')}\n`;
}

function sumText(findings: readonly Reported[]): string {
  const counts = STATES.map((state) => {
    return `${findings.filter((finding) => finding.state === state).length} ${state}`;
  });
  const verdict = isHealthy(findings) ? 'ready to start' : 'not ready to start';
  return `${verdict}: ${counts.join(', ')}`;
}

/** Details repeat what other services said. */
function printable(line: string): string {
  return line.replace(/[^\x20-\x7e]/g, '?');
}

/** The same for programs. */
export function reportJson(findings: readonly Reported[]): string {
  return `${JSON.stringify({ ready: isHealthy(findings), findings }, null, 2)}\n`;
}
