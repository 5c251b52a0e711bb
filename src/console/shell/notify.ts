/** Shows short messages at the edge of the window. */
import { notifications } from '@mantine/notifications';
import i18next from 'i18next';
import { ApiError } from '../api/client.ts';

/** Shows the error of a failed action, with the id of the request if the API gave one. */
export function notifyProblem(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  notifications.show({
    color: 'red',
    title: i18next.t('problem.title'),
    message: requestId === undefined ? message : `${message} ${i18next.t('problem.request', { id: requestId })}`,
    autoClose: 15_000,
  });
}

/** Shows that an action succeeded. */
export function notifyDone(message: string): void {
  notifications.show({ message });
}
