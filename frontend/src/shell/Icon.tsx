/** The page's signs: one grid of 16, one line width, drawn for it. */

const SHAPES = {
  pin: "M5.5 2.8h5M6.4 2.8v4L4.2 9.4h7.6L9.6 6.8v-4M8 9.4v4",
  board: "M2.8 3h4.4v5.4H2.8zM8.8 3h4.4v3H8.8zM8.8 7.6h4.4V13H8.8zM2.8 10h4.4v3H2.8z",
  clock: "M8 13.2A5.2 5.2 0 1 0 8 2.8a5.2 5.2 0 0 0 0 10.4zM8 5v3.2l2.2 1.3",
  code: "m5.4 5-3 3 3 3M10.6 5l3 3-3 3M9 3.4 7 12.6",
  plus: "M8 3v10M3 8h10",
  send: "M8 13V3.5M4 7.2 8 3.2l4 4",
  stop: "M4.5 4.5h7v7h-7z",
  check: "m3.2 8.4 3.2 3.2 6.4-7",
  cross: "m4 4 8 8M12 4l-8 8",
  retry: "M12.8 8.6A4.9 4.9 0 1 1 11.6 4.7L13 6M13 2.8V6H9.8",
  chevron: "m4.5 6.2 3.5 3.6 3.5-3.6",
  copy: "M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z",
  download: "M8 2.8v7.4M4.8 7.2 8 10.3l3.2-3.1M3 13.2h10",
  link: "M6.8 9.2a2.4 2.4 0 0 0 3.4 0l2.2-2.2a2.4 2.4 0 0 0-3.4-3.4l-.8.8M9.2 6.8a2.4 2.4 0 0 0-3.4 0L3.6 9A2.4 2.4 0 0 0 7 12.4l.8-.8",
  edit: "M3 13l.6-2.8 7-7 2.2 2.2-7 7zM9.3 4.5l2.2 2.2",
  database: "M3 4.2c0-1 2.2-1.7 5-1.7s5 .7 5 1.7-2.2 1.7-5 1.7-5-.7-5-1.7zm0 0v7.6c0 1 2.2 1.7 5 1.7s5-.7 5-1.7V4.2M3 8c0 1 2.2 1.7 5 1.7s5-.7 5-1.7",
  key: "M9.4 6.6 3.5 12.5v1h2v-1.6h1.6v-1.6L9 8.9M9.2 5.6a2.2 2.2 0 1 0 2.2-2.2 2.2 2.2 0 0 0-2.2 2.2z",
  search: "M7 11.2A4.2 4.2 0 1 0 7 2.8a4.2 4.2 0 0 0 0 8.4zM10.2 10.2 13.4 13.4",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  sun: "M8 10.6a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M12.4 3.6l-1 1M4.6 11.4l-1 1",
  moon: "M13 9.4A5.4 5.4 0 0 1 6.6 3a5.4 5.4 0 1 0 6.4 6.4z",
  system: "M2.5 3.5h11v7h-11zM6 13.2h4M8 10.5v2.7",
  warn: "M8 2.6 14 13H2zM8 6.4v3.2M8 11.2v.3",
  upload: "M8 10.4V3M4.8 6 8 2.9 11.2 6M3 13.2h10",
  trash: "M3 4.5h10M6.2 4.5V3h3.6v1.5M4.4 4.5l.6 8.7h6l.6-8.7",
  up: "M8 12.5V4M4.5 7.4 8 3.9l3.5 3.5",
  down: "M8 3.5V12M4.5 8.6 8 12.1l3.5-3.5",
  filter: "M2.8 3.5h10.4L9.4 8.2v4.3l-2.8-1.6V8.2z",
  arrow: "M3 8h9.5M8.8 4.2 12.6 8l-3.8 3.8",
} as const;

export type IconName = keyof typeof SHAPES;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d={SHAPES[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
