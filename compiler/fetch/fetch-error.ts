interface FetchFault {
  /** Address without keys, or the name of the source. */
  readonly subject: string;
  /** What is wrong, and what to do. */
  readonly state: string;
  /** Asking again soon may help. */
  readonly isTransient?: boolean;
  /** The agency turns this client away: nothing more is asked for now. */
  readonly isRefusal?: boolean;
  /** The agency answers that it has nothing at this address, which tells nothing of the others. */
  readonly isAbsent?: boolean;
  /** Its host could not be reached at all, so that no request came to the agency. */
  readonly isUnreachable?: boolean;
  /** How long the agency asks to wait, in milliseconds. */
  readonly waitMs?: number;
}

/** An agency that did not answer as it should. */
export class FetchError extends Error {
  override readonly name = 'FetchError';
  readonly fault: FetchFault;

  constructor(fault: FetchFault, options?: ErrorOptions) {
    super(`Cannot fetch "${fault.subject}": ${fault.state}`, options);
    this.fault = fault;
  }
}
