import { z } from 'zod';
import { firstTwice } from '../../../contract/grouped.ts';
import { type ConvectionRegion, regionsIn } from '../../convection-regions.ts';
import { ImportError, jsonOf, type Payload, shaped } from '../../payload.ts';
import { askedStates } from './region-reading.ts';

/** What a region is under, by the event code of the alert: phenomenon and significance. */
const KINDS = {
  'TO.W': { event: 'Tornado Warning', band: 'tornado-warning' },
  'SV.W': { event: 'Severe Thunderstorm Warning', band: 'svr-warning' },
  'TO.A': { event: 'Tornado Watch', band: 'watch' },
  'SV.A': { event: 'Severe Thunderstorm Watch', band: 'watch' },
} as const;
type Code = keyof typeof KINDS;
const CODES: readonly Code[] = ['TO.W', 'SV.W', 'TO.A', 'SV.A'];

/** Actions after which an event no longer holds where the alert is for. */
const ENDED: readonly string[] = ['CAN', 'EXP', 'UPG'];
const GRAVE = /PARTICULARLY DANGEROUS SITUATION|TORNADO EMERGENCY/i;
const GRAVE_TAGS: readonly string[] = ['CONSIDERABLE', 'CATASTROPHIC'];
const VTEC =
  /^\/([OTEX])\.(NEW|CON|EXT|EXA|EXB|UPG|CAN|EXP|COR|ROU)\.([A-Z]{4})\.([A-Z]{2}\.[A-Z])\.(\d{4})\.\d{6}T\d{4}Z-\d{6}T\d{4}Z\/$/;

const time = z.iso.datetime({ offset: true });
/** What every alert has. */
const alertSchema = z.looseObject({
  type: z.literal('Feature'),
  properties: z.looseObject({
    id: z.string().min(1),
    event: z.string().min(1),
    geocode: z.looseObject({ UGC: z.array(z.string().regex(/^[A-Z]{2}[CZ]\d{3}$/)).min(1) }),
    parameters: z.looseObject({ VTEC: z.array(z.string().regex(VTEC)).min(1).optional() }),
  }),
});
/** What an alert of the four events has besides. */
const convectiveSchema = z.looseObject({
  geocode: z.looseObject({ SAME: z.array(z.string().regex(/^\d{6}$/)) }),
  references: z.array(z.looseObject({ identifier: z.string().min(1) })),
  sent: time,
  expires: time,
  ends: time.nullable(),
  status: z.enum(['Actual', 'Exercise', 'System', 'Test', 'Draft']),
  messageType: z.enum(['Alert', 'Update', 'Cancel']),
  description: z.string().min(1),
  parameters: z.looseObject({
    tornadoDamageThreat: z.array(z.string()).optional(),
    NWSheadline: z.array(z.string()).optional(),
  }),
});
const listSchema = z.looseObject({
  type: z.literal('FeatureCollection'),
  features: z.array(alertSchema),
  pagination: z.undefined('only one page of the alerts').optional(),
});
type Alert = z.infer<typeof alertSchema>['properties'];

/** One watch or warning in force. */
interface ActiveEvent {
  readonly code: Code;
  readonly band: string;
  /** The number of a watch counts for the country, that of a warning for its office. */
  readonly key: string;
  readonly zones: readonly string[];
  readonly isGrave: boolean;
}

export interface RegionAlerts {
  readonly entity: string;
  readonly region: ConvectionRegion;
  /** Each event once. */
  readonly events: readonly ActiveEvent[];
}

/**
 * Watches and warnings in force for every region that lies in the asked states as a whole. Throws an ImportError for
 * another payload, for an address that leaves something out, and for an alert that cannot be read.
 */
export function convectiveAlerts(payload: Payload): RegionAlerts[] {
  const { subject } = payload;
  const { features } = jsonOf(payload, listSchema, 'a list of alerts');
  const states = askedStates(payload);
  const alerts = features.map(({ properties }) => properties);
  checkSubjects(alerts, { states, subject });
  const active = activeEvents(alerts, payload);
  return regionsIn(states).map(([entity, region]) => {
    const own = active.filter((one) => one.zones.some((zone) => region.zones.has(zone)));
    return { entity, region, events: [...new Map(own.map((one) => [one.key, one])).values()] };
  });
}

