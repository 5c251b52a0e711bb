/** Mantine's theme. Its colours are CSS variables of theme.css: the Content-Security-Policy refuses Mantine's style tags. */
import { createTheme, type MantineColorsTuple } from '@mantine/core';

const shade = (index: number) => `var(--mantine-color-tide-${index})`;
const TIDE: MantineColorsTuple = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(shade) as unknown as MantineColorsTuple;

export const theme = createTheme({
  primaryColor: 'tide',
  colors: { tide: TIDE },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Locking the scroll bar would insert a style tag, which the Content-Security-Policy refuses.
    Modal: { defaultProps: { lockScroll: false, centered: true } },
    // Hints below inputs, so that the inputs of a row are aligned.
    InputWrapper: { defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] } },
    Drawer: { defaultProps: { lockScroll: false } },
    Menu: { defaultProps: { shadow: 'md', withinPortal: true } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
  },
});
