/** The page "Import data" shows pushes and files of points; for MANAGER and ADMIN users, also structure and mappers. */
import { Skeleton } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { TabbedHeader } from '../parts/tabs.tsx';
import { useSession } from '../session/session.tsx';
import { addTexts } from '../texts/view-texts.ts';
import { FilePage } from './files/file-page.tsx';
import { Files } from './files/files.tsx';
import { Mappers } from './mappers/mappers.tsx';
import { Pushes } from './pushes/pushes.tsx';
import { Structure } from './structure/structure.tsx';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { fr } from './texts/fr.ts';
import { nl } from './texts/nl.ts';

addTexts('data', { en, fr, de, nl });

/** The page of a mapper has an editor, whose code loads when a mapper is opened. */
const MapperPage = lazy(async () => ({ default: (await import('./mappers/mapper-page.tsx')).MapperPage }));

const route = getRouteApi('/console/data');

/** Renders the route. */
export function DataPage() {
  const { t } = useTranslation('data');
  const { mayManage } = useSession();
  const { tab = 'files', file, import: importId, label, mapper } = route.useSearch();
  const names = mayManage ? (['files', 'structure', 'pushes', 'mappers'] as const) : (['files', 'pushes'] as const);
  const current = names.find((name) => name === tab) ?? 'files';
  return (
    <>
      <TabbedHeader
        title={t('title')}
        lead={t(`lead.${current}`)}
        to="/console/data"
        names={names}
        current={current}
        textOf={(name) => t(`tab.${name}`)}
      />
      {current === 'files' && (file === undefined ? <Files /> : <FilePage key={file} id={file} />)}
      {current === 'structure' && <Structure importId={importId} />}
      {current === 'pushes' && <Pushes label={label} />}
      {current === 'mappers' && mapper === undefined && <Mappers />}
      {current === 'mappers' && mapper !== undefined && (
        <Suspense fallback={<Skeleton height={300} radius="md" />}>
          <MapperPage key={mapper} id={mapper} />
        </Suspense>
      )}
    </>
  );
}
