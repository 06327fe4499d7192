import { z } from 'zod';
import { type Payload, shaped } from '../../payload.ts';
import { xmlDocument } from '../../xml.ts';

/** An element with text; every element of a document is a list. */
const text = z.tuple([z.string().trim().min(1)]).transform(([value]) => value);
const code = z
  .tuple([z.string().regex(/^[A-Z0-9]{3,4}$/)])
  .transform(([value]) => value.toLowerCase());
const entry = z.looseObject({ ARPT: code, Reason: text });
const list = <Item extends z.ZodType>(name: string, item: Item) =>
  z
    .tuple([z.strictObject({ [name]: z.array(item).min(1) })])
    .transform(([members]) => Object.values(members).flat())
    .optional();

/** A list of another kind is refused: nobody knows what it says of an airport. */
const delayTypeSchema = z
  .strictObject({
    Name: text.optional(),
    Ground_Stop_List: list('Program', entry),
    Ground_Delay_List: list('Ground_Delay', entry.extend({ Avg: text, Max: text.optional() })),
    Arrival_Departure_Delay_List: list(
      'Delay',
      entry.extend({
        Arrival_Departure: z
          .array(
            z.looseObject({
              '@Type': z.enum(['Arrival', 'Departure']),
              Min: text,
              Max: text,
              Trend: text,
            }),
          )
          .min(1),
      }),
    ),
    Airport_Closure_List: list('Airport', entry),
    /** Programmes for a part of the sky, which name no airport. */
    Airspace_Flow_List: z.array(z.unknown()).length(1).optional(),
    CTOP_List: z.array(z.unknown()).length(1).optional(),
  })
  .refine((kind) => Object.keys(kind).some((name) => name.endsWith('_List')), 'no list in it');
const documentSchema = z.strictObject({
  Update_Time: text,
  Dtd_File: z.array(z.unknown()).optional(),
  Delay_type: z.array(delayTypeSchema).default([]),
});

export const PROGRAMMES = [
  'restriction',
  'arrival-delay',
  'departure-delay',
  'ground-delay',
  'ground-stop',
  'closure',
] as const;

/** One entry of the document about one airport; times are words, as published. */
export interface Programme {
  /** In lower case. */
  readonly airport: string;
  readonly kind: Exclude<(typeof PROGRAMMES)[number], 'restriction'>;
  readonly reason: string;
  readonly avg?: string | undefined;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly trend?: string | undefined;
}

interface NasDocument {
  /** As published. */
  readonly updated: string;
  readonly programmes: readonly Programme[];
  readonly hasAirspaceProgrammes: boolean;
}

/** The document of the FAA; throws an ImportError where an entry names no airport or a list is of an unknown kind. */
export function nasDocument(payload: Payload): NasDocument {
  const { subject } = payload;
  const root = xmlDocument(payload, 'AIRPORT_STATUS_INFORMATION');
  const is = 'the airport status of the FAA';
  const { Update_Time, Delay_type } = shaped(documentSchema, root, { subject, is });
  return {
    updated: Update_Time,
    programmes: Delay_type.flatMap(programmesOf),
    hasAirspaceProgrammes: Delay_type.some(
      (kind) => kind.Airspace_Flow_List !== undefined || kind.CTOP_List !== undefined,
    ),
  };
}

function programmesOf(kind: z.infer<typeof delayTypeSchema>): Programme[] {
  const of = ({ ARPT, Reason }: z.infer<typeof entry>) => ({
    airport: ARPT,
    reason: Reason,
  });
  return [
    ...(kind.Airport_Closure_List ?? []).map((one) => ({ ...of(one), kind: 'closure' as const })),
    ...(kind.Ground_Stop_List ?? []).map((one) => ({ ...of(one), kind: 'ground-stop' as const })),
    ...(kind.Ground_Delay_List ?? []).map((one) => ({
      ...of(one),
      kind: 'ground-delay' as const,
      avg: one.Avg,
      max: one.Max,
    })),
    ...(kind.Arrival_Departure_Delay_List ?? []).flatMap((one) =>
      one.Arrival_Departure.map(({ '@Type': type, Min, Max, Trend }) => ({
        ...of(one),
        kind: type === 'Arrival' ? ('arrival-delay' as const) : ('departure-delay' as const),
        min: Min,
        max: Max,
        trend: Trend,
      })),
    ),
  ];
}
