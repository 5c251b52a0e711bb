/** The heading and the tabs of a route. Each tab is a link, because the URL names the current tab. */
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import classes from './view.module.css';

interface TabsProps<Name extends string> {
  /** The heading of the route; screen readers also read it as the name of the list of tabs. */
  readonly title: string;
  readonly to: '/console/data' | '/console/people' | '/console/settings';
  readonly names: readonly Name[];
  readonly current: Name;
  readonly textOf: (name: Name) => string;
}

interface TabbedHeaderProps<Name extends string> extends TabsProps<Name> {
  /** Purpose of the current tab, in one sentence. */
  readonly lead: string;
}

export function TabbedHeader<Name extends string>({ lead, ...tabs }: TabbedHeaderProps<Name>) {
  return (
    <>
      <header className={classes.header}>
        <div>
          <h1>{tabs.title}</h1>
          <p className={classes.lead}>{lead}</p>
        </div>
      </header>
      <Tabs {...tabs} />
    </>
  );
}

/** A row of links. A URL without `tab` shows the first tab. */
function Tabs<Name extends string>({ title, to, names, current, textOf }: TabsProps<Name>) {
  const list = useRef<HTMLUListElement>(null);
  // In a narrow window, the current tab may be outside the visible part of the row.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current tab decides what is scrolled to
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  return (
    <ul ref={list} className={classes.tabs} aria-label={title}>
      {names.map((name) => (
        <li key={name}>
          <Link
            to={to}
            search={name === names[0] ? {} : { tab: name }}
            className={classes.tab}
            // Compares the whole query of the URL. Otherwise, the tab without a query would always be marked as current.
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={name === current ? 'page' : undefined}
          >
            {textOf(name)}
          </Link>
        </li>
      ))}
    </ul>
  );
}
