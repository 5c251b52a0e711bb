/** Shows an error. An error of the API is shown with its details and with the request id, which support asks for. */
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client.ts';
import { Icon } from '../shell/icon.tsx';
import classes from './problem.module.css';

interface ProblemProps {
  readonly error: unknown;
  /** Called when the user presses the button "Try again". Without this function, the box has no such button. */
  readonly onRetry?: () => void;
}

/** A box with the message of an error. When `onRetry` is given, the box also has a button that calls `onRetry`. */
export function Problem({ error, onRetry }: ProblemProps) {
  const { t } = useTranslation();
  const { requestId, details = [] } = error instanceof ApiError ? error : {};
  return (
    <div className={classes.problem} role="alert">
      <Icon name="alert" size={20} />
      <div className={classes.text}>
        <p className={classes.message}>{error instanceof Error ? error.message : String(error)}</p>
        {details.length > 0 && (
          <ul className={classes.details}>
            {details.map(({ path, message }) => (
              <li key={path + message}>
                <code>{path}</code> {message}
              </li>
            ))}
          </ul>
        )}
        {requestId !== undefined && <p className={classes.request}>{t('problem.request', { id: requestId })}</p>}
      </div>
      {onRetry && (
        <Button variant="default" size="xs" onClick={onRetry}>
          {t('problem.retry')}
        </Button>
      )}
    </div>
  );
}
