import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** Sums of margins that are kept per day are those of the margins. */
export const marginsAndDays: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH counted AS (
      SELECT merchant_id, beneficiary, (created_at AT TIME ZONE 'UTC')::date AS day, currency, network,
        count(*) FILTER (WHERE fee > 0) AS events, sum(volume) AS volume, sum(fee) AS fee,
        sum(earned) AS earned, sum(reversed) AS reversed
      FROM book.margin GROUP BY 1, 2, 3, 4, 5
    )
    SELECT format('%s for %s on %s, %s/%s', merchant_id, beneficiary, day, currency, network) AS subject,
      format('kept %s - %s, found %s - %s', trim_scale(k.earned), trim_scale(k.reversed),
        trim_scale(c.earned), trim_scale(c.reversed)) AS detail
    FROM counted c FULL JOIN book.margin_day k USING (merchant_id, beneficiary, day, currency, network)
    WHERE (c.events, c.volume, c.fee, c.earned, c.reversed)
      IS DISTINCT FROM (k.events, k.volume, k.fee, k.earned, k.reversed)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
