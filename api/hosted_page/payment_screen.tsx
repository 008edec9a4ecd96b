/**
 * The screen of a payment that is still to be made, in whole or in part: where to, what, by when.
 *
 * @module
 */

import { type Amount as Money, formatAmount } from "../../ledger/money/amount.ts";
import { formatQuote } from "../../rates/quote.ts";
import { OutcomeScreen } from "./outcome_screen.tsx";
import {
  fiatText,
  isolated,
  money,
  type PageView,
  price,
  type Redirect,
  redirectOf,
} from "./page_view.ts";
import { QrCode } from "./qr_code.tsx";
import type { Message, Texts } from "./texts/en.ts";
import { Amount, Code, CopyButton, FiatAmount, Icon, Steps } from "./values.tsx";

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
        state.late ? texts.receivedLate(seen) : texts.received(seen, view.usual),
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

/** Everything that a customer needs to pay. */
function PaymentScreen(
  { view, message }: { readonly view: PageView; readonly message: Message },
) {
  const { session, texts, network, state } = view;
  const place = `${network.name} (${network.standard})`;
  return (
    <>
      <section class="state">
        <span class={`badge ${state.kind}`}>
          {state.kind === "partial" ? <Icon name="part" /> : <span class="pulse" />}
        </span>
        <h1 id="title" tabindex={-1}>{message.title}</h1>
        <TimeLeft view={view} />
        <p class="detail">{message.detail}</p>
      </section>
      <div class="columns">
        <section class="what">
          <AmountToSend view={view} />
          <dl class="facts">
            <div>
              <dt>{texts.network}</dt>
              <dd class="network">
                <bdi>{place}</bdi>
              </dd>
            </div>
          </dl>
          <p class="only">
            <Icon name="warning" />
            <span>
              <strong>{texts.onlyThis(isolated(session.currency), isolated(place))}</strong>{" "}
              {texts.otherToken}
            </span>
          </p>
        </section>
        <section class="where">
          <div class="frame">
            <QrCode text={session.address} label={texts.qrCode} />
          </div>
          <h2 id="address-label">
            {texts.address(isolated(session.currency), isolated(place))}
          </h2>
          <Code id="address" text={session.address} />
          <CopyButton
            id="copy-address"
            text={session.address}
            label={texts.copyAddress}
            texts={texts}
            primary
          />
          {view.link !== null && (
            <a id="open-in-wallet" class="quiet in-wallet" href={view.link}>{texts.openInWallet}</a>
          )}
        </section>
      </div>
      <Steps texts={texts} at="waiting" />
    </>
  );
}

function AmountToSend({ view }: { readonly view: PageView }) {
  const { session, texts, progress, state } = view;
  const { currency } = session;
  if (progress.isUnpriced) return <AmountDue view={view} />;
  if (progress.asked === null || progress.missing === null) {
    return <p class="sum any">{texts.anyAmount(currency)}</p>;
  }
  const isPart = state.kind === "partial";
  const due: Money = isPart ? progress.missing : progress.asked;
  return (
    <>
      <h2>{isPart ? texts.stillMissing : texts.amountToSend}</h2>
      <div class="sum">
        <Amount
          amount={due}
          token={currency}
          {...(isPart || session.amount === null ? {} : { exact: formatQuote(session.amount) })}
        />
        <CopyButton
          id="copy-amount"
          text={formatAmount(due)}
          label={texts.copyAmount}
          texts={texts}
        />
      </div>
      {!isPart && <Fiat view={view} />}
      <p class="fees">{texts.feesOnTop}</p>
    </>
  );
}

/** The price where no rate was at hand: only the merchant knows how much of the token pays it. */
function AmountDue({ view }: { readonly view: PageView }) {
  const { session, texts, merchant } = view;
  const { requestedAmount, requestedCurrency, currency } = session;
  if (requestedAmount === null || requestedCurrency === null) return null;
  return (
    <>
      <h2>{texts.amountDue}</h2>
      <div class="sum">
        <FiatAmount amount={requestedAmount} currency={requestedCurrency} />
      </div>
      <p class="ask">{texts.noRate(isolated(merchant.name), isolated(currency))}</p>
      <p class="fees">{texts.feesOnTop}</p>
    </>
  );
}

/** The value of the amount in the currency that the merchant asked for. */
function Fiat({ view }: { readonly view: PageView }) {
  const { requestedAmount, requestedCurrency, exchangeRate, currency } = view.session;
  if (requestedAmount === null || requestedCurrency === null) return null;
  return (
    <p class="fiat">
      <bdi class="requested">
        {fiatText(requestedAmount, requestedCurrency)} {requestedCurrency}
      </bdi>
      {exchangeRate !== null && (
        <bdi class="rate" dir="ltr">
          {view.texts.rate(`1 ${currency}`, `${exchangeRate} ${requestedCurrency}`)}
        </bdi>
      )}
    </p>
  );
}

function TimeLeft({ view }: { readonly view: PageView }) {
  const { session, texts } = view;
  const until = new Date(session.expiresAt).toISOString();
  return (
    <p class="time" role="timer" aria-label={texts.timeLeft}>
      <time datetime={until} data-countdown={texts.twoMinutesLeft}>
        {texts.openUntil(isolated(`${until.slice(11, 16)} UTC`))}
      </time>
    </p>
  );
}
