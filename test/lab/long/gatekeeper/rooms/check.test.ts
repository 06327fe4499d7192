import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../../../../../compiler/format/strict-json.ts';
import {
  CHECKED_CITATIONS_MAX,
  checkSchema,
} from '../../../../../compiler/products/shapes/free-body-schemas.ts';
import { SERIES_CSV_HEADER } from '../../../../../compiler/products/shapes/series.ts';
import { runVerify } from '../../../../../compiler/verify/verify-command.ts';
import { answer, storedFile } from '../../../../../gatekeeper/heart/answers/answers.ts';
import type { Service } from '../../../../../gatekeeper/heart/answers/service.ts';
import {
  CHECK_COST_MAX,
  check,
  checkCost,
  judgingCost,
} from '../../../../../gatekeeper/rooms/check.ts';
import { proven } from '../../../../../gatekeeper/rooms/proven.ts';
import { resolve } from '../../../../../gatekeeper/rooms/resolve.ts';
import { FOR_EVERYBODY } from '../../../../../gatekeeper/wire/cost.ts';
import { FILINGS, filingSet, listingRow } from '../../../../filing-rows.ts';
import { compiledService, jsonOf, question } from '../../../../gatekeeper/tiny-service.ts';
import { type Body, KEY } from '../../../../shop.ts';
import { smallSet } from '../../../../small-set.ts';
import { compileFolder, removeFolders, writeSnapshots } from '../../../../snapshot-folder.ts';
import { inOtherForm, keyOf } from '../../../../verify/alterations.ts';
import { reseal } from '../../../../verify/resign.ts';

