/** The form for a new password; after a refused attempt, it also shows why the attempt was refused. */
import type { PasswordProblem } from '../passwords/password-rules.ts';
import { type FieldHtml, formHtml, type Html } from './form-html.ts';
import { fillText, PAGE_TEXTS, type PageLanguage } from './texts/page-texts.ts';

export type FormProblem = PasswordProblem | 'wrong_password';

export interface PasswordForm {
  readonly language: PageLanguage;
  readonly minLength: number;
  readonly asksCurrent: boolean;
  readonly problem?: FormProblem | undefined;
  readonly userName: string;
}

const PROBLEM_TEXTS = {
  wrong_password: 'wrongPassword',
  too_short: 'tooShort',
  too_long: 'tooLong',
  is_name: 'isName',
  unchanged: 'unchanged',
  different: 'different',
} as const satisfies Record<FormProblem, string>;

/** If `asksCurrent` is true, asks for the current password first. Then asks for the new password twice. */
export function passwordFormHtml({ language, minLength, asksCurrent, problem, userName }: PasswordForm): Html {
  const texts = PAGE_TEXTS[language];
  const current: FieldHtml = {
    name: 'currentPassword',
    label: texts.currentPassword,
    type: 'password',
    autocomplete: 'current-password',
    isFirst: true,
  };
  const chosen: readonly FieldHtml[] = [
    {
      name: 'newPassword',
      label: texts.newPassword,
      type: 'password',
      autocomplete: 'new-password',
      hint: fillText(texts.passwordHint, { min: minLength }),
      isFirst: !asksCurrent,
    },
    { name: 'repeatedPassword', label: texts.repeatedPassword, type: 'password', autocomplete: 'new-password' },
  ];
  return formHtml({
    fields: asksCurrent ? [current, ...chosen] : chosen,
    button: texts.savePassword,
    problem: problem && fillText(texts[PROBLEM_TEXTS[problem]], { min: minLength }),
    userName,
  });
}
