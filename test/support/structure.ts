/** Sites, sources and variables for tests, made through the public interface. */
import type { TestAnswer, TestClient } from './clients/test-client.ts';

type Members = Readonly<Record<string, unknown>>;

export async function createSite(client: TestClient, members: Members = {}): Promise<number> {
  return expectOk(await client.post<number>('/sites', { name: 'Mill', timeZoneId: 'UTC', ...members }));
}

export async function createSource(client: TestClient, siteId: number, members: Members = {}): Promise<number> {
  const made = await client.post<Made>('/sources', { siteId, name: 'Meter', ...members });
  return expectOk(made).id;
}

export async function createVariable(client: TestClient, sourceId: number, members: Members = {}): Promise<number> {
  const made = await client.post<Made>(`/variables/source/${sourceId}`, { name: 'Power', ...members });
  return expectOk(made).id;
}

/** One site with one source and one variable. */
export async function createStructure(client: TestClient, variable: Members = {}) {
  const siteId = await createSite(client);
  const sourceId = await createSource(client, siteId);
  return { siteId, sourceId, variableId: await createVariable(client, sourceId, variable) };
}

interface Made {
  readonly id: number;
}

function expectOk<Body>({ status, body }: TestAnswer<Body>): Body {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}
