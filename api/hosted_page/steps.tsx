import type { Texts } from "./texts/texts.ts";

const STEPS = ["waiting", "received", "completed"] as const;

/** Where the payment is on its way. */
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
