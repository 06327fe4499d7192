import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { codeOf, defined } from '../format/errors.ts';
import {
  type Destination,
  folderDestination,
  POINTER_PATH,
  UploadError,
} from '../publish/upload/destination.ts';
import type { HttpFiles } from '../publish/upload/http-files.ts';
import {
  type Uploaded,
  UploadNotes,
  type UploadProgress,
  uploadRelease,
} from '../publish/upload/upload-release.ts';
import {
  type CommandSettings,
  dataFolder,
  header,
  type Screen,
} from '../system/command-settings.ts';

const CONNECTIONS = 8;

type PublishSettings = Pick<CommandSettings, 'env' | 'print' | 'screen' | 'now'>;

interface PublishFlags {
  data: string;
  to?: string;
  command?: string;
  at?: string;
  removeCommand?: string;
  allowHttp?: boolean;
  all?: boolean;
  prune?: boolean;
}

const HELP = `
Readers see the older release or the newer one, whole, at every moment: bodies are written first, and the head last.
Only what the destination does not list is written. A run that was killed goes on where it was.

SIGNALPRESS_PUBLISH_AUTH is one header ("Authorization: Bearer …") for what is written over HTTP, SIGNALPRESS_DATA_AUTH
one for what is read at --at. compiler/publish/upload/README.md shows nginx, S3 and rclone.`;

export function definePublish(command: Command, settings: PublishSettings): void {
  command
    .option('--data <folder>', 'folder of releases', dataFolder(settings))
    .option('--to <place>', 'a folder, or the URL of a host that takes PUT')
    .option('--command <line>', 'a command that copies {file} to {path}, in place of --to')
    .option('--at <url>', 'where readers find what is written (default: the URL of --to)')
    .option('--remove-command <line>', 'with --command and --prune: a command that removes {path}')
    .option('--allow-http', 'write over plain http to another machine')
    .option('--all', 'write every file, whatever the destination has')
    .option('--prune', 'remove files there that only releases list which are no longer kept here')
    .addHelpText('after', HELP)
    .action((flags: PublishFlags) => publish(flags, settings));
}

async function publish(flags: PublishFlags, settings: PublishSettings): Promise<void> {
  const destination = await destinationOf(flags, settings.env);
  try {
    const notes = new UploadNotes(flags.data, destination.name);
    try {
      const progress = uploadProgress(settings.screen, settings.now);
      const { data, all = false, prune = false } = flags;
      const uploaded = await uploadRelease({ data, destination, notes, all, prune, progress });
      settings.print(uploadedText(uploaded, destination.name));
    } finally {
      notes.close();
    }
  } finally {
    await destination.close();
  }
}

async function destinationOf(
  flags: PublishFlags,
  env: PublishSettings['env'],
): Promise<Destination> {
  const { to, command, at, removeCommand } = flags;
  if ((to === undefined) === (command === undefined)) {
    throw new UploadError('Cannot publish: pass either --to or --command');
  }
  const readAuth = () => header(env, 'SIGNALPRESS_DATA_AUTH');
  if (command !== undefined) {
    if (at === undefined) {
      throw new UploadError('Cannot publish: --command needs --at, the URL where readers find it');
    }
    const reads = await filesAt(at, { auth: readAuth(), flags });
    return commandDestination(command, removeCommand ?? null, reads);
  }
  const place = defined(to, '--to');
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(place);
  const ownAuth = readAuth();
  if (!isUrl) return folderDestination(place, flags.data);
  const auth = header(env, 'SIGNALPRESS_PUBLISH_AUTH');
  const writes = await filesAt(place, { auth, flags });
  const reads = await filesAt(at ?? place, { auth: at === undefined ? auth : ownAuth, flags });
  return httpDestination(place, writes, reads);
}

const LOOPBACK = /^(localhost|127(\.[0-9]{1,3}){3}|\[::1\])$/;

async function filesAt(
  text: string,
  { auth, flags }: { auth: string | null; flags: PublishFlags },
): Promise<HttpFiles> {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['https:', 'http:'].includes(url.protocol)) {
    throw new UploadError(
      `Cannot publish to "${text.slice(0, 80)}": neither a folder nor an http(s) URL`,
    );
  }
  if (url.username + url.password + url.search + url.hash !== '') {
    throw new UploadError(
      `Cannot publish to "${url.origin}": its user, password or query would be shown; put a header into SIGNALPRESS_PUBLISH_AUTH`,
    );
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname) && flags.allowHttp !== true) {
    throw new UploadError(
      `Cannot publish to "${url.origin}": not https, so anyone on the way reads the header and can change what is written; pass --allow-http to accept that`,
    );
  }
  // undici costs each start of the program 70 ms, and a compile uploads nothing.
  const { httpFiles } = await import('../publish/upload/http-files.ts');
  return httpFiles({ url, auth, connections: CONNECTIONS });
}

