/** The secret of a client. The API returns a secret only once, and only the memory of the page keeps the secret. */
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { copyText } from '../../parts/copy-text.ts';
import classes from '../../parts/view.module.css';
import { notifyDone, notifyProblem } from '../../shell/notify.ts';

/** Shows the secret, with a button that copies it. */
export function SecretCard({ secret }: { readonly secret: string }) {
  const { t } = useTranslation('people');
  const copy = () => copyText(secret).then(() => notifyDone(t('clients.secretCopied')), notifyProblem);
  return (
    <section className={classes.card} aria-labelledby="client-secret" role="status">
      <h2 id="client-secret">{t('clients.secret')}</h2>
      <p className={classes.soft}>{t('clients.secretHint')}</p>
      <pre className={`${classes.code} ${classes.bar}`}>{secret}</pre>
      <p className={classes.bar}>
        <Button variant="default" onClick={() => void copy()}>
          {t('clients.copySecret')}
        </Button>
      </p>
    </section>
  );
}
