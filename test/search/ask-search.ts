import { answer } from '../../gatekeeper/heart/answers/answers.ts';
import type { Service } from '../../gatekeeper/heart/answers/service.ts';
import { ROOMS } from '../../gatekeeper/rooms.ts';
import { jsonOf, question } from '../gatekeeper/tiny-service.ts';

export interface SearchResult {
  readonly id: string;
  readonly title: string;
  readonly answers: string;
  readonly price_usd: string;
  readonly request: string;
  readonly open: readonly string[];
}

export interface SearchBody {
  readonly q: string;
  readonly results: readonly SearchResult[];
  readonly note?: string;
}

/** Asks a service in words. */
export interface AskSearch {
  (q: string, limit?: string): Promise<SearchBody>;
  /** The same with the units that it costs. */
  measured(q: string): Promise<{ readonly body: SearchBody; readonly units: number }>;
}

export function askSearch(service: Service): AskSearch {
  const asked = async (q: string, limit?: string) => {
    let units = 0;
    const spend = (more: number): void => {
      units += more;
    };
    const values = { q, ...(limit === undefined ? {} : { limit }) };
    const made = question('/gauge/search?q=x');
    const route = { ...made.route, values };
    const answered = await answer({ ...made, route, spend }, { ...service, rooms: ROOMS });
    return { body: jsonOf(answered) as unknown as SearchBody, units };
  };
  const ask = async (q: string, limit?: string): Promise<SearchBody> =>
    (await asked(q, limit)).body;
  return Object.assign(ask, { measured: (q: string) => asked(q) });
}
