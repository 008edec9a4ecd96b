import { addMerchant } from "../../support/books.ts";
import { newId } from "../../../actors/runtime/ids.ts";
import { mintApiKey } from "../../../api/http/key_ring.ts";
import { delay } from "../../../ledger/database/delay.ts";
import type { Service } from "../../support/service.ts";

const CLIENTS = 32;
const WARM_UP_S = 1;

/** New addresses of customers that a merchant is given in a second, over HTTP. */
export async function issueAddresses(
  service: Service,
  network: string,
  seconds: number,
): Promise<number> {
  const apiKey = await openMerchant(service);
  const url = `${service.credentials.baseUrl}/api/deposit-address`;
  let stopping = false;
  let [next, issued] = [0, 0];
  const client = async () => {
    while (!stopping) {
      const name = `${network}-${next++}`;
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: apiKey },
        body: JSON.stringify({ network, identifier: name, referenceId: name }),
      });
      const text = await response.text();
      if (response.status !== 201) throw new Error(`Cannot measure as none is issued: ${text}`);
      issued++;
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  await delay(WARM_UP_S * 1_000);
  const [began, before] = [performance.now(), issued];
  await delay(seconds * 1_000);
  const perSecond = (issued - before) / (performance.now() - began) * 1_000;
  stopping = true;
  await Promise.all(clients);
  return perSecond;
}

/** A merchant whose requests nothing bounds. @returns its key */
async function openMerchant({ sql }: Service): Promise<string> {
  const merchantId = await addMerchant(sql);
  const apiKey = mintApiKey("development");
  await sql`UPDATE book.merchant SET rate_limits = ${sql.json({ deposits: 0 })}
    WHERE merchant_id = ${merchantId}`;
  await sql`
    INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at)
    VALUES (${newId("key")}, sha256(${apiKey}::text::bytea), ${merchantId}, 'MERCHANT',
      '{read,write,payout}', 'bench', now())`;
  return apiKey;
}
