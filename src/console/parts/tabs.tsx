/** Parts of a route as links: the address names the part that is shown. */
import { Link } from '@tanstack/react-router';
import classes from './view.module.css';

interface TabsProps<Name extends string> {
  readonly label: string;
  readonly to: '/console/data' | '/console/people';
  readonly names: readonly Name[];
  readonly current: Name;
  readonly textOf: (name: Name) => string;
}

/** A row of links. The first name is the part that an address without `tab` shows. */
export function Tabs<Name extends string>({ label, to, names, current, textOf }: TabsProps<Name>) {
  return (
    <ul className={classes.tabs} aria-label={label}>
      {names.map((name) => (
        <li key={name}>
          <Link
            to={to}
            search={name === names[0] ? {} : { tab: name }}
            className={classes.tab}
            // Without the query, the first part would be current in every other one.
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
