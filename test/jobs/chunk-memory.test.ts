import { describe, expect, it } from 'vitest';
import { CHUNKS_WAITING_MAX, ChunkMemories } from '../../compiler/jobs/chunk-builder.ts';

describe('ChunkMemories', () => {
  it('I34: gives as many memories by turns as chunks may wait, and one more', () => {
    const memories = new ChunkMemories();
    const turns = Array.from({ length: 3 * (CHUNKS_WAITING_MAX + 1) }, () => memories.next());
    expect(new Set(turns).size).toBe(CHUNKS_WAITING_MAX + 1);
    for (const [at, memory] of turns.slice(CHUNKS_WAITING_MAX + 1).entries()) {
      expect(memory).toBe(turns[at]);
    }
  });

  it('leaves a chunk as it is until its memory comes again, and then begins it again', () => {
    const memories = new ChunkMemories();
    const { bodies } = memories.next();
    bodies.add('first');
    for (let turn = 0; turn < CHUNKS_WAITING_MAX; turn++) memories.next().bodies.add('other');
    expect(String(bodies.all())).toBe(String(Buffer.from('first')));
    expect(memories.next().bodies.all()).toHaveLength(0);
  });
});
