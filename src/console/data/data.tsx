/** The page "Import data": files of points, the structure, pushes with rejected elements, mappers. */
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { TabbedHeader } from '../parts/tabs.tsx';
import { useSession } from '../session/session.tsx';
import { FilePage } from './files/file-page.tsx';
import { Files } from './files/files.tsx';
import { MapperPage } from './mappers/mapper-page.tsx';
import { Mappers } from './mappers/mappers.tsx';
import { Pushes } from './pushes/pushes.tsx';
import { Structure } from './structure/structure.tsx';
import './texts.ts';

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
      {current === 'mappers' && (mapper === undefined ? <Mappers /> : <MapperPage key={mapper} id={mapper} />)}
    </>
  );
}
