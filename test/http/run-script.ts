import { expect } from 'vitest';
import { NETWORKS } from '../../gatekeeper/money/networks.ts';
import { payer } from '../gatekeeper/payer.ts';

/** The answer that the next checks speak of. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const REQUEST = /^(PAY )?([A-Z]+) (\S+)((?: \[[^\]]+\])*)$/;
const CHECK = /^(code|header|body|json)(?: (\S+))? (==|~|contains|lacks|absent)(?: (.*))?$/;

/** Runs a script of requests and checks; a line is a comment, a request or a check of the last answer. */
export async function runScript(script: string, url: string): Promise<number> {
  let answer: Answer | null = null;
  let checks = 0;
  for (const [index, line] of script.split('\n').entries()) {
    const at = `line ${index + 1}: ${line}`;
    if (line === '' || line.startsWith('#')) continue;
    const request = REQUEST.exec(line);
    if (request !== null) {
      answer = await send(request, url);
      continue;
    }
    const check = CHECK.exec(line);
    if (check === null || answer === null) throw new Error(`Cannot read ${at}`);
    verify(check, answer, at);
    checks += 1;
  }
  return checks;
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
  return { status: response.status, headers: response.headers, text: await response.text() };
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

function subject(what: string, name: string, { status, headers, text }: Answer): string | null {
  if (what === 'code') return String(status);
  if (what === 'header') return headers.get(name);
  if (what === 'body') return text;
  let value: unknown = JSON.parse(text);
  for (const key of name.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
  return value === undefined ? null : JSON.stringify(value);
}
