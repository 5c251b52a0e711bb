/** Texts for the email about a disabled webhook: the reason, and the URL without the parts that may be secret. */

export type DisableReason =
  | { readonly kind: 'gone' }
  /** No attempt succeeded for this many days. */
  | { readonly kind: 'failing'; readonly days: number };

type Language = 'en' | 'fr' | 'nl' | 'de';

const GONE: Readonly<Record<Language, string>> = {
  en: 'its receiver answered 410 Gone and wants no more messages.',
  fr: 'son destinataire a répondu 410 Gone : il ne veut plus de messages.',
  nl: 'de ontvanger antwoordde 410 Gone: hij wil geen berichten meer.',
  de: 'der Empfänger hat 410 Gone geantwortet: Er möchte keine Nachrichten mehr.',
};

const FAILING: Readonly<Record<Language, (days: number) => string>> = {
  en: (days) => `nothing could be delivered for ${days} ${days === 1 ? 'day' : 'days'}.`,
  fr: (days) => `rien n’a pu être remis pendant ${days} ${days === 1 ? 'jour' : 'jours'}.`,
  nl: (days) => `er kon ${days} ${days === 1 ? 'dag' : 'dagen'} lang niets worden afgeleverd.`,
  de: (days) => `${days} ${days === 1 ? 'Tag' : 'Tage'} lang konnte nichts zugestellt werden.`,
};

/** @returns a clause in `language` that states the reason; the email puts the clause after a colon. */
export function disableReason(reason: DisableReason, language: Language): string {
  return reason.kind === 'gone' ? GONE[language] : FAILING[language](reason.days);
}

/** @returns the URL without query, fragment, user and password, because these parts may be secret. */
export function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1');
}
