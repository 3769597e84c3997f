/** Revisions: the text `<policy>/<entities>`, of which a part may be empty. */

export interface Revision {
  readonly policy: number | undefined;
  readonly entities: number | undefined;
}

export const NO_REVISION: Revision = { policy: undefined, entities: undefined };

/** Reads the text of a revision. What is not a number counts as absent. */
export function parseRevision(text: string): Revision {
  const [policy, entities] = text.split("/");
  return { policy: revisionNumber(policy), entities: revisionNumber(entities) };
}

/** Returns the revisions that an answer names. */
export function answeredRevision(headers: Headers): Revision {
  const policy = revisionNumber(headers.get("x-policy-revision"));
  return { policy, entities: revisionNumber(headers.get("x-entities-revision")) };
}

export function revisionText(of: Revision): string {
  return `${of.policy ?? ""}/${of.entities ?? ""}`;
}

export function isEmpty(of: Revision): boolean {
  return of.policy === undefined && of.entities === undefined;
}

/** Returns the higher of each part. */
export function highest(one: Revision, other: Revision): Revision {
  return { policy: higher(one.policy, other.policy), entities: higher(one.entities, other.entities) };
}

/** Returns whether a part of `one` is another than that of `other`, where both have it. */
export function differs(one: Revision, other: Revision): boolean {
  return partDiffers(one.policy, other.policy) || partDiffers(one.entities, other.entities);
}

/** Returns whether `one` is known to be at least as new as `demanded`. */
export function reaches(one: Revision, demanded: Revision): boolean {
  return partReaches(one.policy, demanded.policy) && partReaches(one.entities, demanded.entities);
}

function partReaches(one: number | undefined, demanded: number | undefined): boolean {
  return demanded === undefined || (one !== undefined && one >= demanded);
}

function partDiffers(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

function higher(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.max(one, other);
}

function revisionNumber(text: string | null | undefined): number | undefined {
  return text && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
}
