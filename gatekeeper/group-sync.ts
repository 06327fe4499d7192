import { close, closeSync, fdatasync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/** Waits for the disk on behalf of many: one fdatasync serves all who asked before it began. */
export interface GroupSync {
  /** Resolves when everything written to the file before the call is durable. */
  synced(): Promise<void>;
  close(): void;
}

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The file may appear later than this; it must be there when `synced` is called first. */
export function groupSync(path: string): GroupSync {
  return new FileSync(path);
}

class FileSync implements GroupSync {
  readonly #path: string;
  #file: number | null = null;
  #waiting: Waiting[] = [];
  #running = false;
  #closed = false;

  constructor(path: string) {
    this.#path = path;
  }

  synced(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (!this.#running) this.#start();
    });
  }

  close(): void {
    this.#closed = true;
    if (!this.#running && this.#file !== null) closeSync(this.#file);
  }

  #start(): void {
    const group = this.#waiting;
    this.#waiting = [];
    this.#file ??= opened(this.#path);
    this.#running = true;
    fdatasync(this.#file, (error) => {
      this.#running = false;
      for (const waiting of group) settle(waiting, error);
      this.#next();
    });
  }

  #next(): void {
    if (this.#waiting.length > 0) this.#start();
    else if (this.#closed && this.#file !== null) close(this.#file);
  }
}

function settle({ resolve, reject }: Waiting, error: Error | null): void {
  if (error === null) resolve();
  else reject(error);
}

/** The name of a new file is durable only once its folder is. */
function opened(path: string): number {
  const folder = openSync(dirname(path), 'r');
  fsyncSync(folder);
  closeSync(folder);
  return openSync(path, 'r');
}
