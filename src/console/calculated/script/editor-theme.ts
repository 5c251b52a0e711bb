/**
 * Appearance of the editor. Most colours are CSS variables of the console. The shadow root inherits these variables, so
 * the colours follow the light or the dark scheme.
 */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const highlight = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword], color: 'var(--third-line)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.atom, tags.null], color: 'var(--second-line)' },
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.standard(tags.variableName)], color: 'var(--tide-line)' },
]);

const theme = EditorView.theme({
  '&': { color: 'var(--mantine-color-text)', backgroundColor: 'var(--mantine-color-body)', fontSize: '0.875rem' },
  // The editor needs no outline, because the host element of the shadow root shows the focus outline.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.55', maxHeight: '34rem' },
  '.cm-content': { minHeight: '14rem', padding: '0.5rem 0', caretColor: 'var(--strong)' },
  '.cm-cursor': { borderLeftColor: 'var(--strong)' },
  '.cm-gutters': { backgroundColor: 'var(--page)', color: 'var(--soft)', borderRight: '1px solid var(--edge)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--mantine-color-default-hover)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--mantine-color-tide-light-hover)',
  },
  '.cm-tooltip': {
    border: '1px solid var(--edge)',
    borderRadius: '8px',
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    boxShadow: '0 4px 16px #0003',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--mantine-color-tide-filled)',
    color: '#fff',
  },
  '.cm-completionDetail': { color: 'inherit', opacity: '0.8' },
  '.cm-panels': { backgroundColor: 'var(--page)', color: 'var(--mantine-color-text)' },
  '.cm-diagnostic': { fontFamily: 'var(--mantine-font-family)', padding: '0.375rem 0.625rem' },
  // Replaces the images of the lint package. They have `data:` URLs, which the Content-Security-Policy refuses.
  '.cm-lint-marker-error, .cm-lint-marker-warning, .cm-lint-marker-info': {
    width: '0.5rem',
    height: '0.5rem',
    margin: '0.4rem 0.15rem',
    borderRadius: '50%',
    content: 'none !important',
  },
  '.cm-lint-marker-error': { background: 'var(--bad)' },
  '.cm-lint-marker-warning': { background: 'var(--warn)' },
  '.cm-lintRange-error, .cm-lintRange-warning, .cm-lintRange-info': {
    backgroundImage: 'none !important',
    // Uses a border, not a text decoration. When the user types over decorated text, the browser writes an inline
    // style, which the Content-Security-Policy refuses.
    borderBottom: '2px dotted var(--bad)',
  },
  '.cm-lintRange-warning': { borderBottomColor: 'var(--warn)' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--good-soft) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft) !important', color: 'var(--mantine-color-text)' },
  '.cm-changedText': { background: 'none !important', fontWeight: '700' },
  '.cm-deletedText': { background: 'none !important', fontWeight: '700' },
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: 'none !important' },
  '.cm-collapsedLines': { background: 'var(--page)', color: 'var(--soft)', borderColor: 'var(--edge)' },
});

export const APPEARANCE = [theme, syntaxHighlighting(highlight)];
