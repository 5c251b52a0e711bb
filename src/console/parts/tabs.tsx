/** Tabs of a route as links: the address names the tab. */
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import classes from './view.module.css';

interface TabsProps<Name extends string> {
  readonly label: string;
  readonly to: '/console/data' | '/console/people' | '/console/settings';
  readonly names: readonly Name[];
  readonly current: Name;
  readonly textOf: (name: Name) => string;
}

/** A row of links. An address without `tab` shows the first tab. */
export function Tabs<Name extends string>({ label, to, names, current, textOf }: TabsProps<Name>) {
  const list = useRef<HTMLUListElement>(null);
  // In a narrow window, the row scrolls.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current tab decides what is scrolled to
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  return (
    <ul ref={list} className={classes.tabs} aria-label={label}>
      {names.map((name) => (
        <li key={name}>
          <Link
            to={to}
            search={name === names[0] ? {} : { tab: name }}
            className={classes.tab}
            // Compares the query too: without it, the first tab would be marked as current in all others.
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
