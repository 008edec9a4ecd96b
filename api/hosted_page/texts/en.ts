/**
 * The texts of a hosted page in English, whose shape every other language has. Names of tokens and
 * networks are not translated: they have to match what the customer's wallet shows. Amounts are
 * passed in ready to be set in text of either direction.
 *
 * @module
 */

import type { UsualTime } from "../usual_time.ts";

/** Heading of a screen and the sentence below it. */
export interface Message {
  readonly title: string;
  readonly detail: string;
}

/** Every text of the page. */
export type Texts = typeof en;

export const en = {
  name: "English",
  direction: "ltr" as "ltr" | "rtl",
  pageTitle: (shop: string) => `Payment to ${shop}`,
  payTo: "Payment to",
  switchLanguage: "Language",
  test: "Test page: do not send real money",
  order: "Order",
  providedBy: (reseller: string) => `Payments by ${reseller}`,

  amountToSend: "Send exactly",
  stillMissing: "Still missing",
  anyAmount: (token: string) => `Send any amount of ${token}`,
  // above the merchant's price where no rate was at hand
  amountDue: "Amount due",
  noRate: (shop: string, token: string) =>
    `No exchange rate is at hand just now: ${shop} tells you how much ${token} to send.`,
  rate: (one: string, fiat: string) => `${one} = ${fiat}`,
  feesOnTop: "Network fees come on top; your wallet shows them.",
  network: "Network",
  address: (token: string, network: string) => `Send ${token} on ${network} to`,
  qrCode: "QR code of the address",
  onlyThis: (token: string, network: string) => `Send only ${token} on the ${network} network.`,
  otherToken: "Another token is credited where it is supported, otherwise it is set aside.",
  copy: "Copy",
  copied: "Copied",
  notCopied: "Not copied: select it by hand",
  copyAmount: "Copy the amount",
  copyAddress: "Copy the address",
  openInWallet: "Open in wallet",
  copyTransaction: "Copy the transaction",

  timeLeft: "Time left",
  openUntil: (time: string) => `Open until ${time}`,
  twoMinutesLeft: "Two minutes left to pay",

  steps: { waiting: "Waiting", received: "Detected", completed: "Completed" },
  progress: "Progress of the payment",
  waiting: {
    title: "Waiting for your payment",
    detail: "Send it from your wallet. This page notices it by itself.",
  },
  partial: (seen: string, asked: string, missing: string) => ({
    title: "A part has arrived",
    detail: `${seen} of ${asked} received. Please send the missing ${missing} to the same address.`,
  }),
  received: (seen: string, usual: UsualTime) => ({
    title: "Payment detected",
    detail: `${seen} is on its way. The network is confirming it; this takes ${
      { seconds: "a few seconds", minutes: "a minute or two", quarter: "about 15 minutes" }[usual]
    }.`,
  }),
  receivedLate: (seen: string) => ({
    title: "Your payment will be credited",
    detail:
      `${seen} was detected and is being confirmed by the network. The page's time is over, but there is nothing more for you to do.`,
  }),
  completed: (credited: string, shop: string) => ({
    title: "Payment complete",
    detail: `${shop} has received ${credited}. Thank you!`,
  }),
  paidTooMuch: (over: string, shop: string) =>
    `You sent ${over} more than was asked. Please ask ${shop} about it.`,
  // without a rate only the merchant knows whether it is enough
  unchecked: (seen: string, due: string, shop: string) => ({
    title: "Payment received",
    detail: `${seen} has arrived. ${shop} will check it against the amount due, ${due}.`,
  }),
  failed: (shop: string) => ({
    title: "The payment did not go through",
    detail:
      `The network did not carry out the transaction, so nothing was transferred. Check your wallet, and ask ${shop} for a new payment page.`,
  }),
  expired: (shop: string) => ({
    title: "This payment page has expired",
    detail: `Please do not send anything for it any more. ${shop} can give you a new one.`,
  }),
  // for those who have paid: by where it will be seen
  expiredPaid: {
    here:
      "Already sent? Your payment is safe: it is credited as soon as the network confirms it, and this page will show it.",
    hereIfYouStay:
      "Already sent? Your payment is safe: it is credited as soon as the network confirms it. If you stay here, this page will show it.",
    nowhere:
      "Already sent? Your payment is safe: it is credited as soon as the network confirms it.",
  },
  short: (seen: string, asked: string, missing: string, shop: string) => ({
    title: "Only a part arrived in time",
    detail: `${seen} of ${asked} was received, ${missing} is missing. Please contact ${shop}.`,
  }),

  receivedAmount: "Received",
  askedAmount: "Asked for",
  transaction: "Transaction",
  returning: (shop: string) => `Taking you back to ${shop}…`,
  returnTo: (shop: string) => `Back to ${shop}`,
  stay: "Stay here",

  connectionLost: {
    title: "Connection lost, your payment is safe",
    detail: "What you have sent arrives all the same. This page goes on as soon as you are online.",
  },
  connectionBack: "Connected again",
  withoutScript: "Without JavaScript this page does not update by itself.",
  checkAgain: "Check again",

  unknownPage: {
    title: "There is no such payment page",
    detail: "The link is incomplete or mistyped. Please open it again from where you got it.",
  },
  tooManyRequests: {
    title: "One moment, please",
    detail: "This page was opened too often just now. Please try again in a minute.",
  },
  somethingWrong: {
    title: "This page cannot be shown just now",
    detail: "Your payment is safe: what you have sent arrives all the same. Please try again soon.",
  },
};
