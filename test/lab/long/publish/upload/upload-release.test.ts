import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { definePublish, httpDestination } from '../../../../../compiler/cli/upload-cli.ts';
import { CHECKPOINT_PATH } from '../../../../../compiler/format/tiles.ts';
import {
  type Destination,
  folderDestination,
  UploadError,
} from '../../../../../compiler/publish/upload/destination.ts';
import { httpFiles } from '../../../../../compiler/publish/upload/http-files.ts';
import {
  type Uploaded,
  UploadNotes,
  uploadRelease,
} from '../../../../../compiler/publish/upload/upload-release.ts';
import { errorText } from '../../../../../compiler/system/error-text.ts';
import { folderSource } from '../../../../../gatekeeper/heart/release/folder-source.ts';
import { openRelease } from '../../../../../gatekeeper/heart/release/open-release.ts';
import { FOR_EVERYBODY } from '../../../../../gatekeeper/wire/cost.ts';
import { built } from '../../../../command-runs.ts';
import {
  closeSites,
  writeHostedRelease,
  writeLoggedRelease,
} from '../../../../gatekeeper/fleet/remote/hosted-gate.ts';
import {
  tinyDataDir,
  tinyFilePath,
  tinyFiles,
  tinyKey,
} from '../../../../gatekeeper/tiny-release.ts';
import {
  compileFolder,
  makeFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../../../snapshot-folder.ts';

const CLI = built('compiler/signalpress.js');
const RECORD = 'record/airquality.aqi/us-denver.json';

afterEach(closePutSites);

const folder = (): string => join(mkdtempSync(join(tmpdir(), 'published-')), 'shop');

const filesIn = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(root, path)).isFile())
    .filter((path) => !path.startsWith('.') && path !== 'publishing.txt')
    .filter((path) => !path.startsWith('current/'))
    .sort();

const putsBelow = (asked: readonly string[], folder: string): string[] =>
  asked.filter((one) => one.startsWith(`PUT ${folder}/`));

async function upload(
  data: string,
  open: () => Destination,
  flags: { all?: boolean; prune?: boolean } = {},
): Promise<Uploaded> {
  const destination = open();
  try {
    const notes = new UploadNotes(data, destination.name);
    try {
      const options = { all: false, prune: false, ...flags, progress: () => undefined };
      return await uploadRelease({ data, destination, notes, ...options });
    } finally {
      notes.close();
    }
  } finally {
    await destination.close();
  }
}

/** A release that differs from the first in one record. */
const CHANGED = new Map(tinyFiles());
CHANGED.set(RECORD, Buffer.concat([CHANGED.get(RECORD) ?? Buffer.alloc(0), Buffer.from('\n')]));

