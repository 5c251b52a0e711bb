/** Settings that the server writes into the page: the URLs and the client id of this installation. */

export interface Settings {
  /** Public URL of the API, without a trailing slash. */
  readonly api: string;
  /** Public URL of the push API. */
  readonly push: string;
  /** URL of the issuer that signs users in. */
  readonly issuer: string;
  readonly clientId: string;
}

/** @throws {Error} when the page lacks the settings that the server writes into it. */
function readSettings(): Settings {
  const text = document.querySelector('meta[name="tidemark-settings"]')?.getAttribute('content');
  if (!text)
    throw new Error(
      'this page lacks the settings that the API server writes into it; open the console at the URL of the API',
    );
  return JSON.parse(text) as Settings;
}

export const settings: Settings = readSettings();
