import { isLoopback } from '../system/loopback.ts';

/** A URL that requests may go to; throws a RangeError if anyone on the way could read or change what is sent. */
export function remoteUrl(text: string, whose: string): URL {
  if (!URL.canParse(text)) {
    throw new RangeError(`Cannot use ${whose} "${text}": not a URL; give https://host/path`);
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) {
    // A path may hold the operator's key for that service.
    throw new RangeError(
      `Cannot use ${whose} "${url.origin}": not https; only a loopback address may be http`,
    );
  }
  return url;
}

/**
 * The URL of a facilitator; throws a RangeError if it has more than an origin and a path, because calls carry nothing
 * else.
 */
export function facilitatorUrl(text: string): URL {
  const url = remoteUrl(text, 'facilitator');
  const extra = url.username + url.password + url.search + url.hash;
  if (extra === '') return url;
  throw new RangeError(
    `Cannot use facilitator "${url.origin}": its user, password or query would not be sent; put the key into SIGNALPRESS_FACILITATOR_AUTH`,
  );
}
