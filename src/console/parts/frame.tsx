/**
 * A frame that scrolls when its content is too wide or too long. The frame can receive the keyboard focus, so that the
 * arrow keys scroll the content.
 */
import type { ReactNode, Ref } from 'react';
import classes from './view.module.css';

interface FrameProps {
  readonly label: string;
  readonly ref?: Ref<HTMLElement>;
  readonly children: ReactNode;
}

/** @param label name of the frame's content; screen readers announce this name. */
export function Frame({ label, ref, children }: FrameProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must take the keyboard
    <section ref={ref} className={classes.frame} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
