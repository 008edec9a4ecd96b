/**
 * Values that customers compare and copy: never shortened, never with a character that is not part
 * of them.
 *
 * @module
 */

import { type Amount as Money, formatAmount } from "../../ledger/money/amount.ts";
import { fiatText } from "./page_view.ts";
import type { Texts } from "./texts/en.ts";

/** Characters of an amount from which on it is set smaller. */
const LONG = 13;

/** An amount; thousands are set apart by space that is not copied. */
export function Amount(
  { amount, token, exact }: {
    readonly amount: Money;
    readonly token: string;
    /** As the interface writes it, for programs. */
    readonly exact?: string;
  },
) {
  const text = formatAmount(amount);
  return <Sum text={text} unit={token} exact={exact ?? text} />;
}

/** An amount in the money that the merchant named. */
export function FiatAmount(
  { amount, currency }: { readonly amount: Money; readonly currency: string },
) {
  return <Sum text={fiatText(amount, currency)} unit={currency} exact={formatAmount(amount)} />;
}

function Sum(
  { text, unit, exact }: { readonly text: string; readonly unit: string; readonly exact: string },
) {
  const [whole = "", fraction] = text.split(".");
  const groups = whole.length > 4 ? whole.split(/(?=(?:\d{3})+$)/) : [whole];
  return (
    <bdi class={text.length > LONG ? "amount long" : "amount"} dir="ltr">
      <data value={exact}>
        {groups.map((group, at) => at === 0 ? group : <span class="group">{group}</span>)}
        {fraction === undefined ? "" : <span class="fraction">.{fraction}</span>}
      </data>{" "}
      <span class="token">{unit}</span>
    </bdi>
  );
}

/** An address or a transaction id, in groups of four that are compared more easily. */
export function Code({ text, id }: { readonly text: string; readonly id: string }) {
  return (
    <code id={id} class="code" dir="ltr" translate="no">
      {(text.match(/.{1,4}/gs) ?? []).map((group) => <span>{group}</span>)}
    </code>
  );
}

/** A button that copies; without JavaScript there is none. */
export function CopyButton(
  { text, label, id, texts, primary }: {
    readonly text: string;
    readonly label: string;
    readonly id: string;
    readonly texts: Texts;
    readonly primary?: boolean;
  },
) {
  return (
    <button
      type="button"
      id={id}
      class={primary === true ? "button scripted" : "quiet scripted"}
      data-copy={text}
      data-copied={texts.copied}
      data-not-copied={texts.notCopied}
      aria-label={label}
    >
      <Icon name="copy" />
      <span>{primary === true ? label : texts.copy}</span>
    </button>
  );
}

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

const STEPS = ["waiting", "received", "completed"] as const;

export function Steps(
  { texts, at }: { readonly texts: Texts; readonly at: (typeof STEPS)[number] },
) {
  const reached = STEPS.indexOf(at);
  return (
    <ol class="steps" aria-label={texts.progress}>
      {STEPS.map((step, index) => (
        <li
          class={index < reached || at === "completed"
            ? "done"
            : index === reached
            ? "now"
            : "next"}
          {...(index === reached ? { "aria-current": "step" as const } : {})}
        >
          {texts.steps[step]}
        </li>
      ))}
    </ol>
  );
}

/** The colour of merchants that have chosen none. */
const DEFAULT_COLOR = "#334155";

/** Made with the first page and kept: the first takes 25 ms to make, which would be the start's. */
let characters: Intl.Segmenter | undefined;

/**
 * The merchant's initial on its colour. The colour is an attribute of the drawing, because the
 * page's policy allows no styles but its own.
 */
export function BrandMark(
  { name, color }: { readonly name: string; readonly color: string | null },
) {
  const background = color ?? DEFAULT_COLOR;
  characters ??= new Intl.Segmenter();
  const [first = "·"] = characters.segment(name.trim());
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
 * True where dark text is easier to read on a colour than white text: relative luminance of WCAG 2.2
 * above the point where both contrasts are equal.
 *
 * @param color `#rrggbb`
 */
function isLight(color: string): boolean {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}
