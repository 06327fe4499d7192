import { answer } from '../../../gatekeeper/answers/answers.ts';
import { question } from '../../gatekeeper/tiny-service.ts';
import { SOLD_TARGETS } from '../../sold-shop.ts';
import type { Handed } from '../forgeries/forgery.ts';
import type { ReadingShop } from '../forgeries/reading-shop.ts';

/** The series of a shop as signed tables, also with the hash core of each row. */
export async function signedTables({ service }: Pick<ReadingShop, 'service'>): Promise<Handed[]> {
  const tables: Handed[] = [];
  const [series] = SOLD_TARGETS.filter((one) => one.startsWith('/gauge/history-series'));
  if (series === undefined) throw new Error('Cannot find a series among the operations');
  for (const more of ['', '&verifiable=1']) {
    const target = `${series}&format=csv-signed${more}`;
    const answered = await answer(question(target), service);
    if (answered.kind !== 'content') throw new Error(`Cannot sell "${target}": no table`);
    tables.push({ target, text: answered.content.body.toString('utf8') });
  }
  return tables;
}
