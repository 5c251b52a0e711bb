/** Checks rules that concern more than one setting. Only config.ts uses this file. */

interface CombinedSettings {
  readonly USER_DIRECTORY: 'embedded' | 'keycloak';
  readonly KEYCLOAK_URL?: string | undefined;
  readonly KEYCLOAK_CLIENT_SECRET?: string | undefined;
  readonly PUSH_BASIC_TOKEN_URL?: string | undefined;
  readonly PUSH_BASIC_CLIENT_ID?: string | undefined;
  readonly DATABASE_POOL_SIZE: number;
  readonly CALC_CONCURRENCY: number;
  readonly INGEST_CONCURRENCY: number;
  readonly FILE_CONCURRENCY: number;
  readonly PUSH_DIRECT_WRITES: number;
}

/** @returns a sentence for each rule that the settings break. */
export function findConflicts(config: CombinedSettings): readonly string[] {
  const needed = poolNeeded(config);
  const isKeycloakIncomplete =
    config.USER_DIRECTORY === 'keycloak' && !(config.KEYCLOAK_URL && config.KEYCLOAK_CLIENT_SECRET);
  const isBasicIncomplete = config.PUSH_BASIC_TOKEN_URL !== undefined && config.PUSH_BASIC_CLIENT_ID === undefined;
  return [
    ...(isKeycloakIncomplete ? ['USER_DIRECTORY=keycloak requires KEYCLOAK_URL and KEYCLOAK_CLIENT_SECRET'] : []),
    ...(isBasicIncomplete ? ['PUSH_BASIC_TOKEN_URL requires PUSH_BASIC_CLIENT_ID'] : []),
    ...(config.DATABASE_POOL_SIZE < needed
      ? [
          `DATABASE_POOL_SIZE must be at least ${needed} for the values of CALC_CONCURRENCY, INGEST_CONCURRENCY, ` +
            `FILE_CONCURRENCY and PUSH_DIRECT_WRITES, got ${config.DATABASE_POOL_SIZE}`,
        ]
      : []),
  ];
}

/**
 * Returns the minimum pool size. Each calculation needs two connections; each ingestion, file and direct write needs
 * one. The further connections of long ingestions do not count, because an ingestion can work without them.
 */
function poolNeeded(config: CombinedSettings): number {
  const { CALC_CONCURRENCY, INGEST_CONCURRENCY, FILE_CONCURRENCY, PUSH_DIRECT_WRITES } = config;
  return 2 * CALC_CONCURRENCY + INGEST_CONCURRENCY + FILE_CONCURRENCY + PUSH_DIRECT_WRITES + 2;
}
