/** Pages for a site, for a source, for the properties of a variable, and for creating a site, source or variable. */
import { Skeleton } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Forbidden } from '../parts/forbidden.tsx';
import { Problem } from '../parts/problem.tsx';
import classes from '../parts/view.module.css';
import { useSession } from '../session/session.tsx';
import { RetentionPolicy } from '../settings/retention/retention.tsx';
import { notifyDone } from '../shell/notify.ts';
import { addTexts } from '../texts/view-texts.ts';
import { Children } from './children.tsx';
import { DeleteElement, DeletionProgress } from './delete-element.tsx';
import { ElementForm } from './element-form.tsx';
import type { Kind } from './fields.ts';
import { type Stored, type Target, useElement } from './structure-queries.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { fr } from './texts/fr.ts';
import { nl } from './texts/nl.ts';

addTexts('structure', { en, fr, de, nl });

const siteRoute = getRouteApi('/console/sites/$siteId');
const newSourceRoute = getRouteApi('/console/sites/$siteId/new-source');
const sourceRoute = getRouteApi('/console/sources/$sourceId');
const newVariableRoute = getRouteApi('/console/sources/$sourceId/new-variable');
const propertiesRoute = getRouteApi('/console/variables/$variableId/properties');

/** The page of a site, with its sources. */
export function SitePage() {
  const { siteId } = siteRoute.useParams();
  return <ElementPage key={siteId} kind="Site" id={siteId} />;
}

/** The page of a source, with its variables. */
export function SourcePage() {
  const { sourceId } = sourceRoute.useParams();
  return <ElementPage key={sourceId} kind="Source" id={sourceId} />;
}

/** The page of a variable's properties. The variable's data is on another page, `/console/variables/$variableId`. */
export function PropertiesPage() {
  const { variableId } = propertiesRoute.useParams();
  return <ElementPage key={variableId} kind="Variable" id={variableId} />;
}

interface ElementPageProps {
  readonly kind: Kind;
  readonly id: number;
}

function ElementPage({ kind, id }: ElementPageProps) {
  const { t } = useTranslation('structure');
  const { mayManage } = useSession();
  const element = useElement(kind, id);
  const [deletionId, setDeletionId] = useState<string>();
  if (deletionId !== undefined)
    return (
      <>
        <DeletionProgress id={deletionId} />
        <Link to="/console/find">{t('delete.find')}</Link>
      </>
    );
  if (element.error) return <Problem error={element.error} onRetry={() => void element.refetch()} />;
  if (!element.data) return <Skeleton height={420} radius="md" />;
  const stored = element.data;
  const parentId = kind === 'Site' ? undefined : kind === 'Source' ? stored.siteId : stored.sourceId;
  const target: Target = { id, ...(parentId !== undefined && { parentId }) };
  return (
    <>
      <Heading path={<Path kind={kind} stored={stored} />} title={stored.name || `#${id}`}>
        {kind === 'Variable' && (
          <Link to="/console/variables/$variableId" params={{ variableId: id }}>
            {t('data')}
          </Link>
        )}
      </Heading>
      {kind !== 'Variable' && <Children kind={kind} id={id} />}
      <ElementForm kind={kind} target={target} stored={stored} onSaved={() => notifyDone(t('saved'))} />
      {kind === 'Variable' && mayManage && <RetentionPolicy variableId={id} />}
      {mayManage && <DeleteElement kind={kind} stored={stored} onStarted={setDeletionId} />}
    </>
  );
}

interface PathProps {
  readonly kind: Kind;
  readonly stored: Stored;
}

/** The page of a source links to its site, and the page of a variable links to its source. */
function Path({ kind, stored: { siteId = 0, siteName, sourceId = 0, sourceName } }: PathProps) {
  if (kind === 'Site') return null;
  return kind === 'Source' ? (
    <Link to="/console/sites/$siteId" params={{ siteId }}>
      {siteName}
    </Link>
  ) : (
    <Link to="/console/sources/$sourceId" params={{ sourceId }}>
      {sourceName}
    </Link>
  );
}

interface HeadingProps {
  readonly path?: ReactNode;
  readonly title: string;
  readonly lead?: string;
  readonly children?: ReactNode;
}

function Heading({ path, title, lead, children }: HeadingProps) {
  return (
    <header className={classes.header}>
      <div>
        {path && <p className={classes.soft}>{path}</p>}
        <h1>{title}</h1>
        {lead !== undefined && <p className={classes.lead}>{lead}</p>}
      </div>
      {children}
    </header>
  );
}

/** The page that creates a site. */
export function NewSitePage() {
  const { t } = useTranslation('structure');
  const navigate = useNavigate();
  if (!useSession().mayManage) return <Forbidden needs="manager" />;
  return (
    <>
      <Heading title={t('newSite')} lead={t('lead.Site')} />
      <ElementForm
        kind="Site"
        target={{}}
        onSaved={(siteId) => navigate({ to: '/console/sites/$siteId', params: { siteId } })}
      />
    </>
  );
}

/** The page that creates a source. */
export function NewSourcePage() {
  const { siteId } = newSourceRoute.useParams();
  const { t } = useTranslation('structure');
  const navigate = useNavigate();
  const site = useElement('Site', siteId);
  if (!useSession().mayManage) return <Forbidden needs="manager" />;
  if (site.error) return <Problem error={site.error} />;
  return (
    <>
      <Heading
        path={
          <Link to="/console/sites/$siteId" params={{ siteId }}>
            {site.data?.name ?? `#${siteId}`}
          </Link>
        }
        title={t('newSource')}
        lead={t('lead.Source')}
      />
      <ElementForm
        kind="Source"
        target={{ parentId: siteId }}
        onSaved={(sourceId) => navigate({ to: '/console/sources/$sourceId', params: { sourceId } })}
      />
    </>
  );
}

/** The page that creates a variable of a source. Calculated variables have a form of their own. */
export function NewVariablePage() {
  const { sourceId } = newVariableRoute.useParams();
  const { t } = useTranslation('structure');
  const navigate = useNavigate();
  const source = useElement('Source', sourceId);
  if (!useSession().mayManage) return <Forbidden needs="manager" />;
  if (source.error) return <Problem error={source.error} />;
  return (
    <>
      <Heading
        path={
          <Link to="/console/sources/$sourceId" params={{ sourceId }}>
            {source.data?.name ?? `#${sourceId}`}
          </Link>
        }
        title={t('newVariable')}
        lead={t('lead.Variable')}
      >
        <Link to="/console/variables/new">{t('calculated')}</Link>
      </Heading>
      <ElementForm
        kind="Variable"
        target={{ parentId: sourceId }}
        onSaved={(variableId) => navigate({ to: '/console/variables/$variableId', params: { variableId } })}
      />
    </>
  );
}
