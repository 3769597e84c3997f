/** Addresses of services. */

/** Returns whether a text is an address of http or https. */
export function isAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** Returns whether an address has no user, query and fragment. */
export function isBare(address: string): boolean {
  const { username, password } = new URL(address);
  return username === "" && password === "" && !/[?#]/.test(address);
}
