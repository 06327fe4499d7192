import { join } from 'node:path';
import { BUILTIN } from '../compiler/contract/catalog/builtin.ts';
import { isoTime } from '../compiler/contract/iso-time.ts';
import { answer } from '../gatekeeper/answers/answers.ts';
import { OPERATIONS } from './conformance-table.ts';
import { compiledService } from './gatekeeper/compiled-service.ts';
import { question } from './gatekeeper/tiny-service.ts';
import { tinyTokens } from './gatekeeper/tiny-tokens.ts';
import { SAMPLE_HOUR, writeKeyedSample } from './sample-folder.ts';
import { sharedFolder } from './shared-folder.ts';
import { compileFolder, readJson } from './snapshot-folder.ts';

/** Half an hour after the sample was published. */
const NOW_MS = Date.parse(SAMPLE_HOUR) + 1_800_000;

/** A shop that sells every operation of the table, asked without a server and without money; compiled once a run. */
export interface SoldShop {
  readonly data: string;
  readonly did: string;
  readonly now: string;
  readonly service: Awaited<ReturnType<typeof compiledService>>;
  /** The bytes that a paid request of this target delivers; throws where it would not be charged. */
  ask(target: string): Promise<Buffer>;
}

export async function soldShop(): Promise<SoldShop> {
  const made = await sharedFolder('sold-shop', async (own) => {
    const [snapshots, data] = [join(own, 'snapshots'), join(own, 'data')];
    writeKeyedSample(snapshots);
    await compileFolder(snapshots, { data, asOf: SAMPLE_HOUR });
  });
  const data = join(made, 'data');
  const { issuer_did: did } = readJson(join(data, 'current'), 'release.json');
  const now = isoTime(NOW_MS);
  const plain = await compiledService(data, now);
  const operator = { ...plain.operator, tokens: tinyTokens({ clock: () => NOW_MS }) };
  const service = { ...plain, operator };
  return {
    data,
    did,
    now,
    service,
    async ask(target) {
      const answered = await answer(question(target), service);
      if (answered.kind !== 'content') throw new Error(`Cannot sell "${target}": no answer`);
      return answered.content.body;
    },
  };
}

/** A request of each of the 64 paid operations that has an answer in such a shop. */
export const SOLD_TARGETS: readonly string[] = OPERATIONS.filter(({ price }) => price !== null).map(
  ({ path, valid }) => (valid === '' ? path : `${path}?${valid}`),
);

/** The other forms of the paid operations: thin, or with the pre-image of each row, which a series gets at the request. */
export const VARIANT_TARGETS: readonly string[] = SOLD_TARGETS.flatMap((target) => {
  const [path] = target.split('?', 1);
  const row = BUILTIN.operations.find((one) => one.path === path);
  return Object.entries(row?.params ?? {}).flatMap(([name, { variant }]) =>
    Object.keys(variant ?? (name === 'verifiable' ? { '1': name } : {})).map(
      (value) => `${target}${target.includes('?') ? '&' : '?'}${name}=${value}`,
    ),
  );
});
