/** What an import stumbled over: the file or address, and its state with what to do next. */
export interface ImportFault {
  readonly subject: string;
  readonly state: string;
}

/** A payload that cannot become a snapshot batch; nothing was written. */
export class ImportError extends Error {
  constructor({ subject, state }: ImportFault, options?: ErrorOptions) {
    super(`Cannot import "${subject}": ${state}`, options);
    this.name = 'ImportError';
  }
}
