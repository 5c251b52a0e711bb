/**
 * The Find page: a search box with the results below. While there is no search text, the tree replaces the results. The
 * URL contains the search text, so users can share a search.
 */
import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useSession } from '../session/session.tsx';
import { Icon } from '../shell/icon.tsx';
import classes from './find.module.css';
import { Results } from './results.tsx';
import { Tree } from './tree.tsx';

const DEBOUNCE_MS = 200;
const route = getRouteApi('/console/find');

/** Renders the route. */
export function Find() {
  const { t } = useTranslation();
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const { mayManage } = useSession();
  const [text, setText] = useState(q);
  // Typing changes the URL. When a link or the Back button changes the URL, the box shows the URL's search text.
  const [address, setAddress] = useState(q);
  if (address !== q) {
    setAddress(q);
    if (text.trim() !== q) setText(q);
  }
  const search = useDebouncedCallback((typed: string) => {
    void navigate({ search: typed === '' ? {} : { q: typed }, replace: true });
  }, DEBOUNCE_MS);
  const type = (typed: string) => {
    setText(typed);
    search(typed.trim());
  };
  return (
    <>
      <div className={classes.heading}>
        <h1>{t('find.title')}</h1>
        {mayManage && (
          <p className={classes.links}>
            <Link to="/console/sites/new">{t('find.newSite')}</Link>
            <Link to="/console/variables/new">{t('calculated.make')}</Link>
          </p>
        )}
      </div>
      <TextInput
        className={classes.box ?? ''}
        size="md"
        type="search"
        autoFocus
        aria-label={t('find.box')}
        placeholder={t('find.placeholder')}
        leftSection={<Icon name="find" />}
        rightSection={text !== '' && <CloseButton aria-label={t('find.clear')} onClick={() => type('')} />}
        value={text}
        onChange={(event) => type(event.currentTarget.value)}
      />
      <p className={classes.hint}>{t('find.hint')}</p>
      {q === '' ? <Tree /> : <Results text={q} />}
    </>
  );
}
