/** Prices of the rate limit. One unit is a plain free answer, some 50 microseconds; `npm run lab -- free` measures them. */

export const REQUEST_COST = 1;
/** Its signature is checked and its sale is written down. */
export const PAYMENT_COST = 5;
/** What was bought is fetched again: found in the journal, read from the disk. */
export const REPEAT_COST = 2;
/** A file that is not in memory: opened, read and hashed. */
export const FILE_COST = 4;
/** A file of another host: its connection, its check, and a file of the cache. */
const FETCH_COST = 20;
/** Bytes for the price of a request: fetched from a host that somebody pays, parsed, sent, and read of a request. */
const FETCHED_BYTES_A_UNIT = 16 * 1024;
const PARSED_BYTES_A_UNIT = 16 * 1024;
const SENT_BYTES_A_UNIT = 64 * 1024;
const READ_BYTES_A_UNIT = 2048;

/** Takes units off the account of who asks. */
export type Spend = (units: number) => void;

/** For what is made once for everybody. */
export const FOR_EVERYBODY: Spend = () => undefined;

export const costOfFetching = (bytes: number): number => FETCH_COST + bytes / FETCHED_BYTES_A_UNIT;
export const costOfParsing = (bytes: number): number => bytes / PARSED_BYTES_A_UNIT;
export const costOfSending = (bytes: number): number => bytes / SENT_BYTES_A_UNIT;
export const costOfReading = (bytes: number): number => bytes / READ_BYTES_A_UNIT;
