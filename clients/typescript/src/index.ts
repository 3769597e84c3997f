/** Client of Portcullis. */

export { Portcullis } from "./client.js";
export { DeniedError, PortcullisError, RejectedError, UnavailableError, type Kind } from "./errors.js";
export type * from "./types.js";
