/** Invitations: a person gets an email with a link, accepts on the linked page, and becomes a user of the account. */
import { Button, Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { useDraft } from '../../parts/draft.ts';
import { Ago } from '../../parts/moment.tsx';
import { Problem } from '../../parts/problem.tsx';
import { State, type Tone } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import classes from '../../parts/view.module.css';
import { type Role, useSession } from '../../session/session.tsx';
import { notifyDone } from '../../shell/notify.ts';
import { currentLanguage } from '../../texts/language.ts';
import { PersonFields } from '../users/person-fields.tsx';
import { rolesToGive } from '../users/user-fields.ts';

interface Fields {
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly language: string;
  readonly role: Role;
}

const TONES: Readonly<Record<'Waiting' | 'Sent' | 'Expired' | 'Accepted', Tone>> = {
  Waiting: 'plain',
  Sent: 'warn',
  Expired: 'bad',
  Accepted: 'good',
};

/** The tab "Invitations". */
export function Invitations() {
  const { t } = useTranslation('people');
  const queries = useQueryClient();
  const renew = () => queries.invalidateQueries({ queryKey: ['invitations'] });
  const invitations = useQuery({
    queryKey: ['invitations'],
    queryFn: () => bodyOf(api.GET('/account/invitations')),
  });
  const resend = useMutation({
    mutationFn: (id: string) => bodyOf(api.POST('/account/invitations/{id}/resend', { params: { path: { id } } })),
    onSuccess: async () => {
      notifyDone(t('invitations.resent'));
      await renew();
    },
  });
  const remove = useMutation({
    mutationFn: (id: string) => bodyOf(api.DELETE('/account/invitations/{id}', { params: { path: { id } } })),
    onSuccess: renew,
  });
  const error = invitations.error ?? resend.error ?? remove.error;
  return (
    <>
      <Invite onSent={renew} />
      {error && <Problem error={error} />}
      {invitations.isPending && <Skeleton height={160} radius="md" />}
      {invitations.data?.length === 0 && (
        <div className={classes.empty}>
          <p>{t('invitations.none')}</p>
        </div>
      )}
      {invitations.data && invitations.data.length > 0 && (
        <section className={classes.card} aria-label={t('tab.invitations')}>
          <Table
            label={t('tab.invitations')}
            columns={[t('users.email'), t('users.role'), t('invitations.sent'), t('users.state'), t('actions')]}
          >
            {invitations.data.map(({ id, email, role, state, sentDate }) => (
              <tr key={id}>
                <td>{email}</td>
                <td>{t(`role.${role}`)}</td>
                <td>{sentDate ? <Ago instant={sentDate} /> : '–'}</td>
                <td>
                  <State tone={TONES[state]}>{t(`invitations.state.${state}`)}</State>
                </td>
                <td>
                  {state !== 'Accepted' && (
                    <span className={classes.bar}>
                      <Button size="compact-sm" variant="default" onClick={() => resend.mutate(id)}>
                        {t('invitations.resend')}
                      </Button>
                      <ConfirmButton
                        size="compact-sm"
                        label={t('delete')}
                        question={t('invitations.reallyDelete', { email })}
                        onConfirm={() => remove.mutate(id)}
                      />
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        </section>
      )}
    </>
  );
}

function Invite({ onSent }: { readonly onSent: () => Promise<void> }) {
  const { t } = useTranslation('people');
  const { role } = useSession();
  const empty: Fields = { email: '', firstName: '', lastName: '', language: currentLanguage(), role: 'USER' };
  const [fields, setFields, dropFields] = useDraft<Fields>('invitation', empty);
  const invite = useMutation({
    mutationFn: () => {
      const { email, firstName, lastName, language, role: given } = fields;
      const names = { firstName: firstName || null, lastName: lastName || null };
      return bodyOf(
        api.POST('/account/invitations', { body: { email: email.trim(), ...names, language, role: given } }),
      );
    },
    onSuccess: async ({ email }) => {
      dropFields(empty);
      notifyDone(t('invitations.invited', { email }));
      await onSent();
    },
  });
  const names = ['email', 'firstName', 'lastName'] as const;
  return (
    <form
      className={classes.card}
      aria-labelledby="invite"
      onSubmit={(event) => {
        event.preventDefault();
        invite.mutate();
      }}
    >
      <h2 id="invite">{t('invitations.invite')}</h2>
      <div className={classes.form}>
        <PersonFields needsEmail fields={fields} names={names} roles={rolesToGive(role)} onChange={setFields} />
      </div>
      {invite.error && <Problem error={invite.error} />}
      <p className={classes.bar}>
        <Button type="submit" loading={invite.isPending}>
          {t('invitations.send')}
        </Button>
      </p>
    </form>
  );
}
