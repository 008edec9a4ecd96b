import { type BookCheck, type Difference, MOST_DIFFERENCES } from "./difference.ts";

/** Deposits that are looked at, the newest ones: as many however many there are. */
const NEWEST = 10_000;

/** What the newest deposits brought is what was posted for them, net of what was taken. */
export const newestDepositsAndEntries: BookCheck = async (sql) =>
  await sql<Difference[]>`
    WITH newest AS (
      SELECT * FROM book.deposit ORDER BY id DESC LIMIT ${NEWEST}
    ), posted AS (
      SELECT d.id, d.merchant_id,
        coalesce(sum(CASE WHEN e.to_account IN ('available', 'pending') THEN e.amount ELSE 0 END
          - CASE WHEN e.from_account IN ('available', 'pending') THEN e.amount ELSE 0 END), 0) AS amount
      FROM newest d LEFT JOIN book.entry e ON e.payment_id = d.id AND e.merchant_id = d.merchant_id
      GROUP BY 1, 2
    ), due AS (
      SELECT id, merchant_id, status, CASE status WHEN 'PENDING' THEN amount
        WHEN 'CONFIRMED' THEN amount - commission - fixed_fee ELSE 0 END AS amount, margin, margin_to
      FROM newest
    )
    SELECT format('%s of %s', d.id, d.merchant_id) AS subject,
      format('%s: %s due, %s posted', d.status, trim_scale(d.amount), trim_scale(p.amount)) AS detail
    FROM due d JOIN posted p USING (id, merchant_id)
    WHERE p.amount NOT IN (d.amount, d.amount + CASE WHEN d.status = 'CONFIRMED' THEN d.margin ELSE 0 END)
    ORDER BY 1 LIMIT ${MOST_DIFFERENCES}`;
