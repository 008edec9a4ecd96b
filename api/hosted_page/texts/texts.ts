/**
 * The texts of a hosted page, in one language. Names of tokens and networks are not translated: they
 * have to match what the customer's wallet shows. Amounts are passed in ready to be set in text of
 * either direction.
 *
 * @module
 */

/** Heading of a screen and the sentence below it. */
export interface Told {
  readonly title: string;
  readonly detail: string;
}

/** Every text of the page. */
export interface Texts {
  /** The language's own name for itself. */
  readonly name: string;
  readonly direction: "ltr" | "rtl";
  /** Of the document; `shop` is the merchant's name. */
  readonly pageTitle: (shop: string) => string;
  readonly payTo: string;
  readonly switchLanguage: string;
  readonly test: string;
  readonly order: string;
  readonly providedBy: (reseller: string) => string;

  readonly amountToSend: string;
  readonly stillMissing: string;
  readonly anyAmount: (token: string) => string;
  /** Above the merchant's price where no rate was at hand. */
  readonly amountDue: string;
  readonly noRate: (shop: string, token: string) => string;
  readonly rate: (one: string, fiat: string) => string;
  readonly feesOnTop: string;
  readonly network: string;
  readonly address: (token: string, network: string) => string;
  readonly qrCode: string;
  readonly onlyThis: (token: string, network: string) => string;
  readonly otherToken: string;
  readonly copy: string;
  readonly copied: string;
  readonly notCopied: string;
  readonly copyAmount: string;
  readonly copyAddress: string;
  readonly copyTransaction: string;

  readonly timeLeft: string;
  readonly openUntil: (time: string) => string;
  readonly twoMinutesLeft: string;

  readonly steps: {
    readonly waiting: string;
    readonly received: string;
    readonly completed: string;
  };
  readonly progress: string;
  readonly waiting: Told;
  readonly partial: (seen: string, asked: string, missing: string) => Told;
  readonly received: (seen: string) => Told;
  readonly receivedLate: (seen: string) => Told;
  readonly completed: (credited: string, shop: string) => Told;
  readonly paidTooMuch: (over: string, shop: string) => string;
  /** Without a rate nobody but the merchant knows whether it is enough. */
  readonly unchecked: (seen: string, due: string, shop: string) => Told;
  readonly failed: (shop: string) => Told;
  readonly expired: (shop: string) => Told;
  /** For those who have paid: by where it will be seen. */
  readonly expiredPaid: {
    readonly here: string;
    readonly hereIfYouStay: string;
    readonly nowhere: string;
  };
  readonly short: (seen: string, asked: string, missing: string, shop: string) => Told;

  readonly receivedAmount: string;
  readonly askedAmount: string;
  readonly transaction: string;
  readonly returning: (shop: string) => string;
  readonly returnTo: (shop: string) => string;
  readonly stay: string;

  readonly connectionLost: Told;
  readonly connectionBack: string;
  readonly withoutScript: string;
  readonly checkAgain: string;

  readonly unknownPage: Told;
  readonly tooManyRequests: Told;
  readonly somethingWrong: Told;
}
