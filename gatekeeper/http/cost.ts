/** Prices of the rate limit. One unit is a plain free answer, some 50 microseconds; `npm run lab -- free` measures them. */

/** A request that carries no payment. */
export const REQUEST_COST = 1;
/** A request that pays: its signature is checked and its sale is written down. */
export const PAYMENT_COST = 5;
/** A request that fetches again what it paid for: found in the journal, read from the disk. */
export const REPEAT_COST = 2;

/** A file that is not in memory: opened, read and hashed. */
export const FILE_COST = 4;

/** A file that is fetched from another host: its connection, its check, and a file of the cache. */
const FETCH_COST = 20;
/** Bytes that are fetched for the price of a request: somebody pays for what leaves the other host. */
const FETCHED_BYTES_A_UNIT = 16 * 1024;

/** Bytes of a stored file that cost as much as a request when they are parsed. */
const PARSED_BYTES_A_UNIT = 16 * 1024;

/** Bytes of an answer that cost as much as a request. */
const SENT_BYTES_A_UNIT = 64 * 1024;
/** Bytes of a body or of a target that cost as much as a request: they are read, checked and often repeated. */
const READ_BYTES_A_UNIT = 2048;

/** Takes units off the account of who asks. */
export type Spend = (units: number) => void;

/** For what is made once for everybody. */
export const FOR_EVERYBODY: Spend = () => undefined;

/** What so many bytes cost: fetched from another host, beyond reading them; parsed; sent; or read of a request. */
export const costOfFetching = (bytes: number): number => FETCH_COST + bytes / FETCHED_BYTES_A_UNIT;
export const costOfParsing = (bytes: number): number => bytes / PARSED_BYTES_A_UNIT;
export const costOfSending = (bytes: number): number => bytes / SENT_BYTES_A_UNIT;
export const costOfReading = (bytes: number): number => bytes / READ_BYTES_A_UNIT;
