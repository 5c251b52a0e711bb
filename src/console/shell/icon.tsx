/**
 * The console's icons: SVG strokes on a grid of 24 by 24. They were drawn for the console, because an icon package
 * would add thousands of files.
 */

const PATHS = {
  home: ['M3 11l9-7 9 7', 'M5.5 9.5V20h13V9.5', 'M10 20v-6h4v6'],
  find: ['M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13z', 'M15.5 15.5L20.5 20.5'],
  user: ['M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8z', 'M4.5 20.5c1-4 4-6 7.5-6s6.5 2 7.5 6'],
  leave: ['M14 4h5v16h-5', 'M10 8l-4 4 4 4M6 12h9'],
  check: ['M5 12.5l4.5 4.5L19 7.5'],
  alert: ['M12 3.5l9.5 16.5h-19z', 'M12 10v4.5M12 17v.5'],
  silent: ['M3 12h4l2.5-6 3 10 2-4h1.5', 'M18 9l4 6M22 9l-4 6'],
  script: ['M8 6l-5 6 5 6M16 6l5 6-5 6M13.5 4l-3 16'],
  push: ['M12 20V6M6.5 11.5L12 6l5.5 5.5', 'M4 3h16'],
  file: ['M6 3h8l4 4v14H6z', 'M14 3v4h4M9 12h6M9 16h6'],
  webhook: ['M9 7a3 3 0 1 1 5.2 2l3 5.5', 'M17.5 14.5a3 3 0 1 1-2.5 4.5H8.5', 'M6.5 21a3 3 0 1 1-.5-5.9L9.2 9.5'],
  queue: ['M4 6h16M4 12h11M4 18h7', 'M18 15v6M15 18l3 3 3-3'],
  settings: [
    'M4 7h9M19 7h1M4 17h1M11 17h9',
    'M16 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
    'M8 20a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  ],
  right: ['M9 5l7 7-7 7'],
  down: ['M5 9l7 7 7-7'],
  site: ['M4 21V9l8-5 8 5v12', 'M9 21v-6h6v6'],
  source: ['M12 21a8 8 0 1 0-8-8', 'M12 13l4-4', 'M4 21h4v-4'],
  variable: ['M3 17c3-9 6-9 9-4s6 5 9-5'],
  copy: ['M9 9h11v11H9z', 'M5 15H4V4h11v1'],
  download: ['M12 4v11M7 10.5l5 5 5-5', 'M4 20h16'],
  close: ['M6 6l12 12M18 6L6 18'],
  play: ['M7 4.5v15l12-7.5z'],
  pause: ['M8 5v14M16 5v14'],
  refresh: ['M20 12a8 8 0 1 1-2.5-5.8L20 8.5', 'M20 4v4.5h-4.5'],
  edit: ['M4 20l1-4L16 5l3 3L8 19z', 'M14 7l3 3'],
  lineage: ['M4 12h5M9 12c3 0 3-6 6-6h5M9 12c3 0 3 6 6 6h5', 'M17.5 3.5L20 6l-2.5 2.5M17.5 15.5L20 18l-2.5 2.5'],
} as const;

export type IconName = keyof typeof PATHS;

/** An icon, hidden from screen readers. @param size width and height, in pixels. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {PATHS[name].map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  );
}