describe('check()', () => {
  const INCLUSIONS_MAX = 64;

  const OTHER = keyOf(9);

  const { did: OTHER_DID, seed: OTHER_SEED } = OTHER;

  /** 10,000 by hand: CHECK_RUNS=10000. */
  const RUNS = Number(process.env.CHECK_RUNS ?? 300);

  const RECORD = 'record/airquality.aqi/us-denver.json';

  let service: Service;

  let data: string;

  let bodies: Buffer[];

  beforeAll(async () => {
    const files = { ...smallSet(), ...filingSet([listingRow(), ...FILINGS], '2026-11-20T11Z') };
    ({ data } = await compileFolder(writeSnapshots(files)));
    service = await compiledService(data, '2026-11-20T12:30:00Z');
    const answered = await resolve(
      question('/resolve?entity=EXMP&form=10-K&cutoff=2026-03-31'),
      service,
    );
    if (answered.kind !== 'content') throw new Error('no answer');
    const stored = ['bundle/environment/us-denver.json', 'free/sample/~.json'].map((path) =>
      text(path),
    );
    bodies = [await text(RECORD), ...(await Promise.all(stored)), answered.content.body];
  });

  afterAll(removeFolders);

  /** A body as it is served. */
  const text = async (path: string): Promise<Buffer> =>
    service.release.bytesAt(await service.release.body(path, FOR_EVERYBODY), service.clock());

  const post = async (body: Buffer | string, by = service) =>
    jsonOf(await check(question('/verify', 'application/json', Buffer.from(body)), by));

  const checked = async (body: Buffer | string) => checkSchema.parse(await post(body));

  /** What the command says of the same bytes: with the catalogue of the release, unless somebody else or nobody signed them. */
  async function command(body: Buffer) {
    const issuer = [service.release.head.issuer_did];
    const by = { issuer, json: true, now: service.clock(), readStdin: () => body };
    const judged = await runVerify('-', { ...by, catalog: data });
    const isRefused = judged.text.includes('Cannot use the catalogue of');
    return JSON.parse(isRefused ? (await runVerify('-', by)).text : judged.text);
  }

  /** What both say, in one form: the verdict, how much was looked at, and where something does not hold. */
  function verdictOf(answer: Readonly<Record<string, unknown>>) {
    const { verdict, details, checks } = answer;
    const listed = (details ?? checks ?? []) as readonly { status: string; where: string }[];
    const failed = listed.filter(({ status }) => status === 'fail').map(({ where }) => where);
    const count = answer.details_count ?? listed.length;
    return { verdict: answer.status === 400 ? 'undecided' : String(verdict), failed, count };
  }

  type Random = (below: number) => number;

  /** A sequence that is the same in every run. */
  function generator(seed: number): Random {
    let state = seed;
    return (below) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
      return (state >>> 8) % below;
    };
  }

  function mutated(body: Buffer, random: Random): Buffer {
    const copy = Buffer.from(body);
    switch (random(8)) {
      case 0:
        return copy;
      case 1: {
        const { _citation, ...rest } = JSON.parse(copy.toString());
        return Buffer.from(JSON.stringify(rest));
      }
      case 2: {
        const at = random(copy.length);
        copy.writeUInt8(copy.readUInt8(at) ^ (1 << random(8)), at);
        return copy;
      }
      case 3:
        return copy.subarray(0, random(copy.length));
      default:
        return Buffer.from(JSON.stringify(changedMember(JSON.parse(copy.toString()), random)));
    }
  }

  /** One member somewhere is dropped, replaced or renamed. */
  function changedMember(value: Record<string, unknown>, random: Random): unknown {
    const names = Object.keys(value);
    const name = names[random(names.length)] ?? '';
    const member = value[name];
    if (typeof member === 'object' && member !== null && random(3) > 0) {
      return {
        ...value,
        [name]: Array.isArray(member)
          ? member.slice(1)
          : changedMember(member as Record<string, unknown>, random),
      };
    }
    const { [name]: dropped, ...rest } = value;
    const others = [null, 0, -1, 'x', '', [], {}, true, 'sha256:00', dropped === 1 ? 2 : 1];
    return random(3) === 0 ? rest : { ...rest, [name]: others[random(others.length)] };
  }

  it('passes every check of a record, of a bundle and of a settlement answer', async () => {
    for (const body of bodies) {
      const { verdict, is_issuer_record, checks } = await checked(body);
      expect([verdict, is_issuer_record]).toEqual(['unproven', true]);
      const { hash, ...others } = checks;
      // the legs of a bundle carry their hashes, not their cores
      expect(hash.status).toBe(body === bodies[1] ? 'not_applicable' : 'pass');
      expect(Object.values(others).map(({ status }) => status)).toEqual(['pass', 'pass', 'pass']);
    }
  });

  it('I62: calls no body verified whose proof was cut out, unless it was bought without one', async () => {
    const bought = question('/gauge?entity=us-denver&signal_id=airquality.aqi');
    const answered = await storedFile(bought, service);
    if (answered.kind !== 'content') throw new Error('no answer');
    const { body } = await proven(answered.content, bought, service);
    const { _proof, ...cut } = JSON.parse(body.toString());
    expect(_proof).toMatch('tlog-proof');
    expect((await checked(body)).verdict).toBe('verified');
    const asked = await checked(JSON.stringify(cut));
    expect([asked.verdict, asked.is_issuer_record]).toEqual(['unproven', true]);
    expect(asked.statement).toContain('without the proof that it is in the log');
    const expect_ = 'GET /gauge?entity=us-denver&proof=0&signal_id=airquality.aqi';
    const without = await checked(JSON.stringify({ record: cut, expect: expect_ }));
    expect(without.verdict).toBe('verified');
    const { answered_at, ...provenance } = cut.provenance;
    expect((await checked(JSON.stringify({ ...cut, provenance }))).verdict).toBe('failed');
  });

  it('says what a body that holds is about, without an age, and nothing of one that does not', async () => {
    const body = await text(RECORD);
    const { about } = await checked(body);
    expect(about).toMatchObject({
      answers: '/gauge?entity=us-denver&signal_id=airquality.aqi',
      time_of: 'reading',
    });
    expect(about).not.toHaveProperty('age_hours');
    const altered = await checked(body.toString().replace('"aqi_index":120', '"aqi_index":121'));
    expect([altered.verdict, altered.about]).toEqual(['failed', null]);
  });

  it('demands that a body answers the request beside it, as the command does', async () => {
    const record = (await text(RECORD)).toString();
    const target = '/gauge?entity=us-denver&signal_id=airquality.aqi';
    const expecting = (expect: unknown, body = record) =>
      checked(`{"record":${body},"expect":${JSON.stringify(expect)}}`);
    const met = await expecting(`GET ${target}`);
    expect(met).toMatchObject({ verdict: 'unproven', checks: { expect: { status: 'pass' } } });
    expect((await expecting(`GET ${target}&proof=0`)).verdict).toBe('verified');
    const judge = { issuer: [service.release.head.issuer_did], json: true };
    for (const other of [target.replace('denver', 'boston'), `${target}&format=thin`]) {
      const asked = await expecting(other);
      expect(asked).toMatchObject({ verdict: 'failed', is_issuer_record: true });
      const by = { ...judge, expect: other, readStdin: () => Buffer.from(record) };
      const said = JSON.parse((await runVerify('-', by)).text);
      const named = ({ check: name }: { readonly check: string }) => name === 'expect';
      expect(asked.details.filter(named)).toEqual(said.checks.filter(named));
      expect([said.verdict, said.about.answers]).toEqual(['failed', asked.about?.answers]);
    }
    const altered = await expecting(target, record.replace('"aqi_index":120', '"aqi_index":121'));
    expect(altered.checks.expect?.status).toBe('not_applicable');
    expect((await checked(record)).checks).not.toHaveProperty('expect');
  });

  it.each([['GET /nowhere'], ['POST /gauge'], [''], [7], [null]])(
    'refuses %j, which nothing can answer',
    async (expect_) => {
      const body = `{"record":${await text(RECORD)},"expect":${JSON.stringify(expect_)}}`;
      const refused = await post(body);
      expect([refused.status, refused.error]).toEqual([400, expect.stringMatching(/expect/i)]);
    },
  );

  it('throws where no body was read, instead of judging an empty one', async () => {
    await expect(check(question('/verify'), service)).rejects.toThrow('none was read');
  });

  it('judges a series as signed CSV as it judges the JSON, and says why a bare table is not signed', async () => {
    const target = '/gauge/history-series?signal_id=airquality.aqi&entity=us-denver&days=30';
    const ask = async (form: string): Promise<string> => {
      const answered = await answer(question(target + form), service);
      if (answered.kind !== 'content') throw new Error('no answer');
      return answered.content.body.toString('utf8');
    };
    const [table, json] = [await ask('&format=csv-signed'), await ask('')];
    expect(await checked(table)).toEqual(await checked(json));
    expect((await checked(table)).verdict).toBe('unproven');
    const altered = table.replace('""aqi_index"":120', '""aqi_index"":121');
    expect(altered).not.toBe(table);
    expect((await checked(altered)).verdict).toBe('failed');
    expect((await post(await ask('&format=csv'))).error).toContain('format=csv-signed');
    expect(await post(`${table}x`)).toMatchObject({ status: 400, no_charge: true });
  });

  it('I43: refuses a table that costs more to judge than one request may', async () => {
    const rows = (count: number) =>
      ['# {"rows":[]}', SERIES_CSV_HEADER.trimEnd(), ...Array(count).fill('a,b,1,1,,c')]
        .map((line) => `${line}\r\n`)
        .join('');
    expect((await checked(rows(100))).verdict).not.toBe('verified');
    expect(await post(rows(15_000))).toMatchObject({ status: 413, no_charge: true });
  });

  it('I43: charges the reading of a table before it is read, whatever it turns out to be', async () => {
    const spentOn = async (body: string): Promise<number> => {
      let spent = 0;
      const asked = { ...question('/verify', 'application/json', Buffer.from(body)) };
      const spend = (units: number): void => {
        spent += units;
      };
      await check({ ...asked, spend }, service);
      return spent;
    };
    expect(await spentOn(`# ${'x'.repeat(100_000)}`)).toBeGreaterThan(190);
    expect(await spentOn('x'.repeat(100_000))).toBe(0);
  });

  it('takes {record} for the record itself, and nothing else for it', async () => {
    const record = (await text(RECORD)).toString();
    expect((await checked(`{"record":${record}}`)).verdict).toBe('unproven');
    expect((await checked(`{"record":${record},"more":1}`)).verdict).toBe('unsigned');
  });

  it.each([
    ['hash', (body: string) => body.replace('"aqi_index":120', '"aqi_index":121')],
    [
      'content',
      (body: string) => body.replace('"entity_name":"Denver, CO"', '"entity_name":"Denver"'),
    ],
    [
      'signature',
      (body: string) =>
        body.replace(/"signature":"(.)/, (_, first) => `"signature":"${first === 'A' ? 'B' : 'A'}`),
    ],
    ['content', (body: string) => body.replace('"freshness":"fresh"', '"freshness":"recent"')],
    ['content', (body: string) => body.replace('"state":"on_schedule"', '"state":"overdue"')],
    [
      'inclusion',
      (body: string) => body.replace(/"record_hash":"sha256:./g, '"record_hash":"sha256:0'),
    ],
  ] as const)('fails the %s of a changed record', async (name, change) => {
    const body = (await text(RECORD)).toString();
    const changed = change(body);
    expect(changed).not.toBe(body);
    const result = await checked(changed);
    expect(result.verdict).toBe('failed');
    expect(result.checks[name].status).toBe('fail');
  });

  it('says what is signed by nobody, and who else signed', async () => {
    const { _citation, ...bare } = JSON.parse((await text(RECORD)).toString());
    const unsigned = await checked(JSON.stringify(bare));
    expect([unsigned.verdict, unsigned.checks.hash.status]).toEqual(['unsigned', 'pass']);
    expect(unsigned.is_issuer_record).toBe(false);
    const empty = await checked('{}');
    expect(empty.checks.inclusion.status).toBe('not_applicable');
  });

  it('I30: takes no citation without a claim for its own, and says of others that nothing signs the rest', async () => {
    const record = parseJson((await text(RECORD)).toString()) as Body;
    const { issuer_did: did } = service.release.head;
    const own = await checked(JSON.stringify(inOtherForm(record, { did, secret: KEY })));
    expect([own.verdict, own.is_issuer_record]).toEqual(['failed', false]);
    for (const more of [{}, { grade: 'other' }]) {
      const others = await checked(JSON.stringify(inOtherForm({ ...record, ...more }, OTHER)));
      expect([others.verdict, others.about?.answers]).toEqual(['issuer_unknown', null]);
      expect(others.statement).toContain('nothing signs the rest of this body');
    }
  });

  it('says that another issuer signed, and fails what does not hold of it', async () => {
    const others = JSON.stringify(reseal(JSON.parse((await text(RECORD)).toString()), OTHER_SEED));
    const body = await checked(others);
    expect([body.verdict, body.is_issuer_record]).toEqual(['issuer_unknown', false]);
    expect(body.statement).toMatch(/an issuer other than this service signed it/);
    expect([body.issuer, body.checks.signature.status]).toEqual([OTHER_DID, 'pass']);
    const forged = others.replace('"aqi_index":120', '"aqi_index":121');
    const failed = await checked(forged);
    expect([failed.verdict, failed.issuer]).toEqual(['failed', OTHER_DID]);
  });

  it.each([
    '',
    '{',
    '[1,]',
    '{"a":1,"a":2}',
    '\ufeff{}',
    '{"a":1e400}',
    `${'['.repeat(65)}${']'.repeat(65)}`,
  ])('refuses %j as no judgeable JSON', async (body) => {
    expect(await post(body)).toMatchObject({ status: 400, no_charge: true });
  });

  it.each([0, 1])('I43: takes %i citations over the limit or refuses them', async (over) => {
    const parts = Array.from({ length: CHECKED_CITATIONS_MAX + over }, () => ({ _citation: {} }));
    const body = await post(JSON.stringify({ parts }));
    if (over === 0) expect(checkSchema.parse(body).verdict).toBe('failed');
    else expect(body).toMatchObject({ status: 413, no_charge: true });
  });

  it('I43: looks up so many record hashes of one body, and says where it left off', async () => {
    const { record_hash } = JSON.parse((await text(RECORD)).toString());
    const inclusionBehind = async (count: number) => {
      const others = Array.from({ length: count }, (_, at) => String(at).padStart(64, '0'));
      const parts = others.map((hex) => ({ record_hash: `sha256:${hex}` }));
      const body = JSON.stringify({ parts: [...parts, { record_hash }] });
      return (await checked(body)).checks.inclusion.detail;
    };
    const [last, of] = [INCLUSIONS_MAX - 1, `of ${INCLUSIONS_MAX}`];
    expect(await inclusionBehind(last)).toBe(`1 ${of} are in the log`);
    expect(await inclusionBehind(last + 1)).toBe(
      `0 ${of} of the first ${INCLUSIONS_MAX} are in the log`,
    );
  });

  it('I43: refuses what costs more to judge than one request may, however short it is', async () => {
    const nested = (depth: number): object =>
      depth === 0
        ? { rows: Array.from({ length: 2000 }, () => ({})) }
        : { _citation: {}, a: nested(depth - 1) };
    expect(checkSchema.parse(await post(JSON.stringify(nested(1)))).verdict).toBe('failed');
    expect(await post(JSON.stringify(nested(10)))).toMatchObject({ status: 413, no_charge: true });
  });

  it('I32: says undetermined where the log cannot be read, never "not found"', async () => {
    const broken = Object.create(service.release, {
      body: { value: () => Promise.reject(new Error('EIO')) },
    }) as Service['release'];
    const body = checkSchema.parse(await post(await text(RECORD), { ...service, release: broken }));
    expect(body.checks.inclusion.status).toBe('undetermined');
    expect(body.verdict).toBe('unproven');
  });

  it(`I31: says what the command says, over ${RUNS} mutated bodies`, async () => {
    const random = generator(20_261_120);
    const seen = new Set<string>();
    for (let run = 0; run < RUNS; run += 1) {
      const body = mutated(bodies[run % bodies.length] ?? Buffer.alloc(0), random);
      const own = verdictOf(await post(body));
      expect([run, own]).toEqual([run, verdictOf(await command(body))]);
      seen.add(own.verdict);
    }
    expect([...seen].sort()).toEqual(['failed', 'undecided', 'unproven', 'unsigned']);
  });
});

const rows = (count: number): JsonValue => Array.from({ length: count }, () => ({ a: 1 }));

describe('checkCost()', () => {
  it('counts citations wherever they stand, and no text that looks like one', () => {
    const body = { _citation: {}, parts: [{ _citation: {} }, { inner: { _citation: null } }] };
    expect(checkCost(body).citations).toBe(3);
    expect(checkCost({ a: '_citation', b: ['_citation'] }).citations).toBe(0);
  });

  it('I39: grows with the body, and with every hash over it', () => {
    const { cost } = checkCost(rows(1000));
    expect(checkCost(rows(2000)).cost / cost).toBeCloseTo(2, 1);
    const covered = checkCost({ rows: rows(1000), record_hash: '' }).cost;
    expect(covered / cost).toBeGreaterThan(1.9);
    const twice = checkCost({ inner: { rows: rows(1000), _citation: {} }, _citation: {} }).cost;
    expect(twice / cost).toBeGreaterThan(2.9);
  });

  it('counts the signature of a proof, wherever somebody writes one', () => {
    const bare = checkCost({ a: { b: 1 } });
    const proven = checkCost({ a: { b: 1, _proof: '' } });
    expect(judgingCost(proven) - judgingCost(bare)).toBeGreaterThan(20);
    expect(
      checkCost({ parts: Array.from({ length: 100 }, () => ({ _proof: '' })) }).cost,
    ).toBeGreaterThan(CHECK_COST_MAX);
  });

  it('I43: grows with the length of texts and names, once for every hash over them', () => {
    const long = 'a'.repeat(64_000);
    const text = checkCost({ text: long }).cost;
    expect(text - checkCost({ text: '' }).cost).toBeCloseTo(1000, 0);
    expect(checkCost({ text: long, record_hash: '' }).cost / text).toBeGreaterThan(1.9);
    expect(checkCost({ [long]: 1, record_hash: '' }).cost).toBeGreaterThan(1000);
  });

  it.each(['_proof', 'checkpoint'])(
    'I43: grows with the length of a signed note in "%s"',
    (name) => {
      const [short, long] = ['', 'a'.repeat(131_072)].map((note) =>
        checkCost({ a: { [name]: note } }),
      );
      const [plain] = ['a'.repeat(131_072)].map((note) => checkCost({ a: { [`${name}_`]: note } }));
      expect(Number(long?.cost) - Number(short?.cost)).toBeGreaterThan(4 * Number(plain?.cost));
    },
  );

  it('lets a long list of plain values pass, and not the same number of objects', () => {
    const count = CHECK_COST_MAX / 5;
    expect(checkCost(Array.from({ length: count }, () => 1)).cost).toBeLessThan(CHECK_COST_MAX);
    expect(checkCost(rows(count)).cost).toBeGreaterThan(CHECK_COST_MAX);
  });
});
