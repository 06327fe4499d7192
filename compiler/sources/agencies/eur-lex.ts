import { z } from 'zod';
import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import { originOf, readableEntries } from '../kit/entries.ts';
import { dayTime } from '../kit/local-time.ts';
import { fetchAgain, type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import { ReadingList, statedReading } from '../kit/readings.ts';
import { isWanted, registered, type Source, type Wanted } from '../kit/source.ts';
import { type Subject, stateReading, yearReading } from '../kit/subjects.ts';

// Legal acts of the EU from the repository CELLAR, as results of SPARQL in JSON (https://www.w3.org/TR/sparql11-results-json/).
// The properties of its ontology (CDM) were read in queries of public programs that ask the same endpoint.

/** The act that stands for each measure (ours), by its CELEX number. */
const ACTS: Readonly<Record<string, readonly [line: string, celex: string]>> = {
  'eu-ets': ['climate-policy', '32003L0087'],
  'eu-effort-sharing': ['climate-policy', '32018R0842'],
  'eu-land-use': ['climate-policy', '32018R0841'],
  'eu-car-emissions': ['climate-policy', '32019R0631'],
  'eu-climate-law': ['climate-policy', '32021R1119'],
  'eu-border-adjustment': ['climate-policy', '32023R0956'],
  'eu-fluorinated-gases': ['climate-policy', '32024R0573'],
  'eu-us-rebalancing-2018': ['tariff-policy', '32018R0886'],
  'eu-solar-panel-duty-2017': ['tariff-policy', '32017R0366'],
  'eu-steel-safeguard-2019': ['tariff-policy', '32019R0159'],
  'eu-china-electric-car-duty': ['tariff-policy', '32024R2754'],
  'eu-russia-fertiliser-tariff': ['tariff-policy', '32025R1227'],
};
/** Subject of a whole line in EuroVoc, the thesaurus of the EU. */
const SUBJECTS: Readonly<Record<string, string>> = {
  'climate-policy': 'climate change policy',
  'tariff-policy': 'anti-dumping duty',
};

const ORIGIN = originOf('Publications Office of the European Union', 'https://eur-lex.europa.eu/', {
  status: 'as published in EUR-Lex',
});
/** Stands for "no end" in the repository. */
const NO_END = '9999-12-31';
/** Legislation without corrigenda and consolidated texts. */
const ACT = /^3\d{4}[RLD]\d{4}$/;

const PREFIXES =
  'PREFIX cdm: <http://publications.europa.eu/ontology/cdm#> PREFIX skos: <http://www.w3.org/2004/02/skos/core#> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>';
const DATES =
  'OPTIONAL { ?work cdm:resource_legal_date_entry-into-force ?start } OPTIONAL { ?work cdm:resource_legal_date_end-of-validity ?stop }';

function actsQuery(celex: readonly string[]): string {
  const values = celex.map((one) => `"${one}"^^xsd:string`).join(' ');
  return `${PREFIXES} SELECT ?celex ?force (MIN(?start) AS ?entry) (MAX(?stop) AS ?end) (COUNT(DISTINCT ?other) AS ?changes) WHERE { VALUES ?celex { ${values} } ?work cdm:resource_legal_id_celex ?celex ; cdm:resource_legal_in-force ?force . ${DATES} OPTIONAL { { ?work cdm:resource_legal_amends_resource_legal ?other } UNION { ?work cdm:resource_legal_repeals_resource_legal ?other } } } GROUP BY ?celex ?force`;
}

/** Acts on a subject that entered into force, or went out of it, since a day. */
function yearQuery(subject: string, since: string): string {
  return `${PREFIXES} SELECT ?celex (MIN(?start) AS ?entry) (MAX(?stop) AS ?end) WHERE { ?concept skos:prefLabel "${subject}"@en . ?work cdm:work_is_about_concept_eurovoc ?concept ; cdm:resource_legal_id_celex ?celex ; cdm:resource_legal_in-force ?force . ${DATES} FILTER(?start >= "${since}"^^xsd:date || ?stop >= "${since}"^^xsd:date) } GROUP BY ?celex`;
}

const cell = z.looseObject({ value: z.string() });
const day = cell.refine(({ value }) => dayTime(value) !== null, 'not a day').optional();
const rowSchema = z.looseObject({
  celex: cell,
  force: z.looseObject({ value: z.enum(['true', 'false', '1', '0']) }).optional(),
  entry: day,
  end: day,
  changes: z.looseObject({ value: z.string().regex(/^\d{1,6}$/) }).optional(),
});
type Act = z.infer<typeof rowSchema>;
const answerSchema = z.looseObject({
  head: z.looseObject({ vars: z.array(z.string()) }),
  results: z.looseObject({ bindings: z.array(z.unknown()) }),
});

/** Acts by themselves, or all of a subject in a year: the columns of the answer tell which. */
function read(payload: Payload): Imported {
  const { head, results } = jsonOf(payload, answerSchema, 'results of a query about legal acts');
  const list = new ReadingList();
  const of = (_: unknown, at: number) => `row ${at + 1}`;
  const { read: rows, unread } = readableEntries(results.bindings, rowSchema, { list, of });
  if (head.vars.includes('force')) addActs(rows, payload, list);
  else addYear(unread > 0 ? null : rows, payload, list);
  return list.someOf(payload);
}

function addActs(rows: readonly Act[], payload: Payload, list: ReadingList): void {
  const at = Date.parse(payload.note.fetched_at);
  for (const [entity, [line, celex]] of Object.entries(ACTS)) {
    const [act, ...others] = rows.filter((row) => row.celex.value === celex);
    if (act === undefined) continue;
    const state = others.length > 0 ? 'the repository contradicts itself' : stateOf(act, at);
    const scope = `act ${celex} in EUR-Lex: in force is "operating", no longer in force "ended"; which act stands for the measure is ours`;
    if (typeof state === 'string') list.skips.add(entity, state);
    else {
      const statement = { origin: ORIGIN, payload, at, scope };
      list.add(`${line}.lifecycle`, stateReading({ entity, ...state }, statement));
    }
    if (line !== 'climate-policy' || act.changes === undefined) continue;
    const changed = statedReading(ORIGIN, payload, {
      entity,
      at,
      current: { affected_measures_count: Number(act.changes.value) },
      scope: `acts that act ${celex} amends or repeals, as EUR-Lex links them`,
    });
    list.add(`${line}.cascade`, changed);
  }
}

/** What an act is at an instant, or why nothing is said of it. */
function stateOf({ celex, force, entry, end }: Act, at: number): Omit<Subject, 'entity'> | string {
  const [birth, last] = [instant(entry), instant(end)];
  const isOver = last !== null && last + DAY_MS <= at;
  const isInForce = force?.value === 'true' || force?.value === '1';
  if (force === undefined || (isInForce && isOver)) return 'the repository contradicts itself';
  if (birth !== null && birth > at) return 'not yet in force';
  const context = { celex: celex.value };
  if (!isInForce)
    return {
      state: 'ended',
      birth,
      end: isOver ? last : null,
      death_type: 'no longer in force',
      context,
    };
  const coming = last === null ? {} : { ends_on: isoTime(last).slice(0, 10) };
  return { state: 'operating', birth, end: null, context: { ...context, ...coming } };
}

function addYear(rows: readonly Act[] | null, payload: Payload, list: ReadingList): void {
  const query = new URL(payload.note.url).searchParams.get('query') ?? '';
  const found = Object.entries(SUBJECTS).find(([, subject]) => query.includes(`"${subject}"@en`));
  if (found === undefined) throw fetchAgain(payload, 'its address asks for no subject of ours');
  const [line, subject] = found;
  const acts = rows?.filter(({ celex }) => ACT.test(celex.value));
  const year = {
    entity: 'eu',
    ends: acts?.flatMap(({ end }) => instant(end) ?? []) ?? [null],
    births: acts?.map(({ entry }) => instant(entry)) ?? [null],
  };
  const scope = `legal acts of the EU on "${subject}" (EuroVoc), by entry into force and end of validity; corrigenda are not counted`;
  const at = Date.parse(payload.note.fetched_at);
  list.add(`${line}.industry-timeline`, yearReading(year, { origin: ORIGIN, payload, at, scope }));
}

function instant(date: { readonly value: string } | undefined): number | null {
  return date === undefined || date.value === NO_END ? null : dayTime(date.value);
}

function asks(asked: Wanted) {
  const wanted = Object.entries(ACTS).filter(([entity]) => isWanted(asked, entity));
  const since = isoTime(asked.now - 370 * DAY_MS).slice(0, 10);
  const years = isWanted(asked, 'eu') ? Object.values(SUBJECTS) : [];
  return [
    ...(wanted.length === 0 ? [] : [actsQuery(wanted.map(([, [, celex]]) => celex))]),
    ...years.map((subject) => yearQuery(subject, since)),
  ].map((query) => ({ with: { query: encodeURIComponent(query) } }));
}

export const eurLex: Source = { ...registered('eur-lex'), version: 1, read, asks };
