import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** Within a pair nothing is made and nothing is lost: all accounts together are zero. */
export const pairsSumToZero: BookCheck = async (sql) =>
  await sql<Difference[]>`
    SELECT format('%s/%s', currency, network) AS subject,
      format('all accounts together hold %s', trim_scale(sum(amount))) AS detail
    FROM (
      SELECT currency, network, available + pending + reserved AS amount FROM book.balance
      UNION ALL SELECT currency, network, balance FROM book.system_total) account
    GROUP BY currency, network HAVING sum(amount) <> 0
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
