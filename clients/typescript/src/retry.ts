/** When a further attempt may help. */

/** Returns whether a further attempt may have another status. */
export function isTransient(status: number): boolean {
  return status === 429 || (status >= 502 && status <= 504);
}

/** Reads `Retry-After` (RFC 9110, section 10.2.3) in seconds; `undefined` where it cannot be read. */
export function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^[0-9]+$/.test(text)) return Number(text);
  // `Date.parse` also finds a date in other texts.
  const isDate = /^[A-Z][a-z]{2}, \d\d? [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text);
  const instant = isDate ? Date.parse(text) : NaN;
  return Number.isNaN(instant) ? undefined : Math.max(0, (instant - Date.now()) / 1000);
}
