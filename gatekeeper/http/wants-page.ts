/** Whether `Accept` is that of a browser that opens a link: it names HTML, and JSON nowhere. */
export function wantsPage(accept: string): boolean {
  return accept.includes('text/html') && !accept.includes('json');
}
