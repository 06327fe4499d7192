import { afterEach, describe, expect, it } from 'vitest';
import { addressCheck } from '../../../gatekeeper/doctor/address-check.ts';
import { ask } from '../../../gatekeeper/doctor/ask.ts';
import { tinyGate } from '../tiny-gate.ts';
import { TINY_BASE_URL } from '../tiny-release.ts';
import { answer, examined, freePort, proxyTo, reported, stub } from './examined.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

/** What is found behind a proxy that passes requests on, with these changes. */
async function behind(change: Parameters<typeof proxyTo>[1] = {}, config = {}) {
  const port = await freePort();
  return addressCheck(examined({ config: { port, ...config }, ask: proxyTo(port, change) }));
}

const FORWARDED = { 'x-forwarded-for': '203.0.113.9' };

describe('addressCheck()', () => {
  it('sees what arrives from the public address, before there is a gatekeeper', async () => {
    const findings = await behind({ headers: FORWARDED }, { trustedProxy: '127.0.0.1' });
    expect(reported(findings).slice(1)).toEqual([
      `ok: ${TINY_BASE_URL} leads here`,
      'ok: the proxy at 127.0.0.1 is trusted and names its clients',
    ]);
  });

  it('leaves the port free again', async () => {
    const port = await freePort();
    const free = () => addressCheck(examined({ config: { port }, ask: proxyTo(port) }));
    for (const findings of [await free(), await free()]) {
      expect(reported(findings)[0]).toBe(`ok: 127.0.0.1:${port} is free`);
    }
  });

  it.each([
    [{ headers: { host: 'inside:4021' } }, /failed: Host arrives as "inside:4021"/],
    [{ lost: ['x-payment'] }, /failed: lost on the way: x-payment$/m],
    [{ lost: ['payment-signature', 'x-receipt'] }, /lost on the way: payment-signature, x-receipt/],
    [{ headers: { authorization: 'Basic x' } }, /failed: lost on the way: authorization/],
    [{ path: '/healthz' }, /failed: the path or the query is changed on the way/],
    [
      { lost: ['payment-identifier', 'sign-in-with-x'] },
      /lost on the way: payment-identifier, sign/,
    ],
    [
      { headers: FORWARDED },
      /warning: a proxy at 127.0.0.1 names its clients, but is not trusted: .*no buyer is known by its address/,
    ],
    [{}, /warning: a proxy at 127.0.0.1 names no client: .*no buyer is known by its address/],
    [{ headers: { via: '1.1 p' } }, /warning: a proxy at 127.0.0.1 names no client/],
  ])('names what a proxy does wrong: %j', async (change, expected) => {
    expect(reported(await behind(change)).join('\n')).toMatch(expected);
  });

  it('warns of a trusted proxy that names no client, and of a public address without TLS', async () => {
    const silent = await behind({}, { trustedProxy: '127.0.0.1', baseUrl: 'http://shop.example' });
    expect(reported(silent)).toContain(
      'warning: the trusted proxy at 127.0.0.1 names no client: they all share one rate limit, and no buyer is known by its address',
    );
    expect(reported(silent).join('\n')).toMatch(/warning: http:\/\/shop.example is not https/);
  });

  it('fails where the address leads elsewhere or nowhere', async () => {
    const elsewhere = { ask: async () => answer(502) };
    expect(reported(await addressCheck(examined(elsewhere)))[1]).toBe(
      `failed: ${TINY_BASE_URL} answers with status 502, and not from here`,
    );
    expect(reported(await addressCheck(examined()))[1]).toBe(
      `failed: ${TINY_BASE_URL} does not answer from here: ENOTFOUND`,
    );
  });

  it('asks nobody about an address that is not public', async () => {
    const asked: string[] = [];
    const config = { baseUrl: 'http://127.0.0.1:4021' };
    const noted = async (url: string) => {
      asked.push(url);
      return answer(200);
    };
    expect(reported(await addressCheck(examined({ config, ask: noted })))[1]).toBe(
      'skipped: http://127.0.0.1:4021 is not public: only this machine reaches it',
    );
    expect(asked).toEqual([]);
  });

  it('knows a gatekeeper that runs already from another process', async () => {
    const gate = await tinyGate();
    open.push(gate);
    const passed = (url: string) => ask(url.replace(TINY_BASE_URL, gate.url));
    const running = await addressCheck(examined({ config: { port: gate.port }, ask: passed }));
    expect(reported(running)).toEqual([
      `ok: a gatekeeper runs on 127.0.0.1:${gate.port} and serves release 1`,
      `ok: ${TINY_BASE_URL} answers with release 1`,
    ]);
    const other = await stub((_, response) => response.end('{}'));
    open.push(other);
    const taken = await addressCheck(examined({ config: { port: other.port }, ask }));
    expect(reported(taken)[0]).toBe(`failed: 127.0.0.1:${other.port} is taken by another process`);
  });

  it('fails for an address that this machine does not have', async () => {
    const findings = await addressCheck(examined({ config: { host: '192.0.2.1' } }));
    expect(reported(findings)[0]).toBe('failed: cannot listen on 192.0.2.1:0: EADDRNOTAVAIL');
  });
});
