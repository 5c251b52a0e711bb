import pg from 'pg';

/** Makes `template` a template database that accepts no connections: an open connection would block `cloneTemplate`. */
export async function freezeTemplate(serverUrl: string, template: string): Promise<void> {
  await withServer(serverUrl, async (client) => {
    await client.query(
      `alter database ${client.escapeIdentifier(template)} with allow_connections false is_template true`,
    );
  });
}

/** Creates `database` as a copy of `template`; takes 0.1 to 0.3 s. */
export async function cloneTemplate(serverUrl: string, template: string, database: string): Promise<void> {
  await withServer(serverUrl, async (client) => {
    const [copy, original] = [client.escapeIdentifier(database), client.escapeIdentifier(template)];
    await client.query(`create database ${copy} template ${original}`);
  });
}

/** Creates `database` from template0. The new database has no tables and no TimescaleDB. */
export async function createEmptyDatabase(serverUrl: string, database: string): Promise<void> {
  await withServer(serverUrl, async (client) => {
    await client.query(`create database ${client.escapeIdentifier(database)} template template0`);
  });
}

/** Drops `database` after ending all connections to it. */
export async function dropDatabase(serverUrl: string, database: string): Promise<void> {
  await withServer(serverUrl, async (client) => {
    await client.query(`drop database if exists ${client.escapeIdentifier(database)} with (force)`);
  });
}

async function withServer(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
