/** The page's own icons: line drawings on a 20 by 20 grid, drawn in the colour of the text around them. */

const PATHS = {
  alert: ["M10 3.2 17.6 16.4H2.4Z", "M10 8.2v3.6", "M10 14.2v.1"],
  check: ["m4.2 10.6 3.8 3.8 7.8-8.4"],
  chevron: ["m7.5 5 5 5-5 5"],
  back: ["m12.5 5-5 5 5 5"],
  close: ["m5 5 10 10", "M15 5 5 15"],
  command: ["m4 5.5 4.5 4.5L4 14.5", "M10.5 14.5H16"],
  copy: ["M7 7h9v9H7z", "M13 7V4H4v9h3"],
  exit: ["M8 3.5H4.5v13H8", "M12.5 6.5 16 10l-3.5 3.5", "M16 10H8"],
  file: ["M5.5 3h6l3.5 3.5V17H5.5z", "M11.5 3v3.5H15"],
  globe: ["M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14Z", "M3 10h14", "M10 3c4 4.4 4 9.6 0 14", "M10 3c-4 4.4-4 9.6 0 14"],
  menu: ["M3.5 6h13", "M3.5 10h13", "M3.5 14h13"],
  moon: ["M16 11.6A6.6 6.6 0 0 1 8.4 4 6.6 6.6 0 1 0 16 11.6Z"],
  pencil: ["m4 16 .8-3.4L13 4.4l2.6 2.6-8.2 8.2Z"],
  play: ["M6.5 4.5 15 10l-8.5 5.5z"],
  plus: ["M10 4v12", "M4 10h12"],
  retry: ["M15.8 8.2A6.2 6.2 0 1 0 16 12", "M16.2 4v4.3h-4.3"],
  send: ["M10 16.5v-13", "m4.8 8.6 5.2-5.2 5.2 5.2"],
  shield: ["M10 2.8 16 5v4.6c0 3.6-2.4 6.2-6 7.6-3.6-1.4-6-4-6-7.6V5z"],
  sliders: ["M3.5 6.5h7", "M14.5 6.5h2", "M12.5 4.5v4", "M3.5 13.5h2", "M9.5 13.5h7", "M7.5 11.5v4"],
  stop: ["M5.5 5.5h9v9h-9z"],
  sun: ["M10 6.7a3.3 3.3 0 1 0 0 6.6 3.3 3.3 0 0 0 0-6.6Z", "M10 2v1.6M10 16.4V18M2 10h1.6M16.4 10H18M4.3 4.3l1.2 1.2M14.5 14.5l1.2 1.2M15.7 4.3l-1.2 1.2M5.5 14.5l-1.2 1.2"],
  trash: ["M4 5.8h12", "M8 5.8V3.5h4v2.3", "m5.4 5.8.7 10.7h7.8l.7-10.7"],
} as const; // prettier-ignore

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      {PATHS[name].map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  );
}
