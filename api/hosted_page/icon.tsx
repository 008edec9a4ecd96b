/** Drawings of the page, on a grid of 24. */
const PATHS = {
  check: "M5 12.5l4.5 4.5L19 7.5",
  clock: "M12 7v5.2l3.4 2M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0z",
  cross: "M7 7l10 10M17 7L7 17",
  warning:
    "M12 9v4.5M12 17v.01M10.3 4.2L2.6 17.6A2 2 0 0 0 4.3 20.6h15.4a2 2 0 0 0 1.7-3L13.7 4.2a2 2 0 0 0-3.4 0z",
  copy: "M9 9h10.5v10.5H9zM15 9V4.5H4.5V15H9",
  part: "M12 3a9 9 0 1 0 9 9M12 3v9h9",
} as const;

/** A drawing that says nothing that is not written beside it. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
