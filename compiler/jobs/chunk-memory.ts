/** Enough for a signal of one entity; a larger one doubles it. */
const BYTES_AT_FIRST = 16_384;
/** UTF-8 takes no more of one UTF-16 unit. */
const UNIT_BYTES_MAX = 3;

/** Chunks of one worker that may wait to be written; a faster worker waits for the disk. */
export const CHUNKS_WAITING_MAX = 4;

/** What the bytes of a chunk stand in; other threads can read it. */
export interface ChunkMemory {
  readonly bodies: TextBytes;
  readonly lookUps: TextBytes;
  readonly known: TextBytes;
  readonly leaves: TextBytes;
}

function chunkMemory(): ChunkMemory {
  return {
    bodies: new TextBytes(),
    lookUps: new TextBytes(),
    known: new TextBytes(),
    leaves: new TextBytes(),
  };
}

/**
 * Memories by turns, one more than chunks may wait: when one comes again, the chunk that stood in it was taken.
 * What is sent away instead would lie about in the other thread until it collects its garbage.
 */
export class ChunkMemories {
  readonly #turns = Array.from({ length: CHUNKS_WAITING_MAX + 1 }, chunkMemory);
  #turn = 0;

  next(): ChunkMemory {
    const memory = this.#turns[this.#turn % this.#turns.length] ?? chunkMemory();
    this.#turn += 1;
    memory.bodies.clear();
    memory.lookUps.clear();
    memory.known.clear();
    memory.leaves.clear();
    return memory;
  }
}

/** Texts as UTF-8, one behind the other in one memory that other threads can read, and that serves again once it is cleared. */
export class TextBytes {
  #memory = sharedBytes(0);
  #end = 0;

  /** Adds a text, or one that is UTF-8 already; the bytes of it are valid until the next one is added. */
  add(text: string | Uint8Array): Uint8Array {
    const start = this.#end;
    if (typeof text === 'string') {
      this.#makeRoom(text.length * UNIT_BYTES_MAX);
      this.#end += this.#memory.write(text, start, 'utf8');
    } else {
      this.#makeRoom(text.length);
      this.#memory.set(text, start);
      this.#end += text.length;
    }
    return this.#memory.subarray(start, this.#end);
  }

  /** All texts; valid until it is cleared. */
  all(): Uint8Array {
    return this.#memory.subarray(0, this.#end);
  }

  clear(): void {
    this.#end = 0;
  }

  #makeRoom(more: number): void {
    const { length } = this.#memory;
    if (this.#end + more <= length) return;
    const grown = sharedBytes(Math.max(BYTES_AT_FIRST, 2 * length, this.#end + more));
    grown.set(this.all());
    this.#memory = grown;
  }
}

/** Memory that a message to another thread does not copy. */
function sharedBytes(size: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(size));
}
