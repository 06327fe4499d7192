/** What an import stumbled over: the file or address, and its state with what to do next. */
interface ImportFault {
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

/** A payload that is not what its source documents; another fetch may be. */
export function fetchAgain({ subject }: { readonly subject: string }, state: string): ImportError {
  return new ImportError({ subject, state: `${state}; fetch it again` });
}
