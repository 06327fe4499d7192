import { afterAll, describe, expect, it } from 'vitest';
import { chartUrl, recordUrl } from '../../../compiler/catalog/thing-urls.ts';
import { spokenOf } from '../../../compiler/catalog/units.ts';
import { chart, chartFile } from '../../../gatekeeper/rooms/atlas/chart.ts';
import { builtinEntry } from '../../builtin-rows.ts';
import { sampleGate } from '../../gate.ts';
import {
  compileFolder,
  ndjson,
  reading,
  removeFolders,
  writeSnapshots,
} from '../../snapshot-folder.ts';

afterAll(removeFolders);

const AQI = spokenOf(builtinEntry('airquality.aqi'));
const SPOT = spokenOf(builtinEntry('crypto.spot'));
const days = (metric: string, ...values: readonly (number | null)[]) =>
  values.map((value, at) => ({
    observed_at: `2026-11-1${at}T10:00:00Z`,
    current: { [metric]: value },
  }));
const drawn = (...given: Parameters<typeof chart>): string => `${chart(...given)}`;
const numbersOf = (text: string, style: string): string[] =>
  [...text.matchAll(new RegExp(`<text class="${style}"[^>]*>([^<]*)</text>`, 'g'))].map(
    ([, shown]) => shown ?? '',
  );

describe('the chart of a reading', () => {
  it('names its axes, its unit and the thresholds of the scale with their numbers', () => {
    const text = drawn(AQI, days('aqi_index', 40, 60, 90));
    expect(text).toContain('>10 Nov<');
    expect(text).toContain('>moderate, from 51<');
    expect(text).toContain('>groups, from 101<');
    expect(text).not.toContain('from 301');
    expect(text).toContain('>US EPA<');
    expect(drawn(SPOT, days('price_usd', 40, 60))).toContain('in USD');
  });

  it('leaves a gap where a value is missing, and joins neighbours', () => {
    const path = (text: string) => /class="line" d="([^"]*)"/.exec(text)?.[1] ?? '';
    expect(path(drawn(SPOT, days('price_usd', 1, 2, 3))).match(/M/g)).toHaveLength(1);
    const gap = drawn(SPOT, days('price_usd', 1, 2, null, 3, 4));
    expect(path(gap).match(/M/g)).toHaveLength(2);
    expect(gap.match(/class="dot"/g)).toHaveLength(4);
    expect(gap).toContain('no value');
  });

  it('shows nothing below zero of what is never negative, and does where it is', () => {
    const ticks = (text: string) =>
      numbersOf(text, 'tick end').filter((one) => /^-?[\d.,]+$/.test(one));
    expect(ticks(drawn(SPOT, days('price_usd', 0, 1, 9))).some((one) => one.startsWith('-'))).toBe(
      false,
    );
    expect(ticks(drawn(SPOT, days('price_usd', -5, 1, 9))).some((one) => one.startsWith('-'))).toBe(
      true,
    );
  });

  it('is on a log scale, and says so, where values are a hundred times as large as others', () => {
    expect(drawn(SPOT, days('price_usd', 1, 50, 5000))).toContain('log scale');
    expect(drawn(SPOT, days('price_usd', 1, 50, 99))).not.toContain('log scale');
  });

  it('is none for fewer than two numbers', () => {
    expect(chart(SPOT, days('price_usd', 1, null))).toBeNull();
    expect(chart(SPOT, [])).toBeNull();
  });

  it('is whole as a file, with styles of its own', () => {
    const drawing = chart(SPOT, days('price_usd', 1, 2));
    const file = drawing === null ? '' : chartFile(drawing);
    expect(file).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[^>]*><style>/);
  });
});

/** Names that would be obeyed instead of shown. */
const HOSTILE = [
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '</script><script>alert(1)</script>',
  '{{constructor}}',
];

describe('pages that are kept', () => {
  it('are told apart where a name holds what parts an address', async () => {
    const names = ['coin', 'coin/chart.svg', 'coin/readings.csv'];
    const rows = names.flatMap((name) =>
      [1, 2].map((price_usd) =>
        reading(name, { price_usd }, { observed_at: `2026-11-20T0${price_usd}:00:00Z` }),
      ),
    );
    const batch = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': ndjson(rows) });
    const gate = await sampleGate((await compileFolder(batch)).data);
    try {
      const kinds = {
        'text/html': names.map((name) => recordUrl('crypto.spot', name)),
        'image/svg+xml': [chartUrl('crypto.spot', 'coin')],
      };
      for (const _ of ['made', 'kept']) {
        for (const [type, paths] of Object.entries(kinds)) {
          for (const path of paths) {
            const answer = await fetch(gate.url + path);
            const [said] = (answer.headers.get('content-type') ?? '').split(';');
            expect([path, answer.status, said]).toEqual([path, 200, type]);
          }
        }
      }
    } finally {
      await gate.close();
    }
  });
});

describe('the pages of things', () => {
  it('answer GET and HEAD, and refuse every other method with what is allowed', async () => {
    const rows = [reading('coin', { price_usd: 1 })];
    const batch = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': ndjson(rows) });
    const gate = await sampleGate((await compileFolder(batch)).data);
    const ask = async (path: string, method: string) => {
      const { status, headers } = await fetch(gate.url + path, { method });
      return [path, status, headers.get('allow')];
    };
    try {
      for (const path of [recordUrl('crypto.spot', 'coin'), '/place/coin', '/log/']) {
        expect(await ask(path, 'HEAD')).toEqual([path, 200, null]);
        for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
          expect(await ask(path, method)).toEqual([path, 405, 'GET, HEAD, OPTIONS']);
        }
      }
      // Another spelling of an address is no address.
      expect(await ask('/place/%63oin', 'POST')).toEqual(['/place/%63oin', 404, null]);
    } finally {
      await gate.close();
    }
  });
});

describe('the pages of hostile names', () => {
  it('I69: show them as text, wherever they stand', async () => {
    const rows = HOSTILE.flatMap((name, at) => [
      reading(`coin-${at}`, { price_usd: 1 + at }, { entity_name: name }),
    ]);
    const batch = writeSnapshots({ '2026-11-20/crypto.spot.ndjson': ndjson(rows) });
    const gate = await sampleGate((await compileFolder(batch)).data);
    try {
      for (const at of HOSTILE.keys()) {
        const entity = `coin-${at}`;
        for (const path of [recordUrl('crypto.spot', entity), `/place/${entity}`]) {
          const answer = await fetch(gate.url + path);
          const text = await answer.text();
          expect([path, answer.status]).toEqual([path, 200]);
          const own = text.replaceAll(
            /<script type="(?:module" src="\/site\/[^"]*"|application\/ld\+json")>/g,
            '',
          );
          expect(own).not.toMatch(/<script|<img/);
          const block = /ld\+json">(.*?)<\/script>/.exec(text)?.[1] ?? '';
          expect(JSON.parse(block)).toMatchObject({ spatialCoverage: HOSTILE[at] });
        }
      }
    } finally {
      await gate.close();
    }
  });
});
