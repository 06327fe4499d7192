/** The variable that tells a worker what it is; no setting, for only the parent sets it. */
const VARIABLE = 'GATE_WORKER';

export interface WorkerRole {
  /** 0 is the first; what one alone has to do, this one does. */
  readonly place: number;
  /** Descriptor, in the parent, of a socket that listens already. */
  readonly fd: number | null;
}

/** The role that the parent gave this process; null for one that was started by itself. */
export function workerRole(env: Readonly<Record<string, string | undefined>>): WorkerRole | null {
  const [, place, fd] = /^([0-9]{1,2})(?::([0-9]{1,4}))?$/.exec(env[VARIABLE] ?? '') ?? [];
  if (place === undefined) return null;
  return { place: Number(place), fd: fd === undefined ? null : Number(fd) };
}

/** What workerRole() reads, for the environment of a worker. */
export function workerVariables({ place, fd }: WorkerRole): Record<string, string> {
  return { [VARIABLE]: fd === null ? String(place) : `${place}:${fd}` };
}
