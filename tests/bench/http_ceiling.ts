/**
 * F: what HTTP itself allows. Hono, JSON and zod as everybody uses them; no key, no database.
 *
 * @module
 */

import { Hono } from "hono";
import { z } from "zod";

const newWithdrawal = z.object({
  amount: z.string().regex(/^\d{1,20}(?:\.\d{1,18})?$/),
  currency: z.enum(["USDT", "USDC"]),
  network: z.enum(["TRX", "ETH", "BNB", "SOL"]),
  destination: z.string().min(1).max(128),
  referenceId: z.string().min(1).max(128).optional(),
  description: z.string().max(1_000).optional(),
});

/** An application that reads a withdrawal, checks its shape and answers. */
export function httpCeiling(): {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly created: () => Promise<number>;
} {
  let count = 0;
  const app = new Hono();
  app.post("/api/withdrawals", async (c) => {
    const read = newWithdrawal.safeParse(await c.req.json());
    if (!read.success) return c.json({ error: "Invalid request data" }, 400);
    count++;
    return c.json({ success: true, withdrawalId: crypto.randomUUID(), ...read.data }, 201);
  });
  return { fetch: (request) => app.fetch(request), created: () => Promise.resolve(count) };
}
