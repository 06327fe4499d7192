/** A reason not to listen, in one sentence that tells the operator what to do next. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}
