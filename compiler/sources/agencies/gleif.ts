import { z } from 'zod';
import { DAY_MS, isoTime } from '../../format/iso-time.ts';
import { asksFor, memberText, originOf, readableEntries } from '../kit/entries.ts';
import { dayTime } from '../kit/local-time.ts';
import { fetchAgain, type Imported, jsonOf, type Payload } from '../kit/payload.ts';
import { ReadingList } from '../kit/readings.ts';
import { registered, type Source } from '../kit/source.ts';
import { type Subject, stateReading } from '../kit/subjects.ts';

// LEI records as JSON:API, https://documenter.getpostman.com/view/7679680/SVYrrxuU; the shape was also read in tests of public
// clients. `filter[entity.legalName]` finds similar names too, so a record counts only where its legal name is the one asked.

interface Party {
  readonly signal: string;
  readonly name: string;
  /** Beginning of the jurisdiction, ISO 3166. */
  readonly place: string;
}

/**
 * The legal entity that each subject is, by its legal name and where it is incorporated (the choice is ours). Only lines whose
 * subjects are companies stand here: what ends with a fund, a token or a pool is not told by the record of a company.
 */
const PARTIES: Readonly<Record<string, Party>> = {
  ...parties('ai-compute', [
    ['coreweave', 'CoreWeave, Inc.', 'US'],
    ['nebius-group', 'Nebius Group N.V.', 'NL'],
    ['applied-digital', 'Applied Digital Corporation', 'US'],
    ['iren', 'IREN Limited', 'AU'],
    ['cipher-mining', 'Cipher Mining Inc.', 'US'],
    ['northern-data', 'Northern Data AG', 'DE'],
  ]),
  ...parties('smallsat', [
    ['planet-labs', 'Planet Labs PBC', 'US'],
    ['spire-global', 'Spire Global, Inc.', 'US'],
    ['blacksky', 'BlackSky Technology Inc.', 'US'],
    ['ast-spacemobile', 'AST SpaceMobile, Inc.', 'US'],
    ['iceye', 'ICEYE Oy', 'FI'],
    ['gomspace-group', 'GomSpace Group AB', 'SE'],
  ]),
};

function parties(
  line: string,
  rows: readonly (readonly [id: string, name: string, place: string])[],
) {
  const signal = `${line}.lifecycle`;
  return Object.fromEntries(rows.map(([id, name, place]) => [id, { signal, name, place }]));
}

const ORIGIN = originOf(
  'Global LEI System, as its issuers validated it',
  'https://search.gleif.org/',
  { status: 'as published by GLEIF' },
);
const SCOPE =
  'company of that name in the LEI register; ACTIVE is "operating" and INACTIVE "ended", also where it was merged into another one; a record that nobody keeps up says nothing; which company the subject is, is ours';
/** States of a record in which nobody vouches any longer that its entity is still there. */
const UNKEPT: readonly string[] = ['LAPSED', 'ANNULLED', 'DUPLICATE', 'CANCELLED'];
/** Events that say that an entity is in trouble while it is still ACTIVE. */
const DISTRESS: readonly string[] = [
  'BANKRUPTCY',
  'INSOLVENCY',
  'LIQUIDATION',
  'VOLUNTARY_ARRANGEMENT',
];

const instant = z.iso.datetime({ offset: true });
const event = z.looseObject({ type: z.string(), status: z.string().optional() });
const recordSchema = z.looseObject({
  id: z.string().regex(/^[A-Z0-9]{18}\d{2}$/),
  attributes: z.looseObject({
    entity: z.looseObject({
      legalName: z.looseObject({ name: z.string().min(1) }),
      jurisdiction: z.string().nullable(),
      status: z.enum(['ACTIVE', 'INACTIVE']),
      creationDate: instant.nullish(),
      expiration: z
        .looseObject({ date: instant.nullish(), reason: z.string().nullish() })
        .nullish(),
      eventGroups: z.array(z.looseObject({ events: z.array(event) })).nullish(),
    }),
    registration: z.looseObject({ status: z.string().min(1) }),
  }),
});
type LeiRecord = z.infer<typeof recordSchema>;
const answerSchema = z.looseObject({
  meta: z.looseObject({ goldenCopy: z.looseObject({ publishDate: instant }) }),
  data: z.array(z.unknown()),
});

function read(payload: Payload): Imported {
  const { meta, data } = jsonOf(payload, answerSchema, 'LEI records');
  const asked = new URL(payload.note.url).searchParams.get('filter[entity.legalName]');
  const list = new ReadingList();
  const { read: records } = readableEntries(data, recordSchema, { list, of: memberText('id') });
  for (const [entity, party] of Object.entries(PARTIES)) {
    if (plain(party.name) !== plain(asked ?? '')) continue;
    const own = records.filter(({ attributes }) => isOf(attributes.entity, party));
    const [only] = own;
    if (only === undefined || own.length > 1) {
      list.skips.add(entity, `${own.length} records of that name and place`);
      continue;
    }
    const { status } = only.attributes.registration;
    if (UNKEPT.includes(status)) {
      list.skips.add(entity, `its record is ${status}`);
      continue;
    }
    const at = Date.parse(meta.goldenCopy.publishDate);
    const statement = { origin: ORIGIN, payload, at, scope: SCOPE };
    list.add(party.signal, stateReading(subjectOf(entity, only, at), statement));
  }
  if (asked === null) throw fetchAgain(payload, 'its address asks for no legal name');
  return list.someOf(payload);
}

function isOf(
  { legalName, jurisdiction }: LeiRecord['attributes']['entity'],
  party: Party,
): boolean {
  return (
    plain(legalName.name) === plain(party.name) && (jurisdiction ?? '').startsWith(party.place)
  );
}

/** Registers write names in capitals, and with or without a comma. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

function subjectOf(entity: string, { id, attributes }: LeiRecord, at: number): Subject {
  const { legalName, status, creationDate, expiration, eventGroups } = attributes.entity;
  const events = (eventGroups ?? []).flatMap((group) => group.events);
  const isDistressed = events.some(
    (one) => DISTRESS.includes(one.type) && one.status !== 'WITHDRAWN_CANCELLED',
  );
  const birth = day(creationDate);
  const expired = status === 'INACTIVE' ? day(expiration?.date) : null;
  const reason = status === 'INACTIVE' ? expiration?.reason : null;
  return {
    entity,
    entity_name: legalName.name,
    state: status === 'INACTIVE' ? 'ended' : isDistressed ? 'at_risk' : 'operating',
    birth: birth !== null && birth <= at ? birth : null,
    end: expired,
    ...(reason ? { death_type: reason.toLowerCase() } : {}),
    context: { lei: id },
  };
}

/**
 * Dates stand as instants, mostly midnight of their issuer's zone written in UTC ("22:00:00Z" in Europe): the nearest midnight
 * counts. With an offset the day stands there as it is.
 */
function day(written: string | null | undefined): number | null {
  if (!written) return null;
  const instant = Date.parse(written);
  const isUtc = written.endsWith('Z') && !Number.isNaN(instant);
  return dayTime((isUtc ? isoTime(instant + DAY_MS / 2) : written).slice(0, 10));
}

export const gleif: Source = {
  ...registered('gleif'),
  version: 1,
  read,
  asks: asksFor(PARTIES, ({ name }) => ({ name: encodeURIComponent(name) })),
};
