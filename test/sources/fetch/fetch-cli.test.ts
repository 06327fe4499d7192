import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hostsOf, rowOf } from '../../../compiler/catalog/register.ts';
import {
  defineFetch,
  defineRun,
  defineSources,
  everyMsOf,
  type FetchSettings,
  parseConfig,
} from '../../../compiler/sources/fetch/fetch-cli.ts';
import { addressesAt } from '../../../compiler/sources/kit/source.ts';
import { SOURCES, sourceOf } from '../../../compiler/sources/sources.ts';
import { lockData } from '../../../compiler/system/data-lock.ts';
import { makeFolder, removeFolders } from '../../snapshot-folder.ts';
import { Agency } from './agency.ts';
import { gaugeAnswer, PLAYS } from './agency-payloads.ts';
import { VirtualClock } from './test-row.ts';

afterAll(removeFolders);

describe('fetch cli', () => {
  const agency = new Agency();
  let clock: VirtualClock;
  let folder = '';
  let config = '';
  let snapshots = '';
  let printed: string[];
  let exits: number[];
  let compiled: number;
  let askedAgain: number;
  let env: Record<string, string>;
  let stop: (() => void) | null;

  beforeAll(() => agency.open());
  afterAll(() => agency.close());
  beforeEach(() => {
    clock = new VirtualClock('2026-11-20T11:07:00Z');
    agency.now = () => clock.ms;
    agency.asked.length = 0;
    agency.moods.clear();
    for (const { host, reply } of Object.values(PLAYS)) {
      agency.serve(host, (path) => reply(clock.ms, path));
    }
    folder = makeFolder();
    config = join(folder, 'sources.json');
    snapshots = join(folder, 'readings');
    printed = [];
    exits = [];
    compiled = 0;
    askedAgain = 0;
    env = { SIGNALPRESS_CONTACT: 'mailto:ops@example.org' };
    stop = null;
  });

  function write(more: object = {}) {
    const sources = Object.entries(PLAYS).map(([id, { entities }]) => [id, { entities }] as const);
    const origins = agency.origins(Object.keys(PLAYS).flatMap((id) => hostsOf(rowOf(id))));
    writeFileSync(
      config,
      JSON.stringify({ origins, sources: Object.fromEntries(sources), ...more }),
    );
  }

  function programOf(): Command {
    const program = new Command('signalpress').exitOverride();
    const settings: FetchSettings = {
      version: '0.0.0-test',
      clock,
      env: (name) => env[name],
      print: (text) => printed.push(text),
      exit: (code) => exits.push(code),
      onStop: (reported) => {
        stop = reported;
        return () => {};
      },
      errorText: String,
      withCompileOptions: (command, readings) =>
        command
          .option('--snapshots <folder>', 'folder of batches', readings)
          .option('--contact <uri>', 'contact', env.SIGNALPRESS_CONTACT),
      compiler: () => ({
        publish: async () => {
          compiled += 1;
          return compiled;
        },
        askAgain: async () => {
          askedAgain += 1;
        },
      }),
    };
    defineFetch(program.command('fetch'), settings);
    defineRun(program.command('run'), settings);
    defineSources(program.command('sources'), settings);
    return program;
  }

  async function cli(...args: readonly string[]) {
    const program = programOf();
    const paths = args[0] === 'sources' ? [] : ['--snapshots', snapshots];
    const file = args[1] === 'list' ? [] : ['--config', config];
    await program.parseAsync(['node', 'signalpress', ...args, ...file, ...paths]);
  }

  it.each(['run', 'fetch'])('%s leaves the folder of the samples alone', (name) => {
    const command = programOf().commands.find((one) => one.name() === name);
    expect(command?.opts().snapshots).toBe('readings');
  });

  describe('signalpress run', () => {
    it('--once fetches, imports and publishes, shows a table, and ends well', async () => {
      write();
      await cli('run', '--once');
      expect({ exits, compiled }).toEqual({ exits: [0], compiled: 1 });
      expect(printed.join('\n')).toMatch(/usgs-nwis +ok +2026-11-20T11:07:00Z/);
      expect(agency.asked[0]?.headers['user-agent']).toBe(
        'signalpress/0.0.0-test (ops@example.org)',
      );
      const status = JSON.parse(readFileSync(join(snapshots, 'archive', 'status.json'), 'utf8'));
      expect(Object.keys(status.sources).sort()).toEqual(Object.keys(PLAYS).sort());
      // The lock is given back.
      expect(readdirSync(join(snapshots, 'archive'))).not.toContain('.lock');
    });

    it('--once says nothing and writes nothing where nothing is due', async () => {
      write();
      await cli('run', '--once');
      printed = [];
      await cli('run', '--once');
      expect(printed).toEqual([]);
      expect({ exits, compiled }).toEqual({ exits: [0, 0], compiled: 1 });
      // A witness that was down may be there by now.
      expect(askedAgain).toBe(2);
    });

    it('names a source that failed in its log, and ends with 3', async () => {
      write();
      agency.moods.set('api.waterdata.usgs.gov', 'page');
      await cli('run', '--once');
      expect(exits).toEqual([3]);
      expect(printed.join('\n')).toMatch(
        /FAILED: Cannot fetch "https:\/\/api\.waterdata.* a page of markup/,
      );
      expect(printed.join('\n')).toMatch(/usgs-nwis +FAILING/);
    });

    it('names the address of what could not be imported', async () => {
      write();
      agency.moods.set('data.sec.gov', 'other-format');
      await cli('run', '--once');
      expect(printed.join('\n')).toMatch(
        /FAILED: .*Cannot import.*; that is what "https:\/\/data\.sec\.gov\/\S+" \(\S+\) answered/,
      );
    });

    it('goes on until it is told to end', async () => {
      write();
      const done = cli('run');
      while (compiled < 3) await new Promise((resolve) => setImmediate(resolve));
      stop?.();
      await done;
      expect(clock.ms).toBeGreaterThan(Date.parse('2026-11-20T13:00:00Z'));
      expect(exits.every((code) => code === 0)).toBe(true);
    });

    it('refuses to run beside another that writes into the same archive, and asks nobody', async () => {
      write();
      const unlock = lockData(join(snapshots, 'archive'));
      await expect(cli('run', '--once')).rejects.toThrow(/another command .* is writing there/);
      unlock();
      expect(agency.asked).toEqual([]);
    });

    it('refuses to run without a configuration, and says how to get one', async () => {
      await expect(cli('run', '--once')).rejects.toThrow(
        'write one with "signalpress sources init"',
      );
    });
  });

  describe('signalpress fetch', () => {
    it('fetches, archives and imports, and publishes nothing', async () => {
      write();
      await cli('fetch', 'usgs-nwis', '--entities', '07010000');
      expect({ exits, compiled }).toEqual({ exits: [0], compiled: 0 });
      expect(existsSync(join(snapshots, '2026-11-20T11Z', 'hydrology.river-level.ndjson'))).toBe(
        true,
      );
      expect(agency.asked.map(({ path }) => path)).toEqual([
        expect.stringMatching(/continuous\/items.*=USGS-07010000$/),
      ]);
      // What is not due is asked all the same, because a person asks.
      await cli('fetch', 'usgs-nwis');
      expect(agency.asked[1]?.status).toBe(304);
    });

    it('leaves what it fetched for the next run to publish', async () => {
      write();
      await cli('fetch', 'usgs-nwis');
      await cli('run', '--once');
      expect(compiled).toBe(1);
      expect(agency.asked.filter(({ host }) => host.includes('waterdata'))).toHaveLength(1);
    });

    it('--every fetches again and again', async () => {
      write();
      const done = cli('fetch', 'usgs-nwis', '--every', '2h');
      while (agency.asked.length < 3) await new Promise((resolve) => setImmediate(resolve));
      stop?.();
      await done;
      expect(clock.ms).toBeGreaterThanOrEqual(Date.parse('2026-11-20T15:07:00Z'));
    });

    it.each([
      [['nothing'], 'no such source'],
      [['usgs-nwis', 'sec-edgar', '--entities', '1'], 'fetch one source at a time'],
      [['usgs-nwis', '--every', 'often'], 'not minutes, hours or days'],
      [['usgs-nwis', '--contact', 'me (you)'], 'not an address such as mailto:'],
    ])('refuses %j', async (args, reported) => {
      write();
      await expect(cli('fetch', ...args)).rejects.toThrow(reported);
      expect(agency.asked).toEqual([]);
    });

    it('says what a source needs, and ends with 1 where nothing came', async () => {
      env = {};
      write();
      await cli('fetch', 'sec-edgar');
      expect(exits).toEqual([1]);
      expect(printed.join('\n')).toContain('set SIGNALPRESS_CONTACT to mailto:');
      expect(agency.asked).toEqual([]);
    });
  });

  describe('signalpress sources', () => {
    it('init writes what can be fetched as things are, and says what cannot', async () => {
      await cli('sources', 'init');
      expect(printed.join('\n')).toMatch(/left out airnow: it needs a data key/);
      expect(printed.join('\n')).toMatch(/left out fred: nobody has read its terms/);
      const { sources } = JSON.parse(readFileSync(config, 'utf8'));
      expect(Object.keys(sources)).toContain('usgs-earthquakes');
      expect(Object.keys(sources)).not.toContain('airnow');
      printed = [];
      await cli('sources', 'check');
      expect(exits).toEqual([]);
      expect(printed.join('\n')).toMatch(/usgs-earthquakes +1h +all that it knows +ok/);
      await expect(cli('sources', 'init')).rejects.toThrow('EEXIST');
    });

    describe('a source whose terms forbid sale', () => {
      const ids = SOURCES.filter(({ id }) => id.startsWith('open-meteo-')).map(({ id }) => id);
      const free = ids.flatMap((id) => hostsOf(rowOf(id)));
      const plain =
        'its free hosts are for non-commercial use only; buy a plan of Open-Meteo for its paid hosts and set SIGNALPRESS_OPEN_METEO_KEY';

      it('is off until its key is set: init leaves it out, fetch and run ask nothing', async () => {
        expect(ids).toHaveLength(4);
        expect(free.every((host) => host.startsWith('customer-'))).toBe(true);
        await cli('sources', 'init');
        for (const id of ids) expect(printed.join('\n')).toContain(`left out ${id}: ${plain}`);
        const { sources } = JSON.parse(readFileSync(config, 'utf8'));
        expect(Object.keys(sources).filter((id) => ids.includes(id))).toEqual([]);
        for (const command of [
          ['fetch', ...ids],
          ['run', '--once'],
        ]) {
          printed = [];
          clock.ms += 3_600_000;
          write({ sources: Object.fromEntries(ids.map((id) => [id, {}])) });
          await cli(...command);
          expect(printed.join('\n')).toContain(`FAILED: ${plain}`);
          expect(exits.at(-1)).toBe(1);
        }
        expect(agency.asked).toEqual([]);
      });

      it('is on with it, at its paid hosts alone', async () => {
        env = { ...env, SIGNALPRESS_OPEN_METEO_KEY: 'paid' };
        await cli('sources', 'init');
        const { sources } = JSON.parse(readFileSync(config, 'utf8'));
        expect(Object.keys(sources)).toEqual(expect.arrayContaining(ids));
        for (const id of ids) {
          const asked = addressesAt(sourceOf(id), { entities: [], now: clock.ms }).flat();
          expect(asked.every(({ url }) => url.startsWith('https://customer-'))).toBe(true);
        }
      });
    });

    it('check names what stands against a source, and ends with 1', async () => {
      env = {};
      write();
      await cli('sources', 'check');
      expect(exits).toEqual([1]);
      expect(printed.join('\n')).toMatch(/sec-edgar .*set SIGNALPRESS_CONTACT/);
      expect(agency.asked).toEqual([]);
    });

    it('check names what ended, what may not be sold and the words that terms want', async () => {
      clock.ms = Date.parse('2026-11-29T18:00:00Z');
      env = { ...env, SIGNALPRESS_AIRNOW_KEY: 'key' };
      write({ sources: { airnow: {} } });
      await cli('sources', 'check');
      const text = printed.join('\n');
      expect(text).toMatch(/airnow: .*latLong\/current\/ ended on 2026-09-30/);
      expect(text).toMatch(/airnow: its terms want: "Data: U\.S\. EPA AirNow/);
      expect(text).toMatch(/open-meteo-marine: its terms \(non-commercial\) forbid sale/);
      expect(text).not.toMatch(/usdm: its terms want/);
      clock.ms = Date.parse('2027-05-02T00:00:00Z');
      printed = [];
      await cli('sources', 'check');
      expect(printed.join('\n')).toMatch(/usgs-nwis: .*waterservices.* ended on 2027-02-22/);
      expect(agency.asked).toEqual([]);
    });

    it('check names a source that is asked more often than its agency takes', async () => {
      write({ sources: { bls: { every: '30m' }, fred: {} } });
      await cli('sources', 'check');
      expect(printed.join('\n')).toMatch(/bls: 144 requests a day, and its agency takes 25/);
      expect(printed.join('\n')).not.toMatch(/fred: \d+ requests/);
    });

    it('run warns once a day of an end that is near', async () => {
      clock.ms = Date.parse('2026-12-20T11:07:00Z');
      write({ sources: { 'usgs-nwis': { entities: ['07010000'] } } });
      const warned = async () => {
        printed = [];
        await cli('run', '--once');
        return printed.filter((line) => line.startsWith('warning: '));
      };
      expect(await warned()).toEqual([
        expect.stringMatching(/usgs-nwis: .*waterservices.* ends on 2027-02-22 .*is asked in its/),
      ]);
      clock.ms += 2 * 3_600_000;
      expect(await warned()).toEqual([]);
      clock.ms += 24 * 3_600_000;
      expect(await warned()).toHaveLength(1);
    });

    it('takes an address, a key and a host from the configuration', async () => {
      const url = 'https://mine.example.org/week.geojson';
      const key = { variable: 'SIGNALPRESS_MINE_KEY', in: 'header', name: 'x-mine' };
      const sources = { 'usgs-earthquakes': { addresses: { week: [{ url }] }, key } };
      agency.serve('mine.example.org', (path) => {
        return PLAYS['usgs-earthquakes']?.reply(clock.ms, path) ?? null;
      });
      write({ sources, origins: agency.origins(['mine.example.org']) });
      await cli('sources', 'check');
      expect(printed.join('\n')).toMatch(/usgs-earthquakes .* and set SIGNALPRESS_MINE_KEY/);
      env = { ...env, SIGNALPRESS_MINE_KEY: 'mine' };
      await cli('run', '--once');
      expect(agency.asked).toMatchObject([
        { host: 'mine.example.org', headers: { 'x-mine': 'mine' } },
      ]);
      expect(exits.at(-1)).toBe(0);
    });

    it.each([
      ['another name', { addresses: { weeks: [{ url: 'https://a.gov/x' }] } }, 'weeks'],
      ['a plain address', { addresses: { week: [{ url: 'http://a.gov/x' }] } }, 'week'],
      ['a secret of another kind', { key: { variable: 'HOME', in: 'query', name: 'k' } }, 'key'],
    ])('refuses %s in its place', async (_, change, reported) => {
      write({ sources: { 'usgs-earthquakes': change } });
      await expect(cli('sources', 'check')).rejects.toThrow(reported);
    });

    it('list shows each source with what it needs', async () => {
      await cli('sources', 'list');
      expect(printed.join('\n')).toMatch(/sec-edgar +1h +SIGNALPRESS_CONTACT \(set\)/);
      env = {};
      await cli('sources', 'list');
      expect(printed.at(-1)).not.toContain('(set)');
    });
  });

  describe('an answer that cannot be read', () => {
    const strange = (host: string) => agency.serve(host, () => json('{"a":1}'));
    const json = (body: string) => ({ type: 'application/json', body });
    const only = (id: string, entities: readonly string[]) => {
      const origins = agency.origins(hostsOf(rowOf(id)));
      writeFileSync(config, JSON.stringify({ origins, sources: { [id]: { entities } } }));
    };

    it('of the new service of the USGS is passed over for the old one, until that ends', async () => {
      strange('api.waterdata.usgs.gov');
      agency.serve('waterservices.usgs.gov', () =>
        json(gaugeAnswer({ '07010000': { '2026-11-20T11:00:00Z': 3 } })),
      );
      only('usgs-nwis', ['07010000']);
      await cli('run', '--once');
      expect({ exits, compiled }).toEqual({ exits: [0], compiled: 1 });
      expect(printed.join('\n')).toMatch(
        /note: .*waterdata.*; the next address answered in its place/,
      );
      clock.ms = Date.parse('2027-03-01T11:07:00Z');
      await cli('run', '--once');
      expect(exits).toEqual([0, 1]);
      expect(printed.join('\n')).toMatch(/FAILED: .*waterservices.* ended on 2027-02-22/);
    });

    it('of AirNow says that its old address has ended', async () => {
      strange('www.airnowapi.org');
      env = { ...env, SIGNALPRESS_AIRNOW_KEY: 'k' };
      only('airnow', ['us-losangeles']);
      await cli('run', '--once');
      expect(exits).toEqual([1]);
      expect(printed.join('\n')).toMatch(/FAILED: .*latLong\/current\/ ended on 2026-09-30/);
    });
  });
});

const parse = (value: unknown) =>
  parseConfig(Buffer.from(JSON.stringify(value)), 'signalpress.sources.json', SOURCES);

describe('parseConfig()', () => {
  it('takes sources with entities and times, and mirrors', () => {
    const { wanted, origins } = parse({
      every: '3h',
      origins: { 'data.sec.gov': 'http://127.0.0.1:8080/sec' },
      sources: { 'usgs-nwis': { entities: ['07010000'], every: '15m' }, 'usgs-earthquakes': {} },
    });
    expect(origins).toEqual({ 'data.sec.gov': 'http://127.0.0.1:8080/sec' });
    expect(wanted.map(({ source, ...rest }) => ({ id: source.id, ...rest }))).toEqual([
      { id: 'usgs-earthquakes', entities: [], everyMs: 3 * 3_600_000 },
      { id: 'usgs-nwis', entities: ['07010000'], everyMs: 900_000 },
    ]);
  });

  it('asks no source more than once an hour unless it is told to, and none before it publishes', () => {
    expect(everyMsOf(sourceOf('usgs-earthquakes'))).toBe(3_600_000);
    expect(everyMsOf(sourceOf('open-meteo-soil-moisture'))).toBe(7 * 24 * 3_600_000);
  });

  it.each([
    ['no sources', {}, 'sources: '],
    ['an empty list of sources', { sources: {} }, 'sources: none'],
    ['an unknown source', { sources: { 'usgs-nwiss': {} } }, 'did you mean "usgs-nwis"?'],
    ['an unknown member', { sources: { 'usgs-nwis': { sites: [] } } }, 'sites'],
    ['a duration without a unit', { sources: { 'usgs-nwis': { every: '15' } } }, 'not minutes'],
    ['a duration of nothing', { sources: { 'usgs-nwis': { every: '0m' } } }, 'not minutes'],
    [
      'a mirror of a host that is not asked',
      { origins: { 'example.org': 'http://127.0.0.1' }, sources: { 'usgs-nwis': {} } },
      'origins.example.org: no source is fetched from this host',
    ],
    [
      'a mirror that is no address',
      { origins: { 'data.sec.gov': 'ftp://x' }, sources: { 'usgs-nwis': {} } },
      'origins.data.sec.gov',
    ],
    [
      'a key of a header without its name',
      { sources: { eia: { key: { variable: 'SIGNALPRESS_EIA_KEY', in: 'header' } } } },
      'sources.eia.key.name',
    ],
  ])('refuses %s', (_, value, reported) => {
    expect(() => parse(value)).toThrow(reported);
  });

  it.each([
    { variable: 'SIGNALPRESS_EIA_KEY', in: 'header', name: 'X-Key' },
    { variable: 'SIGNALPRESS_EIA_KEY', in: 'path' },
  ])('takes the key %j', (key) => {
    const { wanted } = parse({ sources: { eia: { key } } });
    expect(wanted[0]?.source.row?.key).toEqual(key);
  });

  it('names every fault at once, and the file', () => {
    const value = {
      origins: { 'a.example': 'http://x' },
      sources: { nothing: {}, 'usgs-nwis': {} },
    };
    expect(() => parse(value)).toThrow(
      /"signalpress\.sources\.json": correct it:\n {2}sources\.nothing: .*\n {2}origins\.a\.example: /,
    );
  });

  it('refuses what is not JSON', () => {
    expect(() => parseConfig(Buffer.from('{'), 'x.json', SOURCES)).toThrow('"x.json"');
  });
});
