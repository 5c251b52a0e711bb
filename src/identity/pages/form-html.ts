/**
 * Parts of pages: forms with labelled fields, problems that screen readers announce, paragraphs, links. `html` escapes
 * every value.
 */
import { html, raw } from 'hono/html';

/** Escaped HTML, the result of the `html` tag. */
export type Html = ReturnType<typeof html>;

export interface FieldHtml {
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'password';
  /** Autofill name of the field (https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#autofill). */
  readonly autocomplete: 'username' | 'current-password' | 'new-password';
  readonly value?: string;
  readonly hint?: string;
  readonly isFirst?: boolean;
}

export interface FormHtml {
  readonly fields: readonly FieldHtml[];
  readonly button: string;
  /** Why the previous attempt was refused. */
  readonly problem?: string | undefined;
  /** Hint that the page shows above the form and below `problem`. */
  readonly advice?: string | undefined;
  /** User name for a hidden field. Password managers store the password under this name. */
  readonly userName?: string | undefined;
}

/** A form that posts to the URL of its page. */
export function formHtml({ fields, button, problem, advice, userName }: FormHtml): Html {
  const owner =
    userName === undefined
      ? ''
      : html`<input type="text" id="username" autocomplete="username" value="${userName}" readonly hidden>`;
  return html`${problem === undefined ? '' : html`<p class="problem" role="alert" id="problem">${problem}</p>`}
${advice === undefined ? '' : hintHtml(advice)}
<form method="post">
${owner}
${fields.map((field) => html`${fieldHtml(field, problem !== undefined)}\n`)}<button type="submit">${button}</button>
</form>`;
}

function fieldHtml(field: FieldHtml, isWrong: boolean): Html {
  const { name, label, hint } = field;
  const below = hint === undefined ? '' : html`\n<p class="hint" id="${name}-hint">${hint}</p>`;
  return html`<label for="${name}">${label}</label>\n<input ${attributesHtml(field, isWrong)}>${below}`;
}

function attributesHtml({ name, type, autocomplete, value, hint, isFirst }: FieldHtml, isWrong: boolean): Html {
  const described = [isWrong ? 'problem' : '', hint === undefined ? '' : `${name}-hint`].filter(Boolean).join(' ');
  return html`id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required${[
    value === undefined ? '' : html` value="${value}"`,
    type === 'text' ? raw(' autocapitalize="none" spellcheck="false"') : '',
    isFirst ? ' autofocus' : '',
    isWrong ? raw(' aria-invalid="true"') : '',
    described === '' ? '' : html` aria-describedby="${described}"`,
  ]}`;
}

/** A paragraph. @param text plain text: markup in it is escaped. */
export function paragraphHtml(text: string): Html {
  return html`<p>${text}</p>`;
}

/** A hint in smaller type. @param text plain text: markup in it is escaped. */
export function hintHtml(text: string): Html {
  return html`<p class="hint">${text}</p>`;
}

/**
 * A paragraph with a link.
 * @param address the URL that the link opens; never a URL that a client sent.
 * @param label the text of the link, as plain text: markup in it is escaped.
 */
export function linkHtml(address: string, label: string): Html {
  return html`<p class="more"><a href="${address}">${label}</a></p>`;
}
