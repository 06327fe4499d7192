/** Most bytes of one free answer; what may be longer has pages or asks for a narrower filter. */
export const FREE_BYTES_MAX = 1_000_000;
