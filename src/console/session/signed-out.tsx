/** The page of people who are signed out, or whose sign-in failed. */
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Problem } from '../parts/problem.tsx';
import mark from '../shell/tidemark.svg';
import { signIn } from './sign-in.ts';
import classes from './signed-out.module.css';

/** @param problem why the sign-in failed; undefined: the person signed out. */
export function SignedOut({ problem }: { readonly problem: string | undefined }) {
  const { t } = useTranslation();
  return (
    <main className={classes.page}>
      <img src={mark} alt="" width="48" height="48" />
      <h1>{t(problem === undefined ? 'signedOut.title' : 'signedOut.failed')}</h1>
      {problem !== undefined && <Problem error={new Error(problem)} />}
      <Button size="md" onClick={() => void signIn('/')}>
        {t('signedOut.again')}
      </Button>
    </main>
  );
}
