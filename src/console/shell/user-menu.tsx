/** The menu of the signed-in user: account, language, colours, password, signing out. */
import { Menu, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../api/client.ts';
import { useSession } from '../session/session.tsx';
import { leave, signIn, signOut } from '../session/sign-in.ts';
import { chooseLanguage, currentLanguage, LANGUAGES, type Language } from '../texts/language.ts';
import { Icon } from './icon.tsx';
import { notifyProblem } from './notify.ts';
import classes from './user-menu.module.css';

const SCHEMES = ['light', 'dark', 'auto'] as const;

/** A button with the person's name and account, and the menu behind it. */
export function UserMenu() {
  const { t } = useTranslation();
  const session = useSession();
  const accounts = useQuery({
    queryKey: ['accounts'],
    queryFn: () => bodyOf(api.GET('/account/user/accounts')),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const account = accounts.data?.find(({ id }) => id === session.accountId);
  return (
    <Menu position="top-start" width={260}>
      <Menu.Target>
        <button type="button" className={classes.button}>
          <VisuallyHidden>{t('user.menu')}</VisuallyHidden>
          <span className={classes.initials} aria-hidden="true">
            {initials(session.name)}
          </span>
          <span className={classes.text}>
            <span className={classes.name}>{session.name}</span>
            <span className={classes.account}>{account?.name ?? t(`role.${session.role}`)}</span>
          </span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t(`role.${session.role}`)}</Menu.Label>
        <Accounts accounts={accounts.data ?? []} />
        <LanguageItems />
        <SchemeItems />
        <Menu.Divider />
        <Menu.Item onClick={() => void openPasswordPage()}>{t('user.password')}</Menu.Item>
        <Menu.Item leftSection={<Icon name="leave" />} onClick={() => void signOut()}>
          {t('user.signOut')}
        </Menu.Item>
        <Menu.Item onClick={() => void signOutEverywhere()}>{t('user.signOutEverywhere')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

interface NamedAccount {
  readonly id?: number;
  readonly name?: string;
}

/** The accounts of a person with several accounts. The whole console changes to the account that the person chooses. */
function Accounts({ accounts }: { readonly accounts: readonly NamedAccount[] }) {
  const { t } = useTranslation();
  const { accountId } = useSession();
  if (accounts.length < 2) return null;
  return (
    <>
      <Menu.Label>{t('user.accounts')}</Menu.Label>
      <div className={classes.accounts}>
        {accounts.map(({ id = 0, name }) => (
          <Menu.Item
            key={id}
            rightSection={id === accountId && <Icon name="check" />}
            onClick={() => void switchAccount(id)}
          >
            {name}
          </Menu.Item>
        ))}
      </div>
    </>
  );
}

function LanguageItems() {
  const { t } = useTranslation();
  return (
    <Menu.Sub>
      <Menu.Sub.Target>
        <Menu.Sub.Item>{t('user.language')}</Menu.Sub.Item>
      </Menu.Sub.Target>
      <Menu.Sub.Dropdown>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <Menu.Item
            key={code}
            lang={code}
            rightSection={code === currentLanguage() && <Icon name="check" />}
            onClick={() => void chooseLanguage(code as Language)}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Sub.Dropdown>
    </Menu.Sub>
  );
}

function SchemeItems() {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu.Sub>
      <Menu.Sub.Target>
        <Menu.Sub.Item>{t('user.colours')}</Menu.Sub.Item>
      </Menu.Sub.Target>
      <Menu.Sub.Dropdown>
        {SCHEMES.map((scheme) => (
          <Menu.Item
            key={scheme}
            rightSection={scheme === colorScheme && <Icon name="check" />}
            onClick={() => setColorScheme(scheme)}
          >
            {t(`user.scheme.${scheme}`)}
          </Menu.Item>
        ))}
      </Menu.Sub.Dropdown>
    </Menu.Sub>
  );
}

/** Switches to another account. A token is for one account, so the user signs in again and returns to Home. */
async function switchAccount(accountId: number): Promise<void> {
  try {
    const path = { accountId };
    await bodyOf(api.POST('/account/user/active-account/{accountId}', { params: { path } }));
    await signIn('/');
  } catch (error) {
    notifyProblem(error);
  }
}

async function signOutEverywhere(): Promise<void> {
  try {
    await bodyOf(api.POST('/user/signOut'));
    await leave();
  } catch (error) {
    notifyProblem(error);
  }
}

async function openPasswordPage(): Promise<void> {
  try {
    const { link } = await bodyOf(api.GET('/user/updatePasswordLink'));
    location.assign(link);
  } catch (error) {
    notifyProblem(error);
  }
}

function initials(name: string): string {
  const words = name.split(/[\s.@_-]+/).filter(Boolean);
  return words
    .slice(0, 2)
    .map((word) => word[0]?.toUpperCase() ?? '')
    .join('');
}
