import { OutcomeScreen } from "./outcome_screen.tsx";
import { isolated, money, type PageView, price, type Redirect, redirectOf } from "./page_view.ts";
import { PaymentScreen } from "./payment_screen.tsx";
import type { Message, Texts } from "./texts/en.ts";

/** A screen, and what is said of it to those who do not see it change. */
export interface Screen {
  readonly message: Message;
  readonly body: ReturnType<typeof PaymentScreen>;
}

/** The screen of a payment's state. */
export function screenOf(view: PageView): Screen {
  const { state, texts, progress, session, merchant } = view;
  const shop = isolated(merchant.name);
  const asked = money(progress.asked ?? progress.seen, session.currency);
  const missing = money(progress.missing ?? progress.seen, session.currency);
  const seen = seenText(view);
  const redirect = redirectOf(state, merchant);
  const outcome = (
    kind: Parameters<typeof OutcomeScreen>[0]["kind"],
    message: Message,
    notes: readonly string[] = [],
  ): Screen => ({
    message,
    body: (
      <OutcomeScreen view={view} kind={kind} message={message} notes={notes} redirect={redirect} />
    ),
  });
  const payment = (message: Message): Screen => ({
    message,
    body: <PaymentScreen view={view} message={message} />,
  });
  switch (state.kind) {
    case "waiting":
      return payment(texts.waiting);
    case "partial":
      return payment(texts.partial(seen, asked, missing));
    case "received":
      return outcome(
        "received",
        state.late ? texts.receivedLate(seen) : texts.received(seen),
      );
    case "completed":
      return outcome(
        "completed",
        texts.completed(seen, shop),
        state.over > 0n ? [texts.paidTooMuch(money(state.over, session.currency), shop)] : [],
      );
    case "unchecked":
      return outcome("unchecked", texts.unchecked(seen, price(session) ?? asked, shop));
    case "failed":
      return outcome("failed", texts.failed(shop));
    case "expired":
      return outcome("expired", texts.expired(shop), [texts.expiredPaid[lookout(view, redirect)]]);
    case "short":
      return outcome("short", texts.short(seen, asked, missing, shop));
    default: {
      const never: never = state;
      return never;
    }
  }
}

/** The place where a late payment is shown: only a page that stays open, and asks, shows it. */
function lookout({ poll }: PageView, redirect: Redirect | null): keyof Texts["expiredPaid"] {
  if (poll === "none") return "nowhere";
  return redirect === null || redirect.afterS === null ? "here" : "hereIfYouStay";
}

/** The amount received; in the token that came where it is not the one that was asked for. */
function seenText({ payment, progress, session }: PageView): string {
  if (payment === null || progress.seen > 0n) return money(progress.seen, session.currency);
  return money(payment.deposit.amount, payment.deposit.currency);
}
