/**
 * The screens on which nothing is left to be sent: they show no address to pay to.
 *
 * @module
 */

import { isolated, type PageView, type Redirect } from "./page_view.ts";
import type { Message } from "./texts/en.ts";
import { Amount, Code, CopyButton, FiatAmount, Icon, Steps } from "./values.tsx";

const ICONS = {
  received: "clock",
  completed: "check",
  failed: "cross",
  expired: "clock",
  short: "part",
  unchecked: "clock",
} as const;

/** The outcome of the payment, and the way on. */
export function OutcomeScreen(
  { view, kind, message, notes, redirect }: {
    readonly view: PageView;
    readonly kind: keyof typeof ICONS;
    readonly message: Message;
    /** Further sentences. */
    readonly notes: readonly string[];
    readonly redirect: Redirect | null;
  },
) {
  const { texts } = view;
  return (
    <>
      <section class="outcome">
        <span class={`badge large ${kind}`}>
          <Icon name={ICONS[kind]} />
        </span>
        <h1 id="title" tabindex={-1}>{message.title}</h1>
        <p>{message.detail}</p>
        {notes.map((note) => <p class="note">{note}</p>)}
      </section>
      <Receipt view={view} />
      {(kind === "received" || kind === "completed") && <Steps texts={texts} at={kind} />}
      {redirect !== null && <Return view={view} redirect={redirect} />}
    </>
  );
}

/** The amount received, and its transaction. */
function Receipt({ view }: { readonly view: PageView }) {
  const { payment, progress, session, texts, network } = view;
  if (payment === null) return null;
  const { deposit } = payment;
  const isOther = progress.seen === 0n && deposit.currency !== session.currency;
  return (
    <dl class="facts receipt">
      {view.state.kind !== "failed" && (
        <div>
          <dt>{texts.receivedAmount}</dt>
          <dd>
            <Amount
              amount={isOther ? deposit.amount : progress.seen}
              token={deposit.currency}
            />
          </dd>
        </div>
      )}
      {progress.asked !== null && progress.asked !== progress.seen && (
        <div>
          <dt>{texts.askedAmount}</dt>
          <dd>
            <Amount amount={progress.asked} token={session.currency} />
          </dd>
        </div>
      )}
      {progress.isUnpriced && session.requestedAmount !== null &&
        session.requestedCurrency !== null && (
        <div>
          <dt>{texts.amountDue}</dt>
          <dd>
            <FiatAmount amount={session.requestedAmount} currency={session.requestedCurrency} />
          </dd>
        </div>
      )}
      <div>
        <dt>{texts.network}</dt>
        <dd>
          <bdi>{`${network.name} (${network.standard})`}</bdi>
        </dd>
      </div>
      {deposit.txid !== null && (
        <div class="wide">
          <dt>{texts.transaction}</dt>
          <dd>
            <Code id="transaction" text={deposit.txid} />
            <CopyButton
              id="copy-transaction"
              text={deposit.txid}
              label={texts.copyTransaction}
              texts={texts}
            />
          </dd>
        </div>
      )}
    </dl>
  );
}

function Return(
  { view, redirect }: { readonly view: PageView; readonly redirect: Redirect },
) {
  const { texts, merchant } = view;
  const shop = isolated(merchant.name);
  return (
    <div class="return">
      <a class="button" id="return" href={redirect.url} rel="noreferrer">{texts.returnTo(shop)}</a>
      {redirect.afterS !== null && (
        <p class="returning scripted">
          <span>{texts.returning(shop)}</span>{" "}
          <button type="button" id="stay" class="link">{texts.stay}</button>
        </p>
      )}
    </div>
  );
}
