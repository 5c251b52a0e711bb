/** Shows a state as a coloured word. */
import type { ReactNode } from 'react';
import classes from './view.module.css';

export type Tone = 'good' | 'warn' | 'bad' | 'plain';

/** @param tone the colour of the word. The word must convey the state even without its colour. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={classes.state} data-tone={tone}>
      {children}
    </span>
  );
}
