/** The remembered state does not match the files; a full compile does not need it. */
export class ForgottenError extends Error {
  override readonly name = 'ForgottenError';
}
