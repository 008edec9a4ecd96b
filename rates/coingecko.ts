import { z } from "zod";
import { CURRENCIES, type Currency } from "../ledger/money/pair.ts";
import { type Coin, COINS, isCoin } from "./coins.ts";
import { readJson } from "./read_json.ts";
import { isFiat, rateOf, type RateSource, RateUnavailable } from "./source.ts";

const IDS: Readonly<Record<Currency, string>> = { USDT: "tether", USDC: "usd-coin" };

/** Fiat codes of `simple/supported_vs_currencies`. */
const CODES =
  "usd,eur,gbp,jpy,cny,aed,ars,aud,bdt,bhd,brl,cad,chf,clp,czk,dkk,gel,hkd,huf,idr,ils," +
  "inr,krw,kwd,lkr,mmk,mxn,myr,ngn,nok,nzd,php,pkr,pln,rub,sar,sek,sgd,thb,try,twd,uah,vnd,zar";

const Answer = z.record(z.string(), z.record(z.string(), z.string().nullable()));

/**
 * CoinGecko: `GET /api/v3/simple/price?ids=tether&vs_currencies=usd,...`, prices as JSON numbers.
 * Source: docs.coingecko.com, "Coin price by IDs". `precision=full` keeps the digits it has.
 */
export function coinGecko(
  coins: readonly Coin[],
  baseUrl = "https://api.coingecko.com",
): RateSource {
  return {
    name: "coingecko",
    prices: [...CURRENCIES, ...coins],
    read: async (priced, signal) => {
      const id = isCoin(priced) ? COINS[priced].coinGecko : IDS[priced];
      const url = `${baseUrl}/api/v3/simple/price?ids=${id}&vs_currencies=${CODES}&precision=full`;
      const answer = Answer.safeParse(await readJson(url, signal));
      const prices = answer.success ? answer.data[id] : undefined;
      if (prices === undefined) {
        throw new RateUnavailable("Cannot read rates as coingecko answered another shape");
      }
      return new Map(
        Object.entries(prices).flatMap(([name, text]) => {
          const code = name.toUpperCase();
          const rate = text !== null && isFiat(code) ? rateOf(text) : null;
          return rate === null ? [] : [[code, rate] as const];
        }),
      );
    },
  };
}
