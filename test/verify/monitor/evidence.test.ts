import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  firstHistory,
  formatKeyHistory,
  historyOf,
  KEYS_BYTES_MAX,
  type KeyHistory,
} from '../../../compiler/format/key-history.ts';
import { CHECKPOINT_PATH } from '../../../compiler/format/tiles.ts';
import {
  type Contradiction,
  checkEvidence,
  EVIDENCE_BYTES_MAX,
  type Evidence,
  formatEvidence,
  keysContradiction,
  keysOfText,
  parseEvidence,
} from '../../../compiler/verify/monitor/evidence.ts';
import { readPolicy } from '../../../compiler/verify/policy-check.ts';
import { InventedWitness } from '../../publish/witness/invented-log.ts';
import { FIRST, ISSUER, root, rooted } from '../../seeded-keys.ts';
import { removeFolders } from '../../snapshot-folder.ts';
import {
  DID,
  didOfSeed,
  filesOf,
  keysOf,
  publish,
  publishHours,
  revocation,
  rotation,
  signedHeadText,
} from './lying-service.ts';
import { sampleBodies, Watching } from './watching.ts';

afterAll(removeFolders);

/** One of each kind, as monitors wrote them, by kind. */
let evidence: Map<string, Evidence>;
let bodies: [string, string];
const [first, second, third, fourth] = publishHours(4);
if (!first || !second || !third || !fourth) throw new Error('too few releases');
const as_of = '2026-11-20T14:00:00Z';
const taken = 500;
const fork = publish(publish(second, { taken, as_of }), { taken: 600, as_of });

beforeAll(async () => {
  bodies = await sampleBodies();
  const samples = bodies.map((body) => filesOf(second).set('/gauge/sample', body));
  const withKey = (to: number) => filesOf(second, formatKeyHistory(keysOf([rotation(7, to)])));
  const strange = `sha256:${'9'.repeat(64)}`;
  const lies = [
    [filesOf(third), filesOf(fork)],
    [filesOf(second), filesOf(publish(first, { taken, as_of, head: { sequence: 2 } }))],
    [filesOf(second), filesOf(publish(second, { taken, as_of, entry: { head: strange } }))],
    [filesOf(second), filesOf(publish(second, { as_of, head: { sequence: 4 } }))],
    [withKey(9), withKey(11)],
    samples,
  ];
  evidence = new Map();
  for (const shown of lies) {
    const watching = new Watching();
    for (const files of shown) await watching.sees(files);
    const folder = join(watching.folder, 'evidence');
    for (const name of readdirSync(folder)) {
      const read = parseEvidence(readFileSync(join(folder, name), 'utf8'));
      if (!evidence.has(read.kind)) evidence.set(read.kind, read);
    }
  }
});

function of<K extends Evidence['kind']>(kind: K): Extract<Evidence, { kind: K }> {
  const found = evidence.get(kind);
  if (found?.kind !== kind) throw new Error(`no evidence of kind ${kind}`);
  return found as Extract<Evidence, { kind: K }>;
}

const KINDS = ['entries', 'fork', 'heads', 'keys', 'leaf', 'readings'] as const;

/** The same evidence with other contents. */
function withParts(kind: Evidence['kind'], parts: Partial<Contradiction>): Evidence {
  return { ...of(kind), ...parts } as Evidence;
}

function verdict(given: Evidence): string {
  return checkEvidence(given, { trust: [DID] }).verdict;
}

