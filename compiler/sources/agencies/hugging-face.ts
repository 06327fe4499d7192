import { z } from 'zod';
import { neutralFault } from '../../catalog/neutral-text.ts';
import { originOf } from '../kit/entries.ts';
import { fetchAgain, type Imported, type Payload, parsePayload, shaped } from '../kit/payload.ts';
import { ReadingList, statedReading } from '../kit/readings.ts';
import { isWanted, registered, type Source } from '../kit/source.ts';
import { stateReading } from '../kit/subjects.ts';

// A dataset of the Hub, and the models whose cards name it: https://huggingface.co/docs/hub/api

/** Datasets by their place on the Hub; the choice is ours. */
const DATASETS: Readonly<Record<string, string>> = {
  squad: 'rajpurkar/squad',
  c4: 'allenai/c4',
  'imagenet-1k': 'ILSVRC/imagenet-1k',
  'laion-400m': 'laion/laion400m',
  fineweb: 'HuggingFaceFW/fineweb',
  'redpajama-1t': 'togethercomputer/RedPajama-Data-1T',
  oasst1: 'OpenAssistant/oasst1',
  'ultrachat-200k': 'HuggingFaceH4/ultrachat_200k',
};
const ORIGIN = originOf('Hugging Face Hub', 'https://huggingface.co/datasets', {
  status: 'as its publishers entered it',
});
/** The day on which the Hub began to keep dates of creation: what is older has an instant of it. */
const FIRST_CREATED = '2022-03-02T';
/** The Hub gives at most so many models in one answer. */
const MODELS_MAX = 1000;

const datasetSchema = z.looseObject({
  id: z.string().min(1),
  createdAt: z.iso.datetime(),
  private: z.literal(false),
  disabled: z.boolean(),
});
const modelsSchema = z.array(z.looseObject({ id: z.string(), tags: z.array(z.string()) }));

function read(payload: Payload): Imported {
  const { bytes, subject, note } = payload;
  const { pathname, searchParams } = new URL(note.url);
  const value = parsePayload(bytes, subject);
  const list = new ReadingList();
  const at = Date.parse(note.fetched_at);
  const filter = searchParams.get('filter') ?? '';
  const repository = pathname.replace(/^\/api\/datasets\//, '');
  const asked = pathname.endsWith('/models') ? filter.replace(/^dataset:/, '') : repository;
  const entity = Object.keys(DATASETS).find((id) => DATASETS[id] === asked);
  if (entity === undefined) throw fetchAgain(payload, 'its address asks for no dataset of ours');
  if (Array.isArray(value)) {
    const models = shaped(modelsSchema, value, { subject, is: 'a list of models' });
    const strange = models.find(({ tags }) => !tags.includes(filter));
    if (strange !== undefined)
      throw fetchAgain(payload, 'it lists a model that does not name the dataset');
    const current = { trained_models_count: models.length < MODELS_MAX ? models.length : null };
    const scope = `public models of the Hub whose card names ${asked} as a dataset that they were trained on; null from ${MODELS_MAX} on`;
    list.add(
      'ai-dataset.model-lineage-exposure',
      statedReading(ORIGIN, payload, { entity, at, current, scope }),
    );
    return list.imported();
  }
  const dataset = shaped(datasetSchema, value, { subject, is: 'a dataset' });
  const { id, createdAt, disabled } = dataset;
  if (id !== asked) throw fetchAgain(payload, `it is about ${id.slice(0, 60)}, not about ${asked}`);
  const known = {
    entity,
    ...(neutralFault(id) === null ? { entity_name: id } : {}),
    state: disabled ? 'suspended' : 'operating',
    birth: createdAt.startsWith(FIRST_CREATED) ? null : Date.parse(createdAt),
    end: null,
  };
  const scope =
    'repository of the dataset on the Hub: disabled is "suspended", public is "operating"; its age counts from the creation of the repository';
  list.add('ai-dataset.lifecycle', stateReading(known, { origin: ORIGIN, payload, at, scope }));
  return list.imported();
}

export const huggingFace: Source = {
  ...registered('hugging-face'),
  version: 1,
  read,
  asks: (asked) =>
    Object.entries(DATASETS)
      .filter(([entity]) => isWanted(asked, entity))
      .flatMap(([, repository]) => {
        const values = { repository, limit: String(MODELS_MAX) };
        return ['dataset', 'models'].map((to) => ({ to, with: values }));
      }),
};
