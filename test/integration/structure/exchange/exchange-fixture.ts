/** An API, by default with an importer, and helpers that import and export documents. */
import { openDeclarations } from '../../../../src/calculation/declaration/save-declaration.ts';
import type { ImportedRow } from '../../../../src/structure/exchange/import/import-rows.ts';
import { type ImportStatus, isOver } from '../../../../src/structure/exchange/import/import-store.ts';
import {
  type Importer,
  type ImporterServices,
  startImporter,
} from '../../../../src/structure/exchange/import/importer.ts';
import type { DocumentLimits } from '../../../../src/structure/exchange/reading/document-refusal.ts';
import { createTestClient, requestToken, type TestClient } from '../../../support/clients/test-client.ts';
import { eventually } from '../../../support/eventually.ts';
import { addAccount, addUser, passwordGrant } from '../../../support/fixtures/accounts.ts';
import { startTestApi, type TestApi } from '../../../support/services/start-api.ts';

export const LIMITS: DocumentLimits = { maxRows: 1_000_000, maxInflatedBytes: 2 ** 31, maxRatio: 100 };
export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

export type Row = Readonly<Record<string, unknown>>;
export interface StructureDocument {
  readonly format?: string;
  readonly catalogues?: readonly Row[];
  readonly forms?: readonly Row[];
  readonly sites?: readonly Row[];
  readonly sources?: readonly Row[];
  readonly variables?: readonly Row[];
}

export interface ImportResult extends ImportStatus {
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

export interface ExchangeStack {
  readonly api: TestApi;
  startImporter(services?: Partial<ImporterServices>): Importer;
  /**
   * Sends a document for import. Converts an object to JSON.
   * @returns the id of the import.
   */
  send(client: TestClient, content: StructureDocument | string | Uint8Array, options?: SendOptions): Promise<string>;
  ended(client: TestClient, id: string): Promise<ImportResult>;
  /** Sends a document and waits for the end of its import. */
  run(
    client: TestClient,
    content: StructureDocument | string | Uint8Array,
    options?: SendOptions,
  ): Promise<ImportResult>;
  rows(client: TestClient, id: string, query?: string): Promise<readonly ImportedRow[]>;
  /** @returns the text of an export. */
  text(client: TestClient, query?: string): Promise<string>;
  workbook(client: TestClient): Promise<Uint8Array>;
  /** Signs in a MANAGER of a new, empty account. */
  newAccount(): Promise<TestClient & { readonly accountId: number }>;
  close(): Promise<void>;
}

export interface SendOptions {
  readonly whatIf?: boolean;
  readonly type?: string;
}

export async function startExchangeStack(isImporting = true): Promise<ExchangeStack> {
  const api = await startTestApi({ API_RATE_PER_MINUTE: '0', STRUCTURE_IMPORT_MAX_WAITING: '5' });
  const { parts } = api;
  const importers: Importer[] = [];
  let accounts = 0;
  const authorized = (client: TestClient) => ({ authorization: `Bearer ${client.token}` });
  const stack: ExchangeStack = {
    api,
    startImporter: (services = {}) => {
      const importer = startImporter({
        ...{ ...parts, declarations: openDeclarations(parts.database), queue: parts.importQueue },
        settings: { concurrency: 2, limits: LIMITS, retentionDays: 1, sweepIntervalMs: 200 },
        ...services,
      });
      importers.push(importer);
      return importer;
    },
    send: async (client, content, { whatIf = false, type } = {}) => {
      const isBytes = content instanceof Uint8Array;
      const raw = typeof content === 'string' || isBytes ? content : JSON.stringify(content);
      const headers = { 'content-type': type ?? (isBytes ? XLSX : 'application/json') };
      const options = { raw: raw as string | Uint8Array<ArrayBuffer>, headers };
      const answer = await client.send<ImportStatus>('POST', `/structure/import?whatIf=${whatIf}`, undefined, options);
      if (answer.status !== 202) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body.id;
    },
    ended: (client, id) =>
      eventually(`the end of import ${id}`, async () => {
        const { body } = await client.get<ImportResult>(`/structure/import/${id}`);
        return isOver(body) && body;
      }),
    run: async (client, content, options) => stack.ended(client, await stack.send(client, content, options)),
    rows: async (client, id, query = '') =>
      (await client.get<readonly ImportedRow[]>(`/structure/import/${id}/rows${query}`)).body,
    text: async (client, query = '') => {
      const response = await fetch(`${api.origin}/structure/export${query}`, { headers: authorized(client) });
      return response.text();
    },
    workbook: async (client) => {
      const response = await fetch(`${api.origin}/structure/export?format=xlsx`, { headers: authorized(client) });
      return new Uint8Array(await response.arrayBuffer());
    },
    newAccount: async () => {
      accounts += 1;
      const userName = `manager ${accounts}`;
      const accountId = await addAccount(api.database, `Account ${accounts}`);
      await addUser(api.database, userName, { role: 'MANAGER', accountIds: [accountId] });
      const token = await requestToken(api.origin, passwordGrant(userName, { scopes: ['datahub-api'] }));
      return { ...createTestClient(api.origin, token), accountId };
    },
    close: async () => {
      await Promise.all(importers.map((importer) => importer.stop()));
      await api.close();
    },
  };
  if (isImporting) stack.startImporter();
  return stack;
}
