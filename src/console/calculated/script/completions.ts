/**
 * Completions of the script editor: declared aliases, the globals and their members, the toolbox, and the words of the
 * script (R-H2, R-H4).
 */
import { type CompletionContext, type CompletionResult, completeAnyWord } from '@codemirror/autocomplete';

/** Names that a script can use because the declaration defines them. */
export interface Symbols {
  readonly inputs: readonly string[];
  readonly forms: readonly string[];
  readonly constants: readonly string[];
}

const SERIES = ['Dates', 'Values', 'Version', 'Tags'];
const VARIABLE = [
  'Id',
  'Name',
  'SourceId',
  'Granularity',
  'GranularityTimeBase',
  'QuantityType',
  'Aggregate',
  'SourceTimeZoneId',
];
const INPUT = ['TimeSeries', 'Variable', 'From', 'To'];
const TARGET = [...VARIABLE, 'ChangedFrom', 'ChangedTo'];
const GLOBALS = ['inputVariables', 'inputForms', 'inputConstants', 'targetVariable', 'triggerDate'];
/** Functions of the toolbox with their arguments, as in r-runtime/R/toolbox.R. */
const TOOLBOX = [
  ['GetInputAxis', 'inputs'],
  ['GetRegularAxis', 'from, to, target'],
  ['SetDataOnCommonAxis', 'inputs, axis'],
  ['FilterNaOutput', 'output'],
  ['FilterDuplicateOutput', 'output, stored, threshold'],
] as const;

/** @param symbols is called whenever the editor asks for completions. @returns a completion source for the editor. */
export function completeScript(symbols: () => Symbols) {
  return (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const members = membersAt(before, symbols());
    if (members) {
      const typed = /[\w.]*$/.exec(before)?.[0] ?? '';
      return { from: context.pos - typed.length, options: members.map(toProperty), validFor: /^[\w.]*$/ };
    }
    return completeName(context, symbols());
  };
}

const toProperty = (label: string) => ({ label, type: 'property' });

/**
 * @returns the members to suggest after the last `$` of `before`. Returns undefined unless `before` ends with a `$` and
 *   an optional name.
 */
function membersAt(before: string, { inputs, forms, constants }: Symbols): readonly string[] | undefined {
  if (/\binputVariables\$[\w.]*$/.test(before)) return inputs;
  if (/\binputForms\$[\w.]*$/.test(before)) return forms;
  if (/\binputConstants\$[\w.]*$/.test(before)) return constants;
  if (/\btargetVariable\$[\w.]*$/.test(before)) return TARGET;
  if (/\binputVariables\$[\w.]+\$[\w.]*$/.test(before)) return INPUT;
  if (/\$Variable\$[\w.]*$/.test(before)) return VARIABLE;
  return /\$[\w.]*$/.test(before) ? SERIES : undefined;
}

function completeName(context: CompletionContext, { inputs, forms, constants }: Symbols): CompletionResult | null {
  const word = context.matchBefore(/[A-Za-z.][\w.]*/);
  if (!word && !context.explicit) return null;
  const paths = [
    ...inputs.map((alias) => `inputVariables$${alias}$TimeSeries`),
    ...forms.map((alias) => `inputForms$${alias}`),
    ...constants.map((alias) => `inputConstants$${alias}`),
  ];
  const options = [
    ...paths.map((label) => ({ label, type: 'variable', boost: 2 })),
    ...TOOLBOX.map(([label, detail]) => ({
      label,
      detail: `(${detail})`,
      apply: `${label}()`,
      type: 'function',
      boost: 1,
    })),
    ...GLOBALS.map((label) => ({ label, type: 'variable' })),
  ];
  const known = new Set(options.map(({ label }) => label));
  const words = completeAnyWord(context);
  const others = words && 'options' in words ? words.options.filter(({ label }) => !known.has(label)) : [];
  // `$` does not match validFor, so typing `$` requests completions again: the members of a list follow the `$`.
  return { from: word?.from ?? context.pos, options: [...options, ...others], validFor: /^[\w.]*$/ };
}
