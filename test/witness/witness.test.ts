import { describe, expect, it } from 'vitest';
import { judgeByPolicy, readPolicy } from '../../compiler/verify/policy-check.ts';
import { addCheckpoint, type CosignedLog } from '../../compiler/witness/witness.ts';
import { newWitnessKey, readWitnessKey } from '../../compiler/witness/witness-key.ts';
import { InventedLog } from './invented-log.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const KEY = readWitnessKey(newWitnessKey('w.example/1', new Uint8Array(32).fill(3)));
const [LOG, FORK] = [new InventedLog(), new InventedLog({ branch: 'x' })];
const policy = readPolicy(Buffer.from(`${LOG.policyLine}witness W ${KEY.vkey}\nquorum W\n`));

function witness(logs = [LOG.key]) {
  const known = new Map<string, CosignedLog>();
  const puts: number[] = [];
  const memory = {
    get: (origin: string) => known.get(origin) ?? null,
    put(log: CosignedLog) {
      puts.push(log.checkpoint.size);
      known.set(log.checkpoint.origin, log);
    },
  };
  const ask = (body: string, now = NOW) =>
    addCheckpoint(body, { key: KEY, logs, memory, mayCosign: () => true, now: () => now });
  return { ask, puts };
}

const status = ({ status: code, body }: { status: number; body: string }) => `${code} ${body}`;