describe('checkEvidence()', () => {
  it.each(KINDS)('I70: finds a lie of kind %s proven, and names who signed', (kind) => {
    const report = checkEvidence(parseEvidence(formatEvidence(of(kind))), { trust: [DID] });
    expect(report).toMatchObject({ verdict: 'proven', signers: [DID] });
    expect(checkEvidence(of(kind), { trust: 'any' }).verdict).toBe('proven');
  });

  it.each(KINDS)('I70: finds nothing in evidence of kind %s that another issuer signed', (kind) => {
    const report = checkEvidence(of(kind), { trust: [didOfSeed(13)] });
    expect(report).toMatchObject({ verdict: 'nothing', signers: [] });
  });

  it.each(KINDS)('does not let a key that was revoked prove anything of kind %s', (kind) => {
    const revoked = historyOf(DID, [rotation(7, 9)], [revocation(7)]);
    expect(checkEvidence(of(kind), { trust: [DID], keys: revoked }).verdict).toBe('nothing');
    const keys = firstHistory(DID);
    expect(checkEvidence(of(kind), { trust: [DID], keys }).verdict).toBe('proven');
  });

  it.each(KINDS)(
    'I70: proves nothing of kind %s by a key that has ended, by the clock or by what was stated since',
    (kind) => {
      const rotated = [rotation(7, 9)];
      const keys = keysOf(rotated);
      const by = (more: object) => checkEvidence(of(kind), { trust: [DID], keys, ...more });
      expect(by({ now: Date.parse('2027-11-20T12:00:00Z') })).toMatchObject({
        verdict: 'proven',
        signers: [DID],
      });
      const ended = {
        verdict: 'nothing',
        says: expect.stringContaining(`${DID}, which signed one side, was in use until 2027-11-20`),
        signers: [],
      };
      expect(by({ now: Date.parse('2027-11-20T12:00:01Z') })).toMatchObject(ended);
      const since = { stated_at: '2028-01-01T12:00:00Z', valid_from: '2028-01-01T12:00:00Z' };
      const next = rotation(9, 11, { ...since, overlap_until: '2028-02-01T12:00:00Z' });
      expect(by({ keys: keysOf([...rotated, next]) })).toMatchObject(ended);
    },
  );

  it('I70: proves a fork that witnesses saw while its key was in use, to whoever knows them', () => {
    const keys = keysOf([rotation(7, 9)]);
    const witness = new InventedWitness('w.example/1');
    const policy = readPolicy(Buffer.from(`${witness.policyLine('First')}quorum First\n`));
    const seenAt = (time: string, demand: object = { policy }) => {
      const [old, later] = of('fork').notes.map((note) => witness.cosign(note, time));
      const notes: [string, string] = [old ?? '', later ?? ''];
      const given = { trust: [DID], keys, now: Date.parse('2028-01-01T12:00:00Z'), ...demand };
      return checkEvidence(withParts('fork', { notes }), given).verdict;
    };
    expect(seenAt('2027-11-20T11:00:00Z')).toBe('proven');
    expect(seenAt('2027-11-20T11:00:00Z', {})).toBe('nothing');
    expect(seenAt('2027-11-20T12:00:00Z')).toBe('nothing');
    const nobody = readPolicy(Buffer.from(`${witness.policyLine('First')}quorum none\n`));
    expect(seenAt('2027-11-20T11:00:00Z', { policy: nobody })).toBe('nothing');
  });

  it('I70: takes no key from a list that the list of the reader contradicts', () => {
    const head = { as_of: '2026-11-20T13:30:00Z' };
    const heads: [string, string] = [second.text, signedHeadText({ ...head, sequence: 2 }, 11)];
    const thief = formatKeyHistory(keysOf([rotation(7, 11)]));
    const forged = { ...withParts('heads', { heads }), keys: thief };
    expect(checkEvidence(forged, { trust: [DID] }).verdict).toBe('proven');
    const known = (keys: KeyHistory) => checkEvidence(forged, { trust: [DID], keys }).verdict;
    expect(known(firstHistory(DID))).toBe('proven');
    expect(known(keysOf([rotation(7, 11), rotation(11, 12)]))).toBe('proven');
    expect(known(keysOf([rotation(7, 9)]))).toBe('nothing');
  });

  it.each(KINDS)(
    'finds nothing where any hex digit or letter of what proves %s is another',
    (kind) => {
      const text = JSON.stringify(of(kind));
      const start = text.indexOf(`"kind":"${kind}"`) + kind.length + 10;
      let altered = 0;
      for (let at = start; at < text.length; at += Math.ceil((text.length - start) / 150)) {
        const old = text[at] ?? '';
        if (!/[0-9a-zA-Z]/.test(old) || text[at - 1] === '\\') continue;
        const other = `${text.slice(0, at)}${old === '4' ? '5' : '4'}${text.slice(at + 1)}`;
        altered += 1;
        expect([at, verdictOfText(other, kind)]).toEqual([at, 'nothing']);
      }
      expect(altered).toBeGreaterThan(70);
    },
  );

  it('I70: finds nothing in two notes, heads, lists and bodies of an honest service', () => {
    const notes = [third, fourth].map(({ log }) => String(log.get(CHECKPOINT_PATH)));
    const [older = '', newer = ''] = notes;
    const { grown } = of('fork');
    const lists = [[], [rotation(7, 9)]].map((each) => formatKeyHistory(keysOf(each)));
    const [before = '', after = ''] = lists;
    const quiet = [
      withParts('fork', { notes: [older, newer], grown: null }),
      withParts('fork', { notes: [older, newer] }),
      withParts('fork', { notes: [older, older], grown: null }),
      withParts('fork', { notes: [newer, older], grown }),
      withParts('heads', { heads: [first.text, second.text] }),
      withParts('heads', { heads: [fourth.text, second.text] }),
      withParts('heads', { heads: [second.text, second.text] }),
      withParts('leaf', { head: fourth.text }),
      withParts('entries', { entries: of('entries').entries.slice(1) }),
      withParts('entries', { entries: [...of('entries').entries].reverse() }),
      withParts('keys', { lists: [before, after] }),
      withParts('keys', { lists: [after, after] }),
      withParts('readings', { bodies: [bodies[0], bodies[0]] }),
    ];
    expect(quiet.map(verdict)).toEqual(quiet.map(() => 'nothing'));
  });

  it('takes two services of one issuer for no contradiction', () => {
    const base_url = 'https://elsewhere.example';
    const sequence = 3;
    const there = signedHeadText({ base_url, sequence });
    expect(verdict(withParts('leaf', { head: there }))).toBe('nothing');
    expect(verdict(withParts('leaf', { head: signedHeadText({ sequence }) }))).toBe('proven');
    const elsewhere = signedHeadText({ base_url });
    const here = signedHeadText({ files_count: 2 });
    expect(verdict(withParts('heads', { heads: [first.text, elsewhere] }))).toBe('nothing');
    expect(verdict(withParts('heads', { heads: [first.text, here] }))).toBe('proven');
  });

  it('takes no head for evidence that a key signed after its time', () => {
    const late = signedHeadText({ as_of: '2028-01-01T00:00:00Z' });
    const heads = withParts('heads', { heads: [first.text, late] });
    expect(verdict(heads)).toBe('proven');
    const keys = keysOf([rotation(7, 9)]);
    expect(checkEvidence(heads, { trust: [DID], keys }).verdict).toBe('nothing');
    const inTime = withParts('heads', { heads: [first.text, signedHeadText({ files_count: 2 })] });
    expect(checkEvidence(inTime, { trust: [DID], keys }).verdict).toBe('proven');
  });

  it('takes no proof of growth from the signed root itself for a fork', () => {
    const { notes, grown } = of('fork');
    if (grown === null) throw new Error('no proof of growth');
    const [old, later] = notes;
    const honest = { notes: [old, String(fourth.log.get(CHECKPOINT_PATH))] as [string, string] };
    expect(verdict(withParts('fork', { ...honest, grown }))).toBe('nothing');
    const forged = { root: '0'.repeat(64), proof: grown.proof };
    expect(verdict(withParts('fork', { notes: [old, later], grown: forged }))).toBe('nothing');
    expect(verdict(withParts('fork', { notes: [old, later], grown: null }))).toBe('nothing');
  });
});

