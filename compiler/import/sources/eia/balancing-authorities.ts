/** A balancing authority as the publisher codes it. */
export interface Authority {
  readonly code: string;
  /**
   * Record hourly demand in MW as the authority itself has published it, by which stress is measured (ours); null where we
   * know of no such figure, and then no share of it and no band is given.
   */
  readonly peakMw: number | null;
}

const authority = (code: string, peakMw: number | null = null): Authority => ({ code, peakMw });

/** By entity. Records: CAISO 2022-09-06, ERCOT 2023-08-10, MISO 2011-07-20, PJM 2006-08-02, SPP 2023-08-21, NYISO 2013-07-19, ISO-NE 2006-08-02, TVA 2025-01-22. */
export const AUTHORITIES: Readonly<Record<string, Authority>> = {
  caiso: authority('CISO', 52_061),
  ercot: authority('ERCO', 85_508),
  miso: authority('MISO', 127_125),
  pjm: authority('PJM', 165_563),
  spp: authority('SWPP', 56_184),
  nyiso: authority('NYIS', 33_956),
  isone: authority('ISNE', 28_130),
  bpa: authority('BPAT'),
  tva: authority('TVA', 35_319),
  duke: authority('DUK'),
  fpl: authority('FPL'),
  soco: authority('SOCO'),
  azps: authority('AZPS'),
  psco: authority('PSCO'),
  pacw: authority('PACW'),
  ladwp: authority('LDWP'),
  srp: authority('SRP'),
  walc: authority('WALC'),
};