describe('addCheckpoint()', () => {
  it('cosigns the first checkpoint, and each that goes on from the last', () => {
    const { ask, puts } = witness();
    for (const [from, to] of [
      [0, 3],
      [3, 4],
      [4, 250],
      [250, 300],
    ] as const) {
      const { status: code, body } = ask(LOG.request(from, to));
      expect(code).toBe(200);
      expect(judgeByPolicy(LOG.note(to) + body, { policy })).toEqual({
        fault: null,
        witnessed: [{ name: 'W', at: '2026-11-20T12:00:00Z' }],
      });
    }
    expect(puts).toEqual([3, 4, 250, 300]);
  });

  it('I62: signs no second history, whatever is offered', () => {
    const { ask, puts } = witness();
    ask(LOG.request(0, 8));
    const forks = [
      FORK.request(8, 8),
      FORK.request(8, 9),
      FORK.request(0, 9),
      FORK.request(5, 9),
      LOG.request(5, 7),
      LOG.request(0, 4),
    ];
    expect(forks.map((body) => ask(body).status)).toEqual([422, 422, 409, 409, 409, 409]);
    expect(puts).toEqual([8]);
    expect(ask(LOG.request(8, 9)).status).toBe(200);
  });

  it('says the size that it has seen', () => {
    const { ask } = witness();
    expect(ask(LOG.request(2, 5))).toEqual({ status: 409, body: '0\n', type: 'text/x.tlog.size' });
    ask(LOG.request(0, 8));
    expect(ask(LOG.request(2, 9))).toEqual({ status: 409, body: '8\n', type: 'text/x.tlog.size' });
  });

  it('repeats a cosignature of the last minute without writing, and makes a new one later', () => {
    const { ask, puts } = witness();
    const first = ask(LOG.request(0, 8));
    expect(ask(LOG.request(8, 8), NOW + 59_000)).toEqual(first);
    expect(puts).toEqual([8]);
    const later = ask(LOG.request(8, 8), NOW + 61_000);
    expect(later.status).toBe(200);
    expect(later.body).not.toBe(first.body);
    expect(puts).toEqual([8, 8]);
  });

  it('states no time before one that it stated', () => {
    const { ask, puts } = witness();
    ask(LOG.request(0, 8));
    expect(ask(LOG.request(8, 9), NOW - 60_000).status).toBe(503);
    expect(puts).toEqual([8]);
    const { body } = ask(LOG.request(8, 9), NOW - 2_000);
    expect(judgeByPolicy(LOG.note(9) + body, { policy }).witnessed).toEqual([
      { name: 'W', at: '2026-11-20T12:00:00Z' },
    ]);
  });

  it('takes lines of others along in a note, and cosigns none of another key', () => {
    const { ask } = witness();
    const stranger = new InventedLog({ seed: 8 });
    const own = LOG.request(0, 8);
    const line = (note: string): string => note.slice(note.lastIndexOf('\u2014'));
    expect(ask(stranger.request(0, 8)).status).toBe(403);
    expect(ask(new InventedLog({ origin: 'b.example/log' }).request(0, 8)).status).toBe(404);
    expect(ask(own + line(own)).status).toBe(403);
    expect(
      ask(own.replace(/..=\n$/, (end) => (end === 'AA=\n' ? 'BA=\n' : 'AA=\n'))).status,
    ).not.toBe(200);
    expect(ask(own + line(stranger.note(8))).status).toBe(200);
  });

  it('takes the key of before and of after a rotation, and wants both to hold', () => {
    const after = new InventedLog({ seed: 8 });
    const { ask } = witness([LOG.key, after.key]);
    const line = (note: string): string => note.slice(note.lastIndexOf('\u2014'));
    expect(ask(LOG.request(0, 3)).status).toBe(200);
    expect(ask(LOG.request(3, 4) + line(after.note(4))).status).toBe(200);
    expect(ask(LOG.request(4, 5) + line(after.note(6))).status).toBe(403);
    expect(ask(after.request(4, 5)).status).toBe(200);
  });

  it('checks the empty tree', () => {
    const { ask } = witness();
    const empty = `old 0\n\n${LOG.note(0)}`;
    const wrong = `old 0\n\n${LOG.note(0, new Uint8Array(32))}`;
    expect(ask(wrong).status).toBe(422);
    expect(ask(empty).status).toBe(200);
    expect(ask(LOG.request(0, 4)).status).toBe(200);
  });

  it('refuses what is no request', () => {
    const good = LOG.request(4, 7);
    const hash = `${Buffer.alloc(32).toString('base64')}\n`;
    const bad = [
      '',
      'old 0\n',
      good.replace('old 4', 'old 04'),
      good.replace('old 4', 'new 4'),
      good.replace('old 4', 'old 8'),
      good.replace('old 4', 'old 9007199254740993'),
      good.replace('old 4\n', 'old 4\nAAAA\n'),
      good.replace('old 4\n', `old 4\n${hash.repeat(64)}`),
      good.replace('\n\n', '\n'),
      good.replaceAll('\n', '\r\n'),
      `old 0\n\n${LOG.note(7).replace('a.example/log\n7', 'a.example/log\n07')}`,
    ];
    const { ask, puts } = witness();
    expect(bad.map((body) => ask(body).status)).toEqual(bad.map(() => 400));
    const extra = LOG.request(0, 7).replace('old 0\n', `old 0\n${hash}`);
    expect(status(ask(extra))).toBe('422 no entries need no proof\n');
    expect(puts).toEqual([]);
    ask(LOG.request(0, 4));
    expect(ask(good.replace('old 4\n', `old 4\n${hash}`)).status).toBe(422);
    expect(ask(good).status).toBe(200);
  });
});

describe('newWitnessKey(), readWitnessKey()', () => {
  it('keeps name and key', () => {
    const text = newWitnessKey('w.example/1', new Uint8Array(32).fill(3));
    expect(text).toMatch(/^PRIVATE\+KEY\+w\.example\/1\+[0-9a-f]{8}\+\S+\n$/);
    const { vkey } = readWitnessKey(text);
    expect(vkey).toMatch(/^w\.example\/1\+[0-9a-f]{8}\+\S+$/);
  });

  it('refuses other names and other texts, and an issuer key among them', () => {
    for (const name of ['', 'a b', 'a+b', 'a\nb', 'x'.repeat(201)]) {
      expect(() => newWitnessKey(name)).toThrow('Cannot name a witness');
    }
    const text = newWitnessKey('w.example/1', new Uint8Array(32).fill(3));
    const bad = ['', '9'.repeat(64), text.replace('w.ex', 'v.ex'), text.slice(8), `${text}x`];
    for (const other of bad) expect(() => readWitnessKey(other)).toThrow('Cannot read the key');
  });
});