function uploadedText(uploaded: Uploaded, name: string): string {
  const { release, files, bytes, resumed, repaired, pruned, isHidden } = uploaded;
  const counted = (count: number, what: string): string[] =>
    count === 0 ? [] : [`  ${count.toLocaleString('en-US')} files were ${what}`];
  const size = `${files.toLocaleString('en-US')} files written, ${(bytes / 1e6).toFixed(1)} MB`;
  const hidden =
    'Warning: readers still get an older head, probably from a cache; nothing was pruned. Let "current/release.json" be kept for seconds only';
  return [
    `Release ${release.sequence} is published at "${name}": ${size}`,
    ...counted(resumed, 'there from an earlier run'),
    ...counted(repaired, 'damaged there, and are written again'),
    ...(pruned.length === 0 ? [] : [`  removed ${pruned.join(', ')}`]),
    ...(isHidden ? [hidden] : []),
  ].join('\n');
}

/** Where there is no terminal: a line after so long at the earliest. */
const PAUSE_MS = 5_000;

/** How far an upload is: a moving line on a terminal, a line now and then elsewhere. `clock` is in milliseconds. */
function uploadProgress(screen: Screen, clock: () => number) {
  let written = clock();
  return ({ done, total }: UploadProgress): void => {
    const line = `publishing ${Math.floor((100 * done) / total)} %  ${done} of ${total} files`;
    if (screen.isTTY) {
      screen.write(`\r\u001b[2K${done === total ? '' : line}`);
      return;
    }
    if (clock() - written < PAUSE_MS) return;
    written = clock();
    screen.write(`${line}\n`);
  };
}

/** A host that takes PUT: nginx with its dav module, WebDAV, or a store behind a gateway. */
export function httpDestination(name: string, writes: HttpFiles, reads: HttpFiles): Destination {
  return {
    name,
    parallel: CONNECTIONS,
    read: (path, max) => reads.get(path, max),
    write: (path, { bytes }) => writes.put(path, bytes),
    switchTo: (_, head) => writes.put(POINTER_PATH, head.bytes),
    remove: (path) => writes.remove(path),
    async close() {
      await writes.close();
      await reads.close();
    },
  };
}

const PARALLEL = 4;
const COMMAND_MS_MAX = 600_000;
const OUTPUT_BYTES_MAX = 1_048_576;
/** Of what a command said that failed. */
const OUTPUT_CHARS_MAX = 500;

/** `rclone copyto {file} remote:shop/{path}` copies a file, `rclone deletefile remote:shop/{path}` removes it. */
function commandDestination(copy: string, remove: string | null, reads: HttpFiles): Destination {
  const [copying, removing] = [parsed(copy, ['file', 'path']), remove && parsed(remove, ['path'])];
  return {
    name: copy,
    parallel: PARALLEL,
    read: (path, max) => reads.get(path, max),
    write: (path, { place }) => run(copying, { path, file: place }),
    switchTo: (_, { place }) => run(copying, { path: POINTER_PATH, file: place }),
    remove: removing === null || removing === '' ? null : (path) => run(removing, { path }),
    close: () => reads.close(),
  };
}

/** Words of a command line; quotes hold a word together, and no shell is asked. */
function parsed(command: string, needed: readonly string[]): string[] {
  const found = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  const words = found.map(([, double, single, plain]) => double ?? single ?? plain ?? '');
  for (const name of needed) {
    if (words.slice(1).some((word) => word.includes(`{${name}}`))) continue;
    throw new UploadError(
      `Cannot use command "${command}": it has no {${name}}; write for example "rclone copyto {file} remote:shop/{path}"`,
    );
  }
  return words;
}

async function run(
  words: readonly string[],
  values: Readonly<Record<string, string>>,
): Promise<void> {
  const [program = '', ...args] = words.map((word) =>
    word.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all),
  );
  const limits = { timeout: COMMAND_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX };
  try {
    await promisify(execFile)(program, args, limits);
  } catch (cause) {
    const output = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : '';
    const said = output === '' ? '' : `: ${output.slice(-OUTPUT_CHARS_MAX)}`;
    throw new UploadError(
      `Cannot write "${values.path}": "${program}" failed (${codeOf(cause) ?? 'unknown'})${said}; correct the command and run this again`,
      { cause },
    );
  }
}
