/** The expression of a mapper in the code editor. JSONata is coloured as JavaScript, which has similar tokens. */
import { javascript } from '@codemirror/legacy-modes/mode/javascript';
import { tags } from '@lezer/highlight';
import { Editor } from '../../calculated/script/editor.tsx';
import type { LineProblem } from '../../calculated/script/problem-lines.ts';

/** Maps the style `property` to a tag, so that quoted keys, which have the style `string property`, are coloured too. */
const JSONATA = { ...javascript, tokenTable: { property: tags.propertyName } };

interface ExpressionEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly problems: readonly LineProblem[];
}

/** Editor of a JSONata expression; its code loads when a mapper is opened. */
export function ExpressionEditor(props: ExpressionEditorProps) {
  return <Editor {...props} language={JSONATA} />;
}
