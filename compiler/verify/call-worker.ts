import type { Worker } from 'node:worker_threads';

interface WorkerCall<Message, Result> {
  readonly order: unknown;
  /** What the error says where the thread ends before it has answered. */
  readonly ended: string;
  /** Hears each message until it calls `done` or throws. */
  take(message: Message, done: (result: Result) => void): void;
}

/** Sends an order to a thread that has no other one, and hears its messages until the result or an error. */
export function callWorker<Message, Result>(
  worker: Worker,
  { order, ended, take }: WorkerCall<Message, Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      worker.off('message', onMessage);
      worker.off('error', onError);
      worker.off('exit', onExit);
      finish();
    };
    const onError = (error: unknown): void => settle(() => reject(error));
    const onExit = (): void => onError(new Error(ended));
    const onMessage = (message: Message): void => {
      try {
        take(message, (result) => settle(() => resolve(result)));
      } catch (error) {
        onError(error);
      }
    };
    worker.on('message', onMessage);
    worker.on('error', onError);
    worker.on('exit', onExit);
    worker.postMessage(order);
  });
}
