/** Origins of the versions of a variable: the pushes, files and runs that wrote at a VersionTimestamp. */
import { queryOptions } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { formatVersion } from '../../parts/moment.tsx';

export type Origin = components['schemas']['Origin'];

/** Maximum number of VersionTimestamps in one call. */
const MAX_VERSIONS = 100;
/** Maximum length of a shown label; a longer label is cut. The first characters of a UUID still identify the UUID. */
const SHORT_LABEL = 24;

/** @returns a query for the origins of the first 100 VersionTimestamps; its result is keyed by VersionTimestamp. */
export function originsQuery(variableId: number, versionTimestamps: readonly string[]) {
  const asked = versionTimestamps.slice(0, MAX_VERSIONS);
  return queryOptions({
    queryKey: ['origins', variableId, ...asked],
    queryFn: async (): Promise<ReadonlyMap<string, readonly Origin[]>> => {
      const query = { variableId, versionTimestamps: asked };
      const found = await bodyOf(api.GET('/data/origins', { params: { query } }));
      // The API answers in the order of the VersionTimestamps in the request.
      return new Map(asked.map((versionTimestamp, index) => [versionTimestamp, found[index]?.origins ?? []]));
    },
    enabled: asked.length > 0,
    staleTime: 60_000,
  });
}

/**
 * An origin as the console shows it. `href` is the path of the origin's page; undefined when there is no page that the
 * user may open.
 */
export interface DescribedOrigin {
  readonly title: string;
  readonly details: readonly string[];
  readonly href: string | undefined;
}

/** Describes the origin of a version. */
export function describeOrigin(origin: Origin, t: TFunction<'variable'>, timeZone: string): DescribedOrigin {
  const { kind, operationId, fileId, filename, runId, acceptedDate, uploadedDate, startedDate, isReplay } = origin;
  const at = (date: string) => formatVersion(date, timeZone);
  if (kind === 'File') {
    return {
      title: fileId === undefined ? t('origin.fileOther') : t('origin.file', { name: filename }),
      details: uploadedDate === undefined ? [] : [t('origin.fileOf', { date: at(uploadedDate) })],
      href: fileId && `/console/data?tab=files&file=${fileId}`,
    };
  }
  if (kind === 'Run') {
    const details = startedDate === undefined ? [] : [at(startedDate)];
    return {
      title: t('lineage.run', { id: runId }),
      details,
      href: runId === undefined ? undefined : `/console/runs/${runId}`,
    };
  }
  return {
    title: operationId === undefined ? t('origin.pushOther') : t('origin.push', { id: shorten(operationId) }),
    details: [
      ...(acceptedDate === undefined ? [] : [t('origin.pushOf', { date: at(acceptedDate) })]),
      ...(isReplay ? [t('origin.replay')] : []),
    ],
    href: operationId && `/console/data?tab=pushes&label=${encodeURIComponent(operationId)}`,
  };
}

function shorten(label: string): string {
  return label.length > SHORT_LABEL ? `${label.slice(0, SHORT_LABEL - 1)}…` : label;
}
