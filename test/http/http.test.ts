import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../../gatekeeper/settle/networks.ts';
import { loggedRelease } from '../gatekeeper/logged-service.ts';
import { payer } from '../gatekeeper/payer.ts';
import { rawAnswers } from '../gatekeeper/raw-http.ts';
import { type TinyGate, tinyGate } from '../gatekeeper/tiny-gate.ts';

/** The answer that the next checks speak of. */
interface Answer {
  /** Of all answers, where a line sent bytes. */
  readonly statuses: readonly number[];
  readonly headers: Headers;
  readonly text: string;
}

const SEND = /^SEND (.+)$/;
const REQUEST = /^(PAY )?([A-Z]+) (\S+)((?: \[[^\]]+\])*)$/;
const CHECK = /^(codes?|header|body|json)(?: (\S+))? (==|~|contains|lacks|absent)(?: (.*))?$/;

/** Runs a script of requests and checks; a line is a comment, a request or a check of the last answer. */
async function runScript(script: string, url: string): Promise<number> {
  let answer: Answer | null = null;
  let checks = 0;
  for (const [index, line] of script.split('\n').entries()) {
    const at = `line ${index + 1}: ${line}`;
    if (line === '' || line.startsWith('#')) continue;
    const asked = await exchanged(line, url);
    if (asked !== null) {
      answer = asked;
      continue;
    }
    const check = CHECK.exec(line);
    if (check === null || answer === null) throw new Error(`Cannot read ${at}`);
    verify(check, answer, at);
    checks += 1;
  }
  return checks;
}

/** What a request is answered; null for a line that is none. */
async function exchanged(line: string, url: string): Promise<Answer | null> {
  const bytes = SEND.exec(line);
  if (bytes !== null) return sendBytes(bytes[1] ?? '', url);
  const request = REQUEST.exec(line);
  return request === null ? null : send(request, url);
}

/**
 * Sends bytes as they are, with the escapes of JSON and `\\xNN`. Every answer may be read from any page, and every 400
 * with a body says why.
 */
async function sendBytes(escaped: string, url: string): Promise<Answer> {
  const json = escaped.replace(/\\x(?=[0-9a-f]{2})/g, '\\u00').replaceAll('"', '\\"');
  const bytes: string = JSON.parse(`"${json}"`);
  const port = Number(new URL(url).port);
  const { text, statuses } = await rawAnswers(port, Buffer.from(bytes, 'latin1'), 1);
  expect(text, escaped).not.toMatch(/\n {4}at /);
  const open = text.match(/^access-control-allow-origin: \*\r$/gim) ?? [];
  expect(open, escaped).toHaveLength(statuses.length);
  if (statuses[0] === 400 && !bytes.startsWith('HEAD')) {
    expect(text, escaped).toMatch(/\r\n\r\n\{"error":"/);
  }
  return { statuses, headers: new Headers(), text };
}

/** `GET /path [name: value]`; `PAY` in front answers the challenge first. */
async function send(request: RegExpExecArray, url: string): Promise<Answer> {
  const [, pays, method = 'GET', path = '', lines = ''] = request;
  const headers = new Headers();
  for (const [, name = '', value = ''] of lines.matchAll(/\[([^:\]]+): ([^\]]*)\]/g)) {
    headers.set(name, value);
  }
  if (pays !== undefined) headers.set('x-payment', await payment(url + path));
  const response = await fetch(url + path, { method, headers });
  return { statuses: [response.status], headers: response.headers, text: await response.text() };
}

async function payment(url: string): Promise<string> {
  const body = (await (await fetch(url)).json()) as { accepts?: [never] };
  return payer(NETWORKS['base-sepolia']).header(body.accepts?.[0] ?? ({} as never));
}

function verify(check: RegExpExecArray, answer: Answer, at: string): void {
  const [, what = '', name = '', relation = '', want = ''] = check;
  const have = subject(what, name, answer);
  if (relation === 'absent') expect(have, at).toBeNull();
  else if (relation === 'contains') expect(have, at).toContain(want);
  else if (relation === 'lacks') expect(have, at).not.toContain(want);
  else if (relation === '~') expect(have, at).toMatch(new RegExp(want));
  else expect(have, at).toBe(want);
}

function subject(what: string, name: string, { statuses, headers, text }: Answer): string | null {
  if (what.startsWith('code')) return statuses.join(' ');
  if (what === 'header') return headers.get(name);
  if (what === 'body') return text;
  let value: unknown = JSON.parse(text);
  for (const key of name.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
  return value === undefined ? null : JSON.stringify(value);
}

const FOLDER = import.meta.dirname;

let gate: TinyGate;
beforeAll(async () => {
  gate = await tinyGate({ release: loggedRelease() });
});
afterAll(async () => {
  await gate.close();
});

describe('request scripts', () => {
  it.each(readdirSync(FOLDER).filter((name) => name.endsWith('.txt')))('%s', async (name) => {
    const checks = await runScript(readFileSync(join(FOLDER, name), 'utf8'), gate.url);
    expect(checks).toBeGreaterThan(5);
  });

  it('runScript() fails for a check that does not hold, and for a line that it cannot read', async () => {
    await expect(runScript('GET /gauge\ncode == 200', gate.url)).rejects.toThrow(/line 2/);
    await expect(runScript('GET /gauge\ncode 402', gate.url)).rejects.toThrow(/Cannot read line 2/);
  });

  it('I42: runScript() sends bytes as they are written, and counts their answers', async () => {
    const bytes = 'SEND GET /gauge/sample HTTP/1.1\\r\\nHost: gate\\r\\n\\r\\n';
    expect(await runScript(`${bytes}\ncodes == 200`, gate.url)).toBe(1);
    await expect(runScript(`${bytes}\ncodes == 400`, gate.url)).rejects.toThrow(/line 2/);
    await expect(runScript(`${bytes}\ncodes == 200 200`, gate.url)).rejects.toThrow(/line 2/);
  });
});
