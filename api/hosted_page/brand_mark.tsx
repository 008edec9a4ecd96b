/** Where a merchant has not chosen a colour. */
const DEFAULT_COLOR = "#334155";

/** Made once: it takes 0.1 ms to make, as long as all else about the head of a page. */
const CHARACTERS = new Intl.Segmenter();

/**
 * The merchant's initial on its colour. The colour is an attribute of the drawing, because the
 * page's policy allows no styles but its own.
 */
export function BrandMark(
  { name, color }: { readonly name: string; readonly color: string | null },
) {
  const background = color ?? DEFAULT_COLOR;
  const [first = "·"] = CHARACTERS.segment(name.trim());
  const initial = typeof first === "string" ? first : first.segment;
  return (
    <svg class="mark" viewBox="0 0 40 40" aria-hidden="true">
      <rect width="40" height="40" rx="11" fill={background} />
      <text
        x="20"
        y="27"
        text-anchor="middle"
        font-size="19"
        font-weight="600"
        fill={isLight(background) ? "#11151c" : "#ffffff"}
      >
        {initial.toLocaleUpperCase()}
      </text>
    </svg>
  );
}

/**
 * Whether dark text is easier to read on a colour than white text: relative luminance of WCAG 2.2
 * above the point where both contrasts are equal.
 *
 * @param color `#rrggbb`
 */
export function isLight(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}
