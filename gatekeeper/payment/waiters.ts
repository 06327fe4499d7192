/** Who waits for one purchase: the request that began it, and its copies. Money moves only while one of them waits. */
export class Waiters {
  readonly #requests: (() => boolean)[];

  /** By default somebody waits until the end. */
  constructor(isAwaited: () => boolean = () => true) {
    this.#requests = [isAwaited];
  }

  join({ isWaiting }: Waiters): void {
    this.#requests.push(isWaiting);
  }

  readonly isWaiting = (): boolean => this.#requests.some((isAwaited) => isAwaited());
}
