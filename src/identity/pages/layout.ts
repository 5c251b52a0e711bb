/** The frame of every page: plain HTML without scripts, and headers that forbid everything the page does not use. */
import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { Html } from './form-html.ts';
import type { PageLanguage } from './texts/page-texts.ts';

export interface Page {
  readonly language: PageLanguage;
  readonly title: string;
  readonly body: Html;
}

export interface RenderedPage {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

const STYLE = `
:root{color-scheme:light dark;--edge:#8a8f98;--accent:#0b5cad;--on-accent:#fff;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--edge:#9aa0a8;--accent:#8ec5ff;--on-accent:#0a1a2b;--bad:#ffb4ab}}
*{box-sizing:border-box}
body{margin:0;font:1.0625rem/1.5 system-ui,sans-serif}
main{max-width:26rem;margin:0 auto;padding:3rem 1.25rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .5rem}
p{margin:0 0 1rem;overflow-wrap:anywhere}
label{display:block;font-weight:600;margin:1rem 0 .25rem}
input{width:100%;font:inherit;padding:.6rem .7rem;border:1px solid var(--edge);border-radius:.4rem}
button{width:100%;font:inherit;font-weight:600;padding:.7rem;margin-top:1.5rem;border:2px solid var(--accent);border-radius:.4rem;
background:var(--accent);color:var(--on-accent);cursor:pointer}
button.second{background:transparent;color:var(--accent);margin-top:.75rem}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.problem{color:var(--bad);font-weight:600}
.hint{font-size:.9375rem;margin:.5rem 0 0}
.more{margin-top:1.5rem}
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * Renders a whole page with its headers.
 * @param formTargets origins, besides the origin of the page, to which the answer to a form may redirect: browsers
 * apply `form-action` to redirects too.
 */
export function renderPage({ language, title, body }: Page, formTargets: readonly string[] = []): RenderedPage {
  const page = html`${raw('<!DOCTYPE html>')}
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
  return { html: String(page), headers: pageHeaders(formTargets) };
}

function pageHeaders(formTargets: readonly string[]): Readonly<Record<string, string>> {
  const policy = [
    `default-src 'none'`,
    `style-src 'sha256-${STYLE_HASH}'`,
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
}
