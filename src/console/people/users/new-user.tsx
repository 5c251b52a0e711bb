/** Creates a user without an invitation. The browser keeps the filled-in fields until the user is created. */
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, bodyOf } from '../../api/client.ts';
import { useDraft } from '../../parts/draft.ts';
import { Problem } from '../../parts/problem.tsx';
import classes from '../../parts/view.module.css';
import { type Role, useSession } from '../../session/session.tsx';
import { notifyDone } from '../../shell/notify.ts';
import { currentLanguage } from '../../texts/language.ts';
import { PersonFields } from './person-fields.tsx';
import { rolesToGive } from './user-fields.ts';

interface Fields {
  readonly email: string;
  readonly userName: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly phoneNumber: string;
  readonly language: string;
  readonly role: Role;
}

/** Shows the input fields for a new user in the tab "Users". */
export function NewUser() {
  const { t } = useTranslation('people');
  const { role } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const empty: Fields = {
    ...{ email: '', userName: '', firstName: '', lastName: '', phoneNumber: '' },
    ...{ language: currentLanguage(), role: 'USER' },
  };
  const [fields, setFields, dropFields] = useDraft<Fields>('user.new', empty);
  const create = useMutation({
    mutationFn: () => bodyOf(api.POST('/account/user/create', { body: toBody(fields) })),
    onSuccess: async () => {
      dropFields(empty);
      notifyDone(t('users.created', { email: fields.email }));
      await queries.invalidateQueries({ queryKey: ['users'] });
      await navigate({ to: '/console/people' });
    },
  });
  const names = ['email', 'userName', 'firstName', 'lastName', 'phoneNumber'] as const;
  return (
    <>
      <p className={classes.bar}>
        <Link to="/console/people">{t('users.all')}</Link>
      </p>
      <form
        className={classes.card}
        aria-labelledby="new-user"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <h2 id="new-user">{t('users.create')}</h2>
        <p className={classes.soft}>
          {t('users.createHint')}{' '}
          <Link to="/console/people" search={{ tab: 'invitations' }}>
            {t('invitations.invite')}
          </Link>
        </p>
        <div className={`${classes.form} ${classes.bar}`}>
          <PersonFields needsEmail fields={fields} names={names} roles={rolesToGive(role)} onChange={setFields} />
        </div>
        {create.error && <Problem error={create.error} />}
        <p className={classes.bar}>
          <Button type="submit" loading={create.isPending}>
            {t('users.createButton')}
          </Button>
        </p>
      </form>
    </>
  );
}

function toBody({ email, userName, firstName, lastName, phoneNumber, language, role }: Fields) {
  const names = { firstName: firstName || null, lastName: lastName || null, phoneNumber: phoneNumber || null };
  return { email: email.trim(), userName: userName.trim() || email.trim(), ...names, language, roles: [role] };
}
