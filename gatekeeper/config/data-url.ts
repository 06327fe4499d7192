/** Whether a data folder is served by a host: a folder of this machine has no scheme. */
export function isRemote(data: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(data);
}

/** The URL of a data folder; throws a RangeError that repeats nothing secret. */
export function dataUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new RangeError('not an http(s) URL');
  }
  const extra = url.username + url.password + url.search + url.hash;
  if (extra === '') return url;
  throw new RangeError(
    'has a user, password, query or fragment; put a key into SIGNALPRESS_DATA_AUTH',
  );
}
