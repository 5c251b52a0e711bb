/** Input fields for the names, email address, phone number, role and language of a user, new user or invited person. */
import { NativeSelect, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Role } from '../../session/session.tsx';
import { LANGUAGES } from '../../texts/language.ts';

interface Person {
  readonly language: string;
  readonly role: Role;
}

/** Names of those fields of a person that have a text input. */
type TextName = 'email' | 'userName' | 'firstName' | 'lastName' | 'phoneNumber';

interface PersonFieldsProps<Name extends TextName, Fields extends Person & Readonly<Record<Name, string>>> {
  readonly fields: Fields;
  readonly names: readonly Name[];
  readonly roles: readonly Role[];
  readonly isRoleFixed?: boolean;
  /** Whether the email address is required. New users and invitations require an email address. */
  readonly needsEmail?: boolean;
  readonly onChange: (fields: Fields) => void;
}

export function PersonFields<Name extends TextName, Fields extends Person & Readonly<Record<Name, string>>>({
  fields,
  names,
  roles,
  isRoleFixed = false,
  needsEmail = false,
  onChange,
}: PersonFieldsProps<Name, Fields>) {
  const { t } = useTranslation('people');
  const set = (name: Name | keyof Person) => (event: { readonly currentTarget: { readonly value: string } }) =>
    onChange({ ...fields, [name]: event.currentTarget.value });
  return (
    <>
      {names.map((name) => (
        <TextInput
          key={name}
          required={needsEmail && name === 'email'}
          type={name === 'email' ? 'email' : 'text'}
          label={t(`users.${name}`)}
          description={name === 'userName' ? t('users.userNameHint') : undefined}
          value={fields[name]}
          onChange={set(name)}
        />
      ))}
      <NativeSelect
        label={t('users.role')}
        disabled={isRoleFixed}
        data={roles.map((value) => ({ value, label: t(`role.${value}`) }))}
        value={fields.role}
        onChange={set('role')}
      />
      <NativeSelect
        label={t('users.language')}
        // Adds the user's language to the choices: the user may have a language that the console does not offer.
        data={[...new Set([...Object.keys(LANGUAGES), fields.language])].map((value) => ({
          value,
          label: value in LANGUAGES ? LANGUAGES[value as 'en'] : value,
        }))}
        value={fields.language}
        onChange={set('language')}
      />
    </>
  );
}
