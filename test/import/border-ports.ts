/** Small answers of our own in the shape of border wait times; fetched at 2026-11-20T18:25:15Z. */
export const LISTED = {
  url: 'https://bwt.cbp.gov/api/bwtpublicmod',
  fetched_at: '2026-11-20T18:25:15Z',
};

export const lane = (
  update_time: string,
  operational_status: string,
  numbers: readonly [minutes: string, lanes: string] = ['', ''],
) => ({ update_time, operational_status, delay_minutes: numbers[0], lanes_open: numbers[1] });
export const NONE = lane('', 'N/A');
export const CLOSED = lane('', 'Lanes Closed');
export const PENDING = lane('', 'Update Pending');

export interface Lanes {
  readonly commercial?: readonly [standard: object, fast: object];
  readonly passenger?: readonly [standard: object, nexus: object, ready: object];
}

export const port = (
  port_number: string,
  { commercial = [NONE, NONE], passenger = [NONE, NONE, NONE] }: Lanes,
  over: Record<string, unknown> = {},
) => ({
  port_number,
  port_name: 'Laredo',
  crossing_name: '',
  date: '11/20/2026',
  time: '12:25:16',
  port_status: 'Open',
  commercial_vehicle_lanes: {
    maximum_lanes: '15',
    standard_lanes: commercial[0],
    FAST_lanes: commercial[1],
  },
  passenger_vehicle_lanes: {
    maximum_lanes: 'N/A',
    standard_lanes: passenger[0],
    NEXUS_SENTRI_lanes: passenger[1],
    ready_lanes: passenger[2],
  },
  ...over,
});

/** Waits by hour; an hour that is not named has none today and an average of 10 minutes. */
export const graph = (
  port_number: string,
  waits: Readonly<Record<number, readonly [today: string, average: string]>>,
  date = '2026-11-20',
) => {
  const slots = (of: typeof waits) =>
    Array.from({ length: 24 }, (_, hour) => ({
      time: String(hour),
      standard_lane_today_wait: of[hour]?.[0] ?? '',
      standard_lane_average_wait: of[hour]?.[1] ?? '10',
    }));
  return [
    {
      port_number,
      date,
      commercial_time_slots: { commercial_slot: slots(waits) },
      private_time_slots: { private_slot: slots({ 3: ['99', '33'] }) },
    },
  ];
};
