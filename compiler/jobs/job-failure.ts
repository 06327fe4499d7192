import { ForgottenError } from '../stages/remember/forgotten-error.ts';

/** An error on its way between two threads: a copy of one keeps neither its class nor what the operating system said. */
export interface JobFailure {
  readonly message: string;
  readonly isForgotten: boolean;
  /** `code`, `syscall` and `path` of what the operating system could not do. */
  readonly system: Readonly<Record<string, string>>;
}

const SYSTEM_MEMBERS = ['code', 'syscall', 'path'] as const;

/** What a worker sends of an error. */
export function jobFailure(error: unknown): JobFailure {
  const isForgotten = error instanceof ForgottenError;
  if (!(error instanceof Error)) return { message: String(error), isForgotten, system: {} };
  const members = new Map<string, unknown>(Object.entries(error));
  const system = SYSTEM_MEMBERS.flatMap((name) => {
    const value = members.get(name);
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { message: error.message, isForgotten, system: Object.fromEntries(system) };
}

/** The inverse of jobFailure: an error that is reported and handled like one of this thread. */
export function thrownFailure({ message, isForgotten, system }: JobFailure): Error {
  const error = isForgotten ? new ForgottenError(message) : new Error(message);
  return Object.assign(error, system);
}
