/** The frame around every route: the navigation is at the side, or at the bottom of a narrow window. */
import { Link, Outlet } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSession } from '../session/session.tsx';
import { Icon, type IconName } from './icon.tsx';
import classes from './shell.module.css';
import mark from './tidemark.svg';
import { UserMenu } from './user-menu.tsx';

const ROUTES = [
  { to: '/', icon: 'home', text: 'shell.home' },
  { to: '/console/find', icon: 'find', text: 'shell.find' },
  { to: '/console/data', icon: 'push', text: 'shell.data' },
  { to: '/console/webhooks', icon: 'webhook', text: 'shell.webhooks', needs: 'MANAGER' },
  { to: '/console/people', icon: 'user', text: 'shell.people', needs: 'MANAGER' },
  { to: '/console/settings', icon: 'settings', text: 'shell.settings', needs: 'MANAGER' },
  { to: '/console/operate', icon: 'queue', text: 'shell.operate', needs: 'ADMIN' },
] as const satisfies readonly {
  readonly to: string;
  readonly icon: IconName;
  readonly text: string;
  /** The lowest role that may open the route; absent means every role. */
  readonly needs?: 'MANAGER' | 'ADMIN';
}[];

/** The first tab stop of the frame is a link that skips the navigation. */
export function Shell() {
  const { t } = useTranslation();
  const { role } = useSession();
  const routes = ROUTES.filter((each) => !('needs' in each) || role === 'ADMIN' || role === each.needs);
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#content">
        {t('shell.skip')}
      </a>
      <header className={classes.side}>
        <Link to="/" className={classes.brand}>
          <img src={mark} alt="" width="28" height="28" />
          <span>Tidemark</span>
        </Link>
        <nav className={classes.routes} aria-label={t('shell.navigation')}>
          {routes.map(({ to, icon, text }) => (
            <Link
              key={to}
              to={to}
              className={classes.route}
              activeProps={{ 'aria-current': 'page' }}
              activeOptions={{ exact: to === '/' }}
            >
              <Icon name={icon} size={20} />
              <span>{t(text)}</span>
            </Link>
          ))}
        </nav>
        <UserMenu />
      </header>
      <main id="content" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}
