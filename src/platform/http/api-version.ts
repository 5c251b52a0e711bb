/** The version of the API (§9.1, R-A2): every response carries it, requests may name it. */
export const API_VERSION = '1.7';

/** Whether a request may ask for it by its header `Api-Version`. */
export function isApiVersion(asked: string | undefined): boolean {
  return asked === undefined || asked.trim() === API_VERSION;
}
