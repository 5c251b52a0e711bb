/** Pages that browsers get instead of an error body (R-A5): too many attempts, no such page, or a service failure. */
import { html } from 'hono/html';
import { hintHtml, paragraphHtml } from './form-html.ts';
import { type RenderedPage, renderPage } from './layout.ts';
import { choosePageLanguage, fillText, PAGE_TEXTS, type PageLanguage } from './texts/page-texts.ts';

export interface Problem {
  /** HTTP status of the answer. */
  readonly status: number;
  /** Seconds until the next attempt may succeed; undefined when unknown. */
  readonly waitSec?: number | undefined;
  /** Request id, under which the service logs the problem. */
  readonly requestId: string;
  /** Header `Accept-Language` of the request. */
  readonly languages: string | undefined;
}

/**
 * @returns the page of a problem; undefined when the problem's status has no page. Without a page, the answer is JSON
 * (R-A5).
 */
export function renderProblem(problem: Problem): RenderedPage | undefined {
  const language = choosePageLanguage(problem.languages);
  const texts = textsOf(problem, language);
  if (!texts) return undefined;
  const [title, lead] = texts;
  const reference = fillText(PAGE_TEXTS[language].reference, { requestId: problem.requestId });
  const below = problem.status >= 500 ? html`\n${hintHtml(reference)}` : '';
  return renderPage({ language, title, body: html`${paragraphHtml(lead)}${below}` });
}

function textsOf({ status, waitSec = 60 }: Problem, language: PageLanguage): readonly [string, string] | undefined {
  const texts = PAGE_TEXTS[language];
  if (status === 404) return [texts.missingTitle, texts.missingLead];
  if (status === 429) return [texts.waitTitle, fillText(texts.waitLead, { time: secondsIn(language, waitSec) })];
  if (status === 503) return [texts.failedTitle, texts.downLead];
  return status >= 500 ? [texts.failedTitle, texts.faultLead] : undefined;
}

function secondsIn(language: PageLanguage, seconds: number): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit: 'second', unitDisplay: 'long' }).format(seconds);
}