describe('uploadRelease() to a folder', () => {
  it('makes a data folder that a gatekeeper serves, and then writes only what is new', async () => {
    const [data, to] = [tinyDataDir(), folder()];
    writeLoggedRelease(data);
    const first = await upload(data, () => folderDestination(to, data));
    expect(first).toMatchObject({ resumed: 0, pruned: [], isHidden: false });
    expect(filesIn(to)).toEqual(filesIn(data));
    expect(readlinkSync(join(to, 'current'))).toBe(readlinkSync(join(data, 'current')));
    const terms = { issuerDid: tinyKey().did, baseUrl: null };
    const release = await openRelease({ source: folderSource(to), ...terms });
    for (const { path } of release.files.values()) await release.body(path, FOR_EVERYBODY);

    writeLoggedRelease(data, { sequence: 2, files: CHANGED });
    const second = await upload(data, () => folderDestination(to, data));
    expect([second.files, second.release.sequence]).toEqual([1, 2]);
    expect(second.bytes).toBe(CHANGED.get(RECORD)?.length);
    expect(filesIn(to)).toEqual(filesIn(data));
    const third = await upload(data, () => folderDestination(to, data));
    expect([third.files, third.bytes]).toEqual([0, 0]);
  });

  it.each<[string, (to: string) => void, RegExp]>([
    [
      'a newer release',
      (to) => void writeHostedRelease(to, { sequence: 9 }),
      /release 9 is there; name another place, or pass --all/,
    ],
    [
      'another release of the same number',
      (to) => void writeHostedRelease(to, { sequence: 3, head: { issuer_name: 'X' } }),
      /another release of this number is there/,
    ],
    [
      'another shop',
      (to) => void writeLoggedRelease(to, { head: { base_url: 'https://other.example' } }),
      /the shop of https:\/\/other\.example is there/,
    ],
    [
      'something else',
      (to) => {
        const root = writeHostedRelease(to);
        writeFileSync(join(root, 'release.json'), '{}');
      },
      /something else than a release is there/,
    ],
  ])('I21: leaves %s alone, and replaces it only when told to', async (_, make, message) => {
    const [data, to] = [tinyDataDir(), tinyDataDir()];
    writeLoggedRelease(data, { sequence: 3 });
    make(to);
    const before = readlinkSync(join(to, 'current'));
    const opening = () => folderDestination(to, data);
    await expect(upload(data, opening)).rejects.toThrow(message);
    expect(readlinkSync(join(to, 'current'))).toBe(before);
    await upload(data, opening, { all: true });
    expect(readlinkSync(join(to, 'current'))).toBe(readlinkSync(join(data, 'current')));
  });

  it.each<[string, (path: string) => void]>([
    ['damaged', (path) => writeFileSync(path, 'x')],
    ['gone', (path) => rmSync(path)],
  ])('I24: publishes nothing of a release with a file that is %s', async (_, spoil) => {
    const [data, to] = [tinyDataDir(), folder()];
    writeLoggedRelease(data);
    await upload(data, () => folderDestination(to, data));
    const before = readlinkSync(join(to, 'current'));
    spoil(tinyFilePath(writeLoggedRelease(data, { sequence: 2, files: CHANGED }), RECORD));
    const failed = upload(data, () => folderDestination(to, data));
    await expect(failed).rejects.toThrow(/^Cannot publish "record\/.*": damaged or gone here/);
    expect(readlinkSync(join(to, 'current'))).toBe(before);
  });

  it.each<[string, (to: string, path: string) => void]>([
    ['with other bytes', (to, path) => writeFileSync(join(to, path), 'x')],
    ['that grew', (to, path) => writeFileSync(join(to, path), Buffer.alloc(100_000))],
    ['that is gone', (to, path) => rmSync(join(to, path))],
  ])('I24: writes a file %s there again, although the release is there', async (_, spoil) => {
    const [data, to] = [tinyDataDir(), folder()];
    const root = writeLoggedRelease(data);
    await upload(data, () => folderDestination(to, data));
    const stored = [
      tinyFilePath(root, RECORD).slice(data.length + 1),
      `releases/${basename(root)}/files.txt`,
    ];
    for (const path of stored) {
      spoil(to, path);
      const mended = await upload(data, () => folderDestination(to, data));
      expect(mended.repaired).toBe(path.startsWith('files/') ? 1 : 0);
      expect(readFileSync(join(to, path))).toEqual(readFileSync(join(data, path)));
    }
    const again = await upload(data, () => folderDestination(to, data));
    expect([again.files, again.repaired]).toEqual([0, 0]);
  });

  it('I24: looks at every file that is there already within 24 releases, and mends it', async () => {
    const [data, to] = [tinyDataDir(), folder()];
    const stored = tinyFilePath(writeLoggedRelease(data), RECORD).slice(data.length + 1);
    await upload(data, () => folderDestination(to, data));
    writeFileSync(join(to, stored), 'x');
    const repaired: number[] = [];
    for (let sequence = 2; sequence <= 25; sequence += 1) {
      writeLoggedRelease(data, { sequence });
      repaired.push((await upload(data, () => folderDestination(to, data))).repaired);
    }
    expect(repaired.filter((count) => count !== 0)).toEqual([1]);
    expect(readFileSync(join(to, stored))).toEqual(readFileSync(join(data, stored)));
  });

  it('refuses the folder of releases itself, and a place that another run writes to', async () => {
    const [data, to] = [tinyDataDir(), folder()];
    expect(() => folderDestination(`${data}/.`, data)).toThrow(/is the folder of releases itself/);
    const destination = folderDestination(to, data);
    expect(() => folderDestination(to, data)).toThrow(/another command .* is writing there/);
    await destination.close();
    await folderDestination(to, data).close();
  });

  it('removes what only releases list that are no longer kept, and nothing else', async () => {
    const [data, to] = [tinyDataDir(), folder()];
    const gone = writeLoggedRelease(data, { files: CHANGED });
    await upload(data, () => folderDestination(to, data));
    writeFileSync(join(to, 'robots.txt'), 'mine');
    const stale = tinyFilePath(gone, RECORD).slice(data.length + 1);
    writeLoggedRelease(data, { sequence: 2 });
    const kept = await upload(data, () => folderDestination(to, data), { prune: true });
    expect([kept.pruned, existsSync(join(to, stale))]).toEqual([[], true]);
    // Its folder is removed here, as retention does.
    rmSync(gone, { recursive: true });
    rmSync(join(data, stale));
    const pruned = await upload(data, () => folderDestination(to, data), { prune: true });
    expect(pruned.pruned).toEqual([basename(gone)]);
    expect(filesIn(to)).toEqual([...filesIn(data), 'robots.txt'].sort());
    const terms = { issuerDid: null, baseUrl: null };
    const release = await openRelease({ source: folderSource(to), ...terms });
    for (const { path } of release.files.values()) await release.body(path, FOR_EVERYBODY);
  });
});