/** Text that cannot be read as evidence proves nothing either. */
function verdictOfText(text: string, kind: string): string {
  try {
    const read = parseEvidence(text);
    return read.kind === kind ? verdict(read) : 'nothing';
  } catch {
    return 'nothing';
  }
}

describe('parseEvidence()', () => {
  it('reads all that a monitor may write: a service can make its lists of keys as long as they may be', () => {
    const { lists, ...rest } = of('keys');
    const padded = (text: string) => text + '\n'.repeat(KEYS_BYTES_MAX - Buffer.byteLength(text));
    const long = { ...rest, keys: padded(lists[0]), lists: [padded(lists[0]), padded(lists[1])] };
    const text = formatEvidence(long as Evidence);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(EVIDENCE_BYTES_MAX);
    expect(checkEvidence(parseEvidence(text), { trust: [DID] }).verdict).toBe('proven');
  });

  it.each(['', '{}', '[]', 'null', '{"format":"signalpress-evidence/1","kind":"fork"}'])(
    'refuses %j and says what to pass',
    (text) => {
      expect(() => parseEvidence(text)).toThrow('pass one of its folder "evidence"');
    },
  );
});

describe('keys contradiction', () => {
  const LATER = { version: 2, stated_at: '2026-11-21T12:00:00Z' };
  const OTHER = { version: 2, stated_at: '2026-11-22T12:00:00Z' };

  function verdict(lists: readonly [KeyHistory, KeyHistory], trust = [DID]): string {
    const texts: [string, string] = [formatKeyHistory(lists[0]), formatKeyHistory(lists[1])];
    const evidence: Evidence = {
      format: 'signalpress-evidence/1',
      found_at: '2026-11-23T12:00:00Z',
      address: 'https://shop.example',
      issuers: [DID],
      keys: texts[0],
      kind: 'keys',
      lists: texts,
    };
    return checkEvidence(evidence, { trust }).verdict;
  }

  describe('keysContradiction()', () => {
    it('finds two successors of one key, and two statements of one version of a root', () => {
      const lies: [KeyHistory, KeyHistory][] = [
        [historyOf(DID, [rotation(7, 9)], []), historyOf(DID, [rotation(7, 11)], [])],
        [rooted(FIRST, root(LATER)), rooted(FIRST, root(OTHER))],
        [rooted(FIRST), rooted(root({ stated_at: OTHER.stated_at }, [21, 22, ISSUER]))],
      ];
      for (const lists of lies) {
        for (const list of lists) expect(() => keysOfText(formatKeyHistory(list))).not.toThrow();
        expect(verdict(lists)).toBe('proven');
        expect(verdict(lists, [didOfSeed(13)])).toBe('nothing');
      }
    });

    it('finds none between a list and a later one, and none where more root keys signed the same', () => {
      const quiet: [KeyHistory, KeyHistory][] = [
        [firstHistory(DID), historyOf(DID, [rotation(7, 9)], [])],
        [historyOf(DID, [rotation(7, 9)], []), firstHistory(DID)],
        [firstHistory(DID), rooted(FIRST)],
        [rooted(FIRST), rooted(FIRST, root(LATER))],
        [rooted(FIRST), rooted({ ...FIRST, signatures: [...FIRST.signatures].reverse() })],
        [firstHistory(DID), firstHistory(didOfSeed(9))],
      ];
      for (const lists of quiet) {
        expect(keysContradiction(...lists)).toBeNull();
        expect(verdict(lists)).toBe('nothing');
      }
    });

    it('lets nothing be proven by a key that its issuer revoked: a thief could have announced anything', () => {
      const honest = historyOf(DID, [rotation(7, 9)], [revocation(7)]);
      expect(verdict([honest, historyOf(DID, [rotation(7, 11)], [])])).toBe('nothing');
    });
  });
});
