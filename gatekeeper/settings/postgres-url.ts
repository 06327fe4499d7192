/** Whether a setting names a PostgreSQL database rather than the file of the state folder. */
export function isPostgresUrl(journal: string): boolean {
  return /^postgres(ql)?:\/\//.test(journal);
}

/** Where a journal lies, as people may read it: neither user nor password nor options. */
export function shownPlace(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
