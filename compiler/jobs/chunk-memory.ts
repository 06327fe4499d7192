import { TextBytes } from './text-bytes.ts';

/** Chunks of one worker that may wait to be written; a faster worker waits for the disk. */
export const CHUNKS_WAITING_MAX = 4;

/** What the bytes of a chunk stand in; other threads can read it. */
export interface ChunkMemory {
  readonly bodies: TextBytes;
  readonly lookUps: TextBytes;
  readonly known: TextBytes;
  readonly leaves: TextBytes;
}

export function chunkMemory(): ChunkMemory {
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
