/** Form for the fields of an OAuth client. */
import { Checkbox, Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from '../../parts/view.module.css';
import { type ClientFields, GRANT_TYPES, SCOPES } from './client-fields.ts';

interface ClientFormProps {
  readonly fields: ClientFields;
  /** Whether the client is being created. Only then can the user choose its id and whether it has a secret. */
  readonly isNew: boolean;
  readonly onChange: (fields: ClientFields) => void;
}

/** Shows the fields; the caller saves them. */
export function ClientForm({ fields, isNew, onChange }: ClientFormProps) {
  const { t } = useTranslation('people');
  const set =
    (name: 'clientId' | 'name' | 'redirectUris' | 'logoutUris') =>
    (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange({ ...fields, [name]: event.currentTarget.value });
  const isSignedInByBrowser = fields.grantTypes.includes('authorization_code');
  return (
    <div className={classes.form}>
      {isNew && (
        <TextInput
          required
          label={t('clients.clientId')}
          description={t('clients.clientIdHint')}
          value={fields.clientId}
          onChange={set('clientId')}
        />
      )}
      <TextInput
        label={t('clients.name')}
        description={t('clients.nameHint')}
        value={fields.name}
        onChange={set('name')}
      />
      {isNew && (
        <Checkbox
          className={classes.wide ?? ''}
          label={t('clients.isPublic')}
          description={t('clients.isPublicHint')}
          checked={fields.isPublic}
          onChange={({ currentTarget: { checked } }) => onChange(publicChoice(fields, checked))}
        />
      )}
      <Choices
        label={t('clients.scopes')}
        names={SCOPES}
        chosen={fields.scopes}
        onChange={(scopes) => onChange({ ...fields, scopes })}
      />
      <Choices
        label={t('clients.grants')}
        names={GRANT_TYPES}
        chosen={fields.grantTypes}
        onChange={(grantTypes) => onChange({ ...fields, grantTypes })}
      />
      <Textarea
        className={`${classes.area} ${classes.wide}`}
        required={isSignedInByBrowser}
        label={t('clients.redirectUris')}
        description={t('clients.redirectUrisHint')}
        rows={2}
        spellCheck={false}
        value={fields.redirectUris}
        onChange={set('redirectUris')}
      />
      <Textarea
        className={`${classes.area} ${classes.wide}`}
        label={t('clients.logoutUris')}
        description={t('clients.urisHint')}
        rows={2}
        spellCheck={false}
        value={fields.logoutUris}
        onChange={set('logoutUris')}
      />
    </div>
  );
}

/**
 * @returns `fields` with the given `isPublic` and the usual grant types. A public client usually signs users in through
 * a browser. A client with a secret usually signs users in with their passwords.
 */
function publicChoice(fields: ClientFields, isPublic: boolean): ClientFields {
  return { ...fields, isPublic, grantTypes: [isPublic ? 'authorization_code' : 'password', 'refresh_token'] };
}

interface ChoicesProps {
  readonly label: string;
  readonly names: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

function Choices({ label, names, chosen, onChange }: ChoicesProps) {
  return (
    <fieldset className={classes.plain}>
      <legend className={classes.fieldLabel}>{label}</legend>
      {names.map((name) => (
        <Checkbox
          key={name}
          className={classes.bar ?? ''}
          label={name.split(':').at(-1)}
          checked={chosen.includes(name)}
          onChange={({ currentTarget: { checked } }) =>
            onChange(checked ? [...chosen, name] : chosen.filter((other) => other !== name))
          }
        />
      ))}
    </fieldset>
  );
}
