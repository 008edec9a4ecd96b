/**
 * Values that customers compare and copy: never shortened, never with a character that is not part
 * of them.
 *
 * @module
 */

import { type Amount as Money, formatAmount } from "../../ledger/money/amount.ts";
import { fiatText } from "./fiat.ts";
import { Icon } from "./icon.tsx";
import type { Texts } from "./texts/texts.ts";

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
