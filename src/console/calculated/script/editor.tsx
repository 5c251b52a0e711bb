/**
 * CodeMirror in a shadow root, by default with R highlighting. In a shadow root, CodeMirror uses adopted style sheets.
 * Elsewhere, it inserts style tags, which the Content-Security-Policy refuses.
 */
import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentOnInput, StreamLanguage, type StreamParser } from '@codemirror/language';
import { r } from '@codemirror/legacy-modes/mode/r';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { completeScript, type Symbols } from './completions.ts';
import classes from './editor.module.css';
import { APPEARANCE } from './editor-theme.ts';
import type { LineProblem } from './problem-lines.ts';

interface EditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Aliases that the editor completes. When `symbols` is absent, the editor completes nothing. */
  readonly symbols?: Symbols;
  readonly problems: readonly LineProblem[];
  readonly isReadOnly?: boolean;
  /** Language of the text, for highlighting; default: R. */
  readonly language?: StreamParser<unknown>;
  /** Called on Ctrl-Enter, or on Cmd-Enter on a Mac. */
  readonly onRun?: () => void;
}

/** An editor of a script. When the caller passes another `value`, that value replaces the text in the editor. */
export function Editor(props: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { label, value, problems, isReadOnly = false, language = r } = props;

  useEffect(() => {
    if (!host.current) return;
    const made = open(host.current, latest.current.value, [
      ...editing(latest),
      ...reading(label, language),
      ...(isReadOnly ? [EditorState.readOnly.of(true)] : []),
    ]);
    view.current = made;
    // A new editor shows the problems that are already known.
    showProblems(made, latest.current.problems);
    return () => made.destroy();
  }, [label, isReadOnly, language]);

  // A layout effect runs before the user can type again. An ordinary effect could run later and replace newer text with
  // `value`.
  useLayoutEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  useEffect(() => {
    if (view.current) showProblems(view.current, problems);
  }, [problems]);

  return <div ref={host} className={classes.editor} />;
}

interface DiffProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** Shows the text `after`, and between its lines the lines that were removed from `before`. */
export function Diff({ label, before, after }: DiffProps) {
  const { t } = useTranslation('calculated');
  const unchanged = t('diff.unchanged');
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current) return;
    const compare = unifiedMergeView({
      original: before,
      mergeControls: false,
      gutter: true,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    const made = open(host.current, after, [
      ...reading(label, r),
      EditorState.readOnly.of(true),
      EditorState.phrases.of({ '$ unchanged lines': unchanged }),
      compare,
    ]);
    return () => made.destroy();
  }, [label, before, after, unchanged]);
  return <div ref={host} className={classes.editor} data-diff="" />;
}

function open(host: HTMLElement, doc: string, extensions: readonly Extension[]): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  return new EditorView({ doc, extensions: [...extensions], root, parent: root as unknown as Element });
}

function reading(label: string, language: StreamParser<unknown>): readonly Extension[] {
  return [
    ...APPEARANCE,
    lineNumbers(),
    StreamLanguage.define(language),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label }),
  ];
}

/** @returns the extensions for editing. No extension binds Tab, so Tab moves the focus to the next element. */
function editing(latest: { readonly current: EditorProps }): readonly Extension[] {
  const { symbols } = latest.current;
  const run = () => {
    latest.current.onRun?.();
    return latest.current.onRun !== undefined;
  };
  return [
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    lintGutter(),
    ...(symbols ? [autocompletion({ override: [completeScript(() => latest.current.symbols ?? symbols)] })] : []),
    keymap.of([{ key: 'Mod-Enter', run }, ...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap]),
    EditorView.updateListener.of((update) => {
      const text = update.state.doc.toString();
      if (update.docChanged && text !== latest.current.value) latest.current.onChange(text);
    }),
  ];
}

function showProblems(editor: EditorView, problems: readonly LineProblem[]): void {
  const diagnostics = problems.flatMap((problem) => toDiagnostic(editor, problem));
  editor.dispatch(setDiagnostics(editor.state, diagnostics));
}

function toDiagnostic({ state }: EditorView, { line, message, severity }: LineProblem): Diagnostic[] {
  // A problem can name the line after the last line, for example when the script ends with an operator. The problem is
  // then shown on the last line.
  const { from, to } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
  return [{ from, to, message, severity }];
}
