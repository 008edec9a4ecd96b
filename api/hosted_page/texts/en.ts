import type { Texts } from "./texts.ts";

/** English. */
export const en: Texts = {
  name: "English",
  direction: "ltr",
  pageTitle: (shop) => `Payment to ${shop}`,
  payTo: "Payment to",
  switchLanguage: "Language",
  test: "Test page: do not send real money",
  order: "Order",
  providedBy: (reseller) => `Payments by ${reseller}`,

  amountToSend: "Send exactly",
  stillMissing: "Still missing",
  anyAmount: (token) => `Send any amount of ${token}`,
  amountDue: "Amount due",
  noRate: (shop, token) =>
    `No exchange rate is at hand just now: ${shop} tells you how much ${token} to send.`,
  rate: (one, fiat) => `${one} = ${fiat}`,
  feesOnTop: "Network fees come on top; your wallet shows them.",
  network: "Network",
  address: (token, network) => `Send ${token} on ${network} to`,
  qrCode: "QR code of the address",
  onlyThis: (token, network) => `Send only ${token} on the ${network} network.`,
  otherToken: "Another token is credited where it is supported, otherwise it is set aside.",
  copy: "Copy",
  copied: "Copied",
  notCopied: "Not copied: select it by hand",
  copyAmount: "Copy the amount",
  copyAddress: "Copy the address",
  copyTransaction: "Copy the transaction",

  timeLeft: "Time left",
  openUntil: (time) => `Open until ${time}`,
  twoMinutesLeft: "Two minutes left to pay",

  steps: { waiting: "Waiting", received: "Detected", completed: "Completed" },
  progress: "Progress of the payment",
  waiting: {
    title: "Waiting for your payment",
    detail: "Send it from your wallet. This page notices it by itself.",
  },
  partial: (seen, asked, missing) => ({
    title: "A part has arrived",
    detail: `${seen} of ${asked} received. Please send the missing ${missing} to the same address.`,
  }),
  received: (seen) => ({
    title: "Payment detected",
    detail: `${seen} is on its way. The network is confirming it; this takes a minute or two.`,
  }),
  receivedLate: (seen) => ({
    title: "Your payment will be credited",
    detail:
      `${seen} was detected and is being confirmed by the network. The page's time is over, but there is nothing more for you to do.`,
  }),
  completed: (credited, shop) => ({
    title: "Payment complete",
    detail: `${shop} has received ${credited}. Thank you!`,
  }),
  paidTooMuch: (over, shop) => `You sent ${over} more than was asked. Please ask ${shop} about it.`,
  unchecked: (seen, due, shop) => ({
    title: "Payment received",
    detail: `${seen} has arrived. ${shop} will check it against the amount due, ${due}.`,
  }),
  failed: (shop) => ({
    title: "The payment did not go through",
    detail:
      `The network did not carry out the transaction, so nothing was transferred. Check your wallet, and ask ${shop} for a new payment page.`,
  }),
  expired: (shop) => ({
    title: "This payment page has expired",
    detail: `Please do not send anything for it any more. ${shop} can give you a new one.`,
  }),
  expiredPaid: {
    here:
      "Already sent? Your payment is safe: it is credited as soon as the network confirms it, and this page will show it.",
    hereIfYouStay:
      "Already sent? Your payment is safe: it is credited as soon as the network confirms it. If you stay here, this page will show it.",
    nowhere:
      "Already sent? Your payment is safe: it is credited as soon as the network confirms it.",
  },
  short: (seen, asked, missing, shop) => ({
    title: "Only a part arrived in time",
    detail: `${seen} of ${asked} was received, ${missing} is missing. Please contact ${shop}.`,
  }),

  receivedAmount: "Received",
  askedAmount: "Asked for",
  transaction: "Transaction",
  returning: (shop) => `Taking you back to ${shop}…`,
  returnTo: (shop) => `Back to ${shop}`,
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