function checkSubjects(
  alerts: readonly Alert[],
  { states, subject }: { readonly states: readonly string[] | null; readonly subject: string },
): void {
  const twice = firstTwice(alerts.map(({ id }) => id));
  const foreign = alerts.find(
    ({ geocode }) =>
      states !== null && !geocode.UGC.some((zone) => states.includes(zone.slice(0, 2))),
  );
  if (twice === undefined && foreign === undefined) return;
  const state =
    twice === undefined
      ? `alert ${foreign?.id} is of another state than its address asks for; correct the fetch note`
      : `alert ${twice} is listed twice; fetch it again`;
  throw new ImportError({ subject, state });
}

function activeEvents(alerts: readonly Alert[], { note, subject }: Payload): ActiveEvent[] {
  const fetched = Date.parse(note.fetched_at);
  const read = alerts.flatMap((alert) => {
    const code = codeOf(alert, subject);
    if (code === null) return [];
    const is = `an alert that can be read: ${alert.id}`;
    const own = shaped(convectiveSchema, alert, { subject, is });
    checkAlert(alert, own, { fetched, subject });
    return [{ alert, code, own }];
  });
  const replaced = new Set(read.flatMap(({ own }) => own.references.map((one) => one.identifier)));
  return read
    .filter(({ alert }) => !replaced.has(alert.id))
    .filter(({ own }) => isInForce(own, fetched))
    .flatMap(({ alert, code, own }) => eventsOf(alert, code, own));
}

type OwnAlerts = z.infer<typeof convectiveSchema>;

/** The kind of an alert of the four events; its name and its code must say the same. */
function codeOf({ event, id, parameters }: Alert, subject: string): Code | null {
  const named = CODES.find((code) => KINDS[code].event === event) ?? null;
  const coded = (parameters.VTEC ?? []).map((text) => VTEC.exec(text)?.[4]);
  const isAgreed =
    named === null
      ? !coded.some((code) => CODES.some((known) => known === code))
      : coded.length > 0 && coded.every((code) => code === named);
  if (isAgreed) return named;
  const state = `alert ${id} is called "${event.slice(0, 40)}", its codes are ${coded.join(', ') || 'missing'}; fetch it again`;
  throw new ImportError({ subject, state });
}

/** An alert is sent before the fetch, and lists the same counties in both of its codes. */
function checkAlert(
  { id, geocode }: Alert,
  own: OwnAlerts,
  { fetched, subject }: { readonly fetched: number; readonly subject: string },
): void {
  const [zones, counties] = [geocode.UGC, own.geocode.SAME].map((codes) =>
    codes
      .map((code) => code.slice(-3))
      .sort()
      .join(' '),
  );
  const isLate = Date.parse(own.sent) > fetched;
  if (zones === counties && !isLate) return;
  const state = isLate
    ? `alert ${id} was sent after the fetch; correct the fetch note`
    : `alert ${id} lists other counties in UGC than in SAME; fetch it again`;
  throw new ImportError({ subject, state });
}

function isInForce({ status, messageType, ends, expires }: OwnAlerts, fetched: number): boolean {
  const end = Date.parse(ends ?? expires);
  return status === 'Actual' && messageType !== 'Cancel' && end > fetched;
}

function eventsOf({ geocode, parameters }: Alert, code: Code, own: OwnAlerts): ActiveEvent[] {
  const texts = [own.description, ...(own.parameters.NWSheadline ?? [])];
  const tags = own.parameters.tornadoDamageThreat ?? [];
  const isGrave =
    texts.some((text) => GRAVE.test(text.replaceAll(/\s+/g, ' '))) ||
    tags.some((tag) => GRAVE_TAGS.includes(tag));
  return (parameters.VTEC ?? []).flatMap((text) => {
    const [, mode, action = '', office = '', , number = ''] = VTEC.exec(text) ?? [];
    if (mode !== 'O' || ENDED.includes(action)) return [];
    const key = code.endsWith('.A') ? `${code}.${number}` : `${office}.${code}.${number}`;
    return [{ code, band: KINDS[code].band, key, zones: geocode.UGC, isGrave }];
  });
}
