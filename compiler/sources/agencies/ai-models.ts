import { z } from 'zod';
import { originOf } from '../kit/entries.ts';
import { dayTime } from '../kit/local-time.ts';
import { type Imported, type Payload, parsePayload, shaped } from '../kit/payload.ts';
import { ReadingList, statedReading } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';
import { stateReading, yearReading } from '../kit/subjects.ts';

// Models and their announced ends, as LiteLLM collects them from the pages of providers: the file `sample_spec` of
// https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json describes its members.

/** The description of the members, which stands among the models. */
const DESCRIPTION = 'sample_spec';
const ORIGIN = originOf(
  'LiteLLM list of models',
  'https://docs.litellm.ai/docs/provider_registration/add_model_pricing',
  {
    role: 'aggregator',
    independent: false,
    tier: 'T2-aggregator',
    status: 'as collected by LiteLLM from the pages of providers',
  },
);
const SCOPE =
  'deprecation date of a model at a provider: "at_risk" before it and "deprecated" from that day on; models without one are left out';
const NAME = /^[!-~]{1,110}$/;
const modelSchema = z.looseObject({ deprecation_date: z.string().optional() });

function read(payload: Payload): Imported {
  const { bytes, subject, note } = payload;
  const is = 'a list of models';
  const models = shaped(z.record(z.string(), modelSchema), parsePayload(bytes, subject), {
    subject,
    is,
  });
  const list = new ReadingList();
  const at = Date.parse(note.fetched_at);
  const statement = { origin: ORIGIN, payload, at, scope: SCOPE };
  const ends: (number | null)[] = [];
  for (const [entity, { deprecation_date: written }] of Object.entries(models)) {
    if (written === undefined || entity === DESCRIPTION) continue;
    const end = dayTime(written);
    ends.push(end);
    if (end === null || !NAME.test(entity)) {
      list.skips.add(entity.slice(0, 60), 'deprecation_date: not a day');
      continue;
    }
    const isOver = end <= at;
    const state = isOver ? 'deprecated' : 'at_risk';
    const context = isOver ? null : { deprecated_on: written };
    const subject = { entity, state, birth: null, end: isOver ? end : null, context };
    list.add('ai-dependency.lifecycle', stateReading(subject, statement));
    if (isOver) continue;
    const current = { notices_in_force_count: 1 };
    const notice = {
      entity,
      at,
      current,
      scope: 'a deprecation date that is still to come is one notice',
    };
    list.add('ai-dependency.deprecation-notices', statedReading(ORIGIN, payload, notice));
  }
  if (ends.length > 0) {
    const year = yearReading({ entity: 'all', ends }, statement);
    list.add('ai-dependency.industry-timeline', year);
  }
  return list.someOf(payload);
}

export const aiModels: Source = { ...registered('ai-models'), version: 1, read };
