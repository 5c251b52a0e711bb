/** Parts of forms: labelled fields, problems that are read out, buttons. Everything given is text and escaped here. */
import { escapeHtml } from '../../platform/mail/mail-render.ts';

export interface FieldHtml {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'password';
  /** https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#autofill */
  readonly autocomplete: 'username' | 'current-password' | 'new-password';
  readonly value?: string;
  readonly hint?: string;
  readonly isFirst?: boolean;
}

export interface FormHtml {
  readonly fields: readonly FieldHtml[];
  readonly button: string;
  /** What was wrong with the last attempt. */
  readonly problem?: string | undefined;
  /** What there is to know about it. */
  readonly advice?: string | undefined;
  /** Whose form it is, unseen: password managers file the password under it. */
  readonly userName?: string | undefined;
}

/** A form that posts to the address of its page. */
export function formHtml({ fields, button, problem, advice, userName }: FormHtml): string {
  const owner =
    userName === undefined
      ? ''
      : `<input type="text" id="username" autocomplete="username" value="${escapeHtml(userName)}" readonly hidden>`;
  return [
    problem === undefined ? '' : `<p class="problem" role="alert" id="problem">${escapeHtml(problem)}</p>`,
    advice === undefined ? '' : `<p class="hint">${escapeHtml(advice)}</p>`,
    '<form method="post">',
    owner,
    ...fields.map((field) => fieldHtml(field, problem !== undefined)),
    `<button type="submit">${escapeHtml(button)}</button>`,
    '</form>',
  ].join('\n');
}

function fieldHtml({ name, label, type, autocomplete, value, hint, isFirst }: FieldHtml, isWrong: boolean): string {
  const described = [isWrong ? 'problem' : '', hint === undefined ? '' : `${name}-hint`].filter(Boolean).join(' ');
  const attributes = [
    `id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required`,
    value === undefined ? '' : `value="${escapeHtml(value)}"`,
    type === 'text' ? 'autocapitalize="none" spellcheck="false"' : '',
    isFirst ? 'autofocus' : '',
    isWrong ? 'aria-invalid="true"' : '',
    described === '' ? '' : `aria-describedby="${described}"`,
  ];
  const below = hint === undefined ? '' : `\n<p class="hint" id="${name}-hint">${escapeHtml(hint)}</p>`;
  return `<label for="${name}">${escapeHtml(label)}</label>\n<input ${attributes.filter(Boolean).join(' ')}>${below}`;
}

export function paragraphHtml(text: string): string {
  return `<p>${escapeHtml(text)}</p>`;
}

export function linkHtml(address: string, label: string): string {
  return `<p class="more"><a href="${escapeHtml(address)}">${escapeHtml(label)}</a></p>`;
}
