import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** Sums of charges that are kept per day are those of the charges. */
export const chargesAndDays: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH counted AS (
      SELECT merchant_id, (created_at AT TIME ZONE 'UTC')::date AS day, type, currency, network,
        count(*) AS count, sum(amount) AS amount
      FROM book.charge GROUP BY 1, 2, 3, 4, 5
    )
    SELECT format('%s on %s, %s %s/%s', merchant_id, day, type, currency, network) AS subject,
      format('kept %s worth %s, found %s worth %s', coalesce(k.count, 0), trim_scale(coalesce(k.amount, 0)),
        coalesce(c.count, 0), trim_scale(coalesce(c.amount, 0))) AS detail
    FROM counted c FULL JOIN book.charge_day k USING (merchant_id, day, type, currency, network)
    WHERE coalesce(c.count, 0) <> coalesce(k.count, 0) OR coalesce(c.amount, 0) <> coalesce(k.amount, 0)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
