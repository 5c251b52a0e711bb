/** What a person sees where a program would get an error body (R-A5): too many tries, no such page, a fault of ours. */
import { escapeHtml } from '../../platform/mail/mail-render.ts';
import { paragraphHtml } from './form-html.ts';
import { type RenderedPage, renderPage } from './layout.ts';
import { choosePageLanguage, fillText, PAGE_TEXTS, type PageLanguage } from './texts/page-texts.ts';

export interface Problem {
  /** HTTP status. */
  readonly status: number;
  /** After how many seconds to try again; undefined: not said. */
  readonly waitSec?: number | undefined;
  /** What those who run the service find it by. */
  readonly requestId: string;
  /** `Accept-Language`. */
  readonly languages: string | undefined;
}

/** The page for it; undefined for what is told to programs alone. */
export function renderProblem(problem: Problem): RenderedPage | undefined {
  const language = choosePageLanguage(problem.languages);
  const words = wordsOf(problem, language);
  if (!words) return undefined;
  const [title, lead] = words;
  const reference = fillText(PAGE_TEXTS[language].reference, { requestId: problem.requestId });
  const body = [paragraphHtml(lead)];
  if (problem.status >= 500) body.push(`<p class="hint">${escapeHtml(reference)}</p>`);
  return renderPage({ language, title, body: body.join('\n') });
}

function wordsOf({ status, waitSec = 60 }: Problem, language: PageLanguage): readonly [string, string] | undefined {
  const texts = PAGE_TEXTS[language];
  if (status === 404) return [texts.missingTitle, texts.missingLead];
  if (status === 429) return [texts.waitTitle, fillText(texts.waitLead, { time: secondsIn(language, waitSec) })];
  if (status === 503) return [texts.failedTitle, texts.downLead];
  return status >= 500 ? [texts.failedTitle, texts.faultLead] : undefined;
}

function secondsIn(language: PageLanguage, seconds: number): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit: 'second', unitDisplay: 'long' }).format(seconds);
}
