/** What is stored beside the readings of signals, one file `<batch>/<id>.ndjson` each. */
interface Collection<Id extends string = string> {
  readonly id: Id;
  /** A noun phrase for catalogues and errors. */
  readonly holds: string;
}

/** Every kind of stored row that is not a reading, in the order in which they are compiled. */
export const COLLECTIONS = [
  { id: 'trust.service', holds: 'x402 services, one row a service and capture day' },
  { id: 'mcp.server', holds: 'MCP servers, one row a server and capture day' },
  { id: 'stable.coin', holds: 'stablecoins, one row a coin and capture day' },
  { id: 'stablecoin.death', holds: 'stablecoins that died, one row a death' },
  { id: 'filing.submission', holds: 'securities filings, one row a filing' },
  { id: 'document', holds: 'whole documents, one row an operation and its parameters' },
] as const satisfies readonly Collection[];

export type CollectionId = (typeof COLLECTIONS)[number]['id'];

/** The collection of a file name, or undefined for the name of anything else. */
export function findCollection(id: string): CollectionId | undefined {
  return COLLECTIONS.find((collection) => collection.id === id)?.id;
}