describe('uploadRelease() to a host that takes PUT', () => {
  const AUTH = 'Authorization: Bearer 0123456789abcdef';
  const to = (url: string) => (): Destination => {
    const files = () => httpFiles({ url: new URL(url), auth: AUTH, connections: 4 });
    return httpDestination(url, files(), files());
  };

  it('writes bodies, then the log, then the list, then the head, with the header of the operator', async () => {
    const data = tinyDataDir();
    const name = basename(writeLoggedRelease(data));
    const site = await putSite();
    await upload(data, to(site.url));
    expect(filesIn(site.folder)).toEqual(filesIn(data));
    const puts = site.asked.filter((one) => one.startsWith('PUT '));
    expect(puts[0]).toBe('PUT publishing.txt');
    expect(puts.slice(-4)).toEqual([
      `PUT releases/${name}/files.txt`,
      `PUT releases/${name}/release.json`,
      `PUT ${CHECKPOINT_PATH}`,
      'PUT current/release.json',
    ]);
    const [bodies, log] = ['files', 'log'].map((one) => putsBelow(puts.slice(1, -4), one));
    expect([...(bodies ?? []), ...(log ?? [])]).toEqual(puts.slice(1, -4));
    expect(site.authorizations).toEqual(new Set(['Bearer 0123456789abcdef']));
    site.asked.length = 0;
    writeLoggedRelease(data, { sequence: 2, files: CHANGED });
    expect((await upload(data, to(site.url))).files).toBe(1);
    expect(putsBelow(site.asked, 'files')).toHaveLength(1);
  });

  it('goes on where it was after an error, whatever file it was', async () => {
    const data = tinyDataDir();
    writeLoggedRelease(data);
    const site = await putSite();
    const total = filesIn(data).filter((path) => path.startsWith('files/')).length;
    let runs = 0;
    let written = 0;
    for (; runs < 50; runs += 1) {
      site.failAfter = 5;
      const done = await upload(data, to(site.url)).catch((error: unknown) => {
        expect(error).toBeInstanceOf(UploadError);
        expect(existsSync(join(site.folder, 'current/release.json'))).toBe(false);
        return null;
      });
      if (done === null) continue;
      written = done.files + done.resumed;
      break;
    }
    expect(runs).toBeGreaterThan(2);
    expect(written).toBe(total);
    expect(filesIn(site.folder)).toEqual(filesIn(data));
    const counts = new Map<string, number>();
    for (const one of putsBelow(site.asked, 'files')) {
      counts.set(one, (counts.get(one) ?? 0) + 1);
    }
    // Only those in flight at an error may be written again.
    expect([...counts.values()].filter((count) => count > 1).length).toBeLessThan(runs * 8);
  });

  it('starts over where the destination is not the one that it wrote to', async () => {
    const data = tinyDataDir();
    writeLoggedRelease(data);
    const site = await putSite();
    site.failAfter = 20;
    await expect(upload(data, to(site.url))).rejects.toThrow(UploadError);
    rmSync(join(site.folder, 'files'), { recursive: true });
    rmSync(join(site.folder, 'publishing.txt'));
    site.failAfter = null;
    expect((await upload(data, to(site.url))).resumed).toBe(0);
    expect(filesIn(site.folder)).toEqual(filesIn(data));
  });

  it.each<[string, number, RegExp]>([
    ['a closed door', 403, /status 403; set SIGNALPRESS_PUBLISH_AUTH/],
    ['a host that takes no PUT', 405, /dav_methods PUT/],
    ['a host that makes no folders', 409, /create_full_put_path on/],
    ['a host that takes no large file', 413, /client_max_body_size/],
  ])('says what to do about %s, without the secret', async (_, status, message) => {
    const data = tinyDataDir();
    writeLoggedRelease(data);
    const site = await putSite();
    site.status = status;
    const error = await upload(data, to(site.url)).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(UploadError);
    expect(String(error)).toMatch(message);
    expect(String(error)).not.toContain('0123456789abcdef');
  });

  it('asks again where the host is busy, and gives up where nobody listens', async () => {
    const data = tinyDataDir();
    writeLoggedRelease(data);
    const site = await putSite();
    site.busy = 3;
    expect((await upload(data, to(site.url))).isHidden).toBe(false);
    await closePutSites();
    await expect(upload(data, to(site.url))).rejects.toThrow(
      /^Cannot reach "http.*ECONNREFUSED.*check the address and run this again/s,
    );
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['other bytes', (bytes) => Buffer.from(bytes.map((byte, at) => (at === 9 ? byte ^ 1 : byte)))],
    ['a part', (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['more', (bytes) => Buffer.concat([bytes, bytes])],
  ])('I24: does not switch to a release of which the host keeps %s', async (_, keeps) => {
    const data = tinyDataDir();
    writeLoggedRelease(data);
    const site = await putSite();
    await upload(data, to(site.url));
    const before = readFileSync(join(site.folder, 'current/release.json'));
    writeLoggedRelease(data, { sequence: 2, files: CHANGED });
    site.keeps = (path, bytes) => (path.startsWith('files/') ? keeps(bytes) : bytes);
    await expect(upload(data, to(site.url))).rejects.toThrow(UploadError);
    expect(readFileSync(join(site.folder, 'current/release.json'))).toEqual(before);
  });

  it('I24: says so where the host keeps a damaged file damaged', async () => {
    const data = tinyDataDir();
    const stored = tinyFilePath(writeLoggedRelease(data), RECORD).slice(data.length + 1);
    const site = await putSite();
    await upload(data, to(site.url));
    writeFileSync(join(site.folder, stored), 'x');
    site.keeps = (path, bytes) => (path === stored ? Buffer.from('y') : bytes);
    await expect(upload(data, to(site.url))).rejects.toThrow(
      `"${stored}" was written, but read back other bytes are there; nothing was switched`,
    );
    site.keeps = (_, bytes) => bytes;
    expect((await upload(data, to(site.url))).repaired).toBe(1);
    site.asked.length = 0;
    expect((await upload(data, to(site.url))).repaired).toBe(0);
    expect(site.asked).toEqual([]);
  });

  it('does not take back what somebody else published meanwhile', async () => {
    const data = tinyDataDir();
    writeLoggedRelease(data);
    const site = await putSite();
    await upload(data, to(site.url));
    const other = tinyDataDir();
    const newer = readFileSync(join(writeLoggedRelease(other, { sequence: 7 }), 'release.json'));
    writeLoggedRelease(data, { sequence: 2, files: CHANGED });
    site.keeps = (path, bytes) => {
      if (path.startsWith('releases/')) {
        writeFileSync(join(site.folder, 'current/release.json'), newer);
      }
      return bytes;
    };
    await expect(upload(data, to(site.url))).rejects.toThrow(/somebody else has published there/);
    expect(readFileSync(join(site.folder, 'current/release.json'))).toEqual(newer);
  });
});

describe('signalpress publish with settings that make no sense', () => {
  it.each<[string[], Record<string, string>, RegExp]>([
    [[], {}, /pass either --to or --command/],
    [['--to', 'a', '--command', 'b'], {}, /pass either --to or --command/],
    [['--command', 'cp {file} x/{path}'], {}, /--command needs --at/],
    [['--command', 'cp {file} x', '--at', 'http://127.0.0.1:9'], {}, /it has no \{path\}/],
    [['--to', 'ftp://a.example/b'], {}, /neither a folder nor an http\(s\) URL/],
    [['--to', 'http://a.example/b'], {}, /pass --allow-http/],
    [['--to', 'https://u:secret@a.example/b'], {}, /put a header into SIGNALPRESS_PUBLISH_AUTH/],
    [['--to', 'https://a.example/b?sig=secret'], {}, /put a header into SIGNALPRESS_PUBLISH_AUTH/],
    [['--to', 'https://a.example/b'], { SIGNALPRESS_PUBLISH_AUTH: 'secret' }, /not one header/],
  ])('I47: refuses %j with one message and no secret', async (args, env, message) => {
    const data = tinyDataDir();
    writeLoggedRelease(data);
    const output: string[] = [];
    const print = (text: string) => void output.push(text);
    const program = new Command();
    const screen = { isTTY: false, write: print };
    definePublish(program.command('publish'), {
      env: (name) => env[name],
      print,
      screen,
      now: () => 0,
    });
    const words = ['publish', '--data', data, ...args];
    const failure = await program.parseAsync(words, { from: 'user' }).then(String, errorText);
    expect(failure).toMatch(message);
    expect(failure).not.toMatch(/secret|\n {4}at /);
    expect(output).toEqual([]);
  });
});

describe('signalpress publish', () => {
  const run = (args: readonly string[]) =>
    spawnSync(process.execPath, [CLI, 'publish', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '' },
    });

  it('is one command, and says what it did', () => {
    const [data, to] = [tinyDataDir(), folder()];
    writeLoggedRelease(data);
    const first = run(['--data', data, '--to', to]);
    expect([first.status, first.stderr]).toEqual([0, '']);
    expect(first.stdout).toMatch(
      /^Release 1 is published at ".*shop": \d+ files written, 0\.\d MB\n$/,
    );
    expect(run(['--data', data, '--to', to]).stdout).toMatch(/: 0 files written, 0\.0 MB\n$/);
    const spoiled = filesIn(to).filter((path) => path.startsWith('files/'));
    for (const path of spoiled) writeFileSync(join(to, path), 'x');
    const mended = run(['--data', data, '--to', to]);
    expect([mended.status, mended.stdout]).toEqual([
      0,
      expect.stringContaining(
        `\n  ${spoiled.length} files were damaged there, and are written again\n`,
      ),
    ]);
    expect(run(['--help']).stdout).toMatch(/rclone copyto \{file\} remote:shop\/\{path\}/);
  });

  it('lets another program copy the files', async () => {
    const data = tinyDataDir();
    writeLoggedRelease(data);
    const site = await putSite();
    // Not spawnSync, which would keep the site from answering.
    const command = `install -D {file} "${site.folder}/{path}"`;
    const args = [CLI, 'publish', '--data', data, '--command', command, '--at', site.url];
    const remove = ['--prune', '--remove-command', `rm ${site.folder}/{path}`];
    const child = spawn(process.execPath, [...args, ...remove]);
    let output = '';
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    expect([await new Promise((done) => child.on('close', done)), output]).toEqual([0, '']);
    expect(filesIn(site.folder)).toEqual(filesIn(data));
    const failing = spawn(process.execPath, [
      ...args.slice(0, 4),
      '--all',
      '--command',
      'false {file} {path}',
      '--at',
      site.url,
    ]);
    failing.stderr.on('data', (chunk) => {
      output += chunk;
    });
    expect(await new Promise((done) => failing.on('close', done))).toBe(1);
    expect(output).toMatch(/^Cannot write "publishing\.txt": "false" failed \(1\)/);
  });

  /** When the site takes the first file, one in the middle, one after it went on, the list, and the head last. */
  const MOMENTS: readonly ((path: string, count: number) => boolean)[] = [
    (_, count) => count === 1,
    (_, count) => count === 60,
    (_, count) => count === 40,
    (path) => path.startsWith('releases/'),
    (path) => path === 'current/release.json',
  ];

  it('goes on after kill -9, at any moment, and never shows half a release', async () => {
    const data = tinyDataDir();
    const files = new Map(tinyFiles());
    for (let at = 0; at < 150; at += 1)
      files.set(`free/more-${at}.json`, Buffer.from(`{"at":${at}}`));
    const root = writeLoggedRelease(data, { files });
    const site = await putSite();
    const publish = async (isMoment: (path: string, count: number) => boolean) => {
      const child = spawn(process.execPath, [CLI, 'publish', '--data', data, '--to', site.url]);
      let count = 0;
      site.keeps = (path, bytes) => {
        count += 1;
        if (isMoment(path, count)) child.kill('SIGKILL');
        return bytes;
      };
      return await new Promise((done) => child.on('close', (_, signal) => done(signal)));
    };
    for (const isMoment of MOMENTS) {
      expect(await publish(isMoment)).toBe('SIGKILL');
      const isShown = existsSync(join(site.folder, 'current/release.json'));
      // Whatever is shown is whole.
      if (isShown) expect(filesIn(site.folder)).toEqual(filesIn(data));
    }
    expect(await publish(() => false)).toBe(null);
    expect(readFileSync(join(site.folder, 'current/release.json'))).toEqual(
      readFileSync(join(root, 'release.json')),
    );
    expect(putsBelow(site.asked, 'files').length).toBeLessThan(
      filesIn(data).length + MOMENTS.length * 16,
    );
  });
});

describe('upload log', () => {
  const WITNESS = `\u2014 witness.example/w ${Buffer.alloc(76, 9).toString('base64')}\n`;

  let data: string;
  let snapshots: string;
  let to: string;
  beforeEach(async () => {
    const row = ndjson([reading('btc', { price_usd: 1 })]);
    snapshots = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': row });
    ({ data } = await compileFolder(snapshots, { data: join(makeFolder(), 'data') }));
    to = join(makeFolder(), 'published');
  });
  afterEach(closeSites);
  afterAll(removeFolders);

  async function upload(destination = folderDestination(to, data), all = false) {
    const notes = new UploadNotes(data, destination.name);
    try {
      const flags = { all, prune: false, progress: () => undefined };
      return await uploadRelease({ data, destination, notes, ...flags });
    } finally {
      notes.close();
      await destination.close();
    }
  }

  const noteIn = (folder: string): string => join(folder, CHECKPOINT_PATH);
  const hour = (at: number) => compileFolder(snapshots, { data, asOf: `2026-11-20T1${at}:00:00Z` });
  const logOf = (folder: string) =>
    filesIn(folder)
      .filter((path) => path.startsWith('log/'))
      .sort();

  describe('uploadRelease() of a release with its log', () => {
    it('brings the log along, and its checkpoint again once witnesses have signed it', async () => {
      expect((await upload()).files).toBeGreaterThan(10);
      expect(logOf(to)).toEqual(logOf(data));
      appendFileSync(noteIn(data), WITNESS);
      expect((await upload()).files).toBe(0);
      expect(readFileSync(noteIn(to))).toEqual(readFileSync(noteIn(data)));
      const [tile = ''] = logOf(to).filter((path) => path.includes('/tile/0/'));
      writeFileSync(join(to, tile), 'damaged');
      await upload();
      expect(readFileSync(join(to, tile))).toEqual(readFileSync(join(data, tile)));
    });

    it('writes the checkpoint after all else, and before the switch', async () => {
      await upload();
      await hour(3);
      const written: string[] = [];
      const inner = folderDestination(to, data);
      const destination: Destination = {
        ...inner,
        write: (path, file) => {
          written.push(path);
          return inner.write(path, file);
        },
        switchTo: (name, head) => {
          written.push('switch');
          return inner.switchTo(name, head);
        },
      };
      await upload(destination);
      const [log, rest] = [logOf(data), written.slice(-4)];
      expect(rest.map((path) => path.replace(/releases\/[^/]+/, 'R'))).toEqual([
        'R/files.txt',
        'R/release.json',
        CHECKPOINT_PATH,
        'switch',
      ]);
      expect(written).toContain(log.find((path) => path.endsWith('/000.p/2')));
      expect(readFileSync(noteIn(to))).toEqual(readFileSync(noteIn(data)));
    });

    it('I62: never writes a checkpoint over a longer one, nor over that of another history', async () => {
      const older = join(makeFolder(), 'older');
      cpSync(data, older, { recursive: true, verbatimSymlinks: true });
      await hour(3);
      await upload();
      const newest = readFileSync(noteIn(to));
      const own = { data, snapshots };
      data = older;
      await expect(upload()).rejects.toThrow('release 2 is there');
      await expect(upload(undefined, true)).rejects.toThrow('it has 2 entries there');
      for (const at of [4, 5]) await hour(at);
      for (const all of [false, true]) {
        await expect(upload(undefined, all)).rejects.toThrow('another history of it is there');
      }
      expect(readFileSync(noteIn(to))).toEqual(newest);
      ({ data, snapshots } = own);
      expect((await upload()).files).toBe(0);
    });

    it('publishes nothing without its log', async () => {
      rmSync(noteIn(data));
      await expect(upload()).rejects.toThrow('the current release is not in it');
      expect(existsSync(to) ? filesIn(to) : []).toEqual([]);
    });
  });
});

/** A host on a loopback port that keeps what is put there. */
interface PutSite {
  readonly url: string;
  readonly folder: string;
  /** Method and path of what was done, in order. */
  readonly asked: string[];
  readonly authorizations: Set<string>;
  /** This many PUTs more succeed, then all fail; null for no end. */
  failAfter: number | null;
  /** Answer to every PUT in place of keeping it. */
  status: number | null;
  /** This many answers more are "busy". */
  busy: number;
  slowMs: number;
  /** What is kept of a file. */
  keeps: (path: string, bytes: Buffer) => Buffer;
}

const closers = new Set<() => Promise<void>>();

/** For `afterEach`. */
async function closePutSites(): Promise<void> {
  for (const close of closers) await close();
  closers.clear();
}

async function putSite(): Promise<PutSite> {
  const site = {
    folder: mkdtempSync(join(tmpdir(), 'put-')),
    asked: [] as string[],
    authorizations: new Set<string>(),
    failAfter: null as number | null,
    status: null as number | null,
    busy: 0,
    slowMs: 0,
    keeps: (_: string, bytes: Buffer) => bytes,
  };
  const server = createServer((request, response) => void answer(site, request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closers.add(
    () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return Object.assign(site, { url: `http://127.0.0.1:${port}` });
}

async function answer(
  site: Omit<PutSite, 'url'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').slice(1);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (site.busy > 0) {
    site.busy -= 1;
    response.writeHead(503).end();
    return;
  }
  site.authorizations.add(request.headers.authorization ?? '');
  await sleep(site.slowMs);
  if (request.method === 'GET') give(join(site.folder, path), response);
  else if (request.method === 'DELETE') {
    rmSync(join(site.folder, path), { force: true });
    response.writeHead(204).end();
  } else put(site, path, { bytes: Buffer.concat(chunks), response });
}

function give(full: string, response: ServerResponse): void {
  try {
    response.end(readFileSync(full));
  } catch {
    response.writeHead(404).end();
  }
}

function put(
  site: Omit<PutSite, 'url'>,
  path: string,
  { bytes, response }: { readonly bytes: Buffer; readonly response: ServerResponse },
): void {
  if (site.status !== null) {
    response.writeHead(site.status).end();
    return;
  }
  if (site.failAfter !== null) {
    site.failAfter -= 1;
    if (site.failAfter < 0) {
      response.writeHead(507).end();
      return;
    }
  }
  const full = join(site.folder, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, site.keeps(path, bytes));
  site.asked.push(`PUT ${path}`);
  response.writeHead(201).end();
}
