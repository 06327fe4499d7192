/** What is remembered does not fit what is there; a full compile needs none of it. */
export class ForgottenError extends Error {
  override readonly name = 'ForgottenError';
}
