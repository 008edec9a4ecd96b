import { z } from "zod";
import { select } from "../table.ts";
import { type AdminVerb, Fields, segment, verb } from "./client.ts";

const Redelivered = z.object({
  redelivered: z.number(),
  isComplete: z.boolean(),
  lastEventId: z.string().nullable(),
});

const Failing = z.object({ endpoints: z.array(Fields) });

const THREE_DAYS_MS = 3 * 24 * 3_600_000;

/** Path of a merchant's endpoint. */
const endpoint = (merchant: string | undefined) => `/api/merchants/${segment(merchant)}/webhook`;

/** Verbs for the endpoints of merchants: how they fare, and what they are sent once more. */
export const CALLBACK_VERBS: readonly AdminVerb[] = [
  verb(
    "callbacks list",
    "the merchants whose endpoint acknowledges nothing, those that fail longest first",
    async ({ client }) => {
      const { endpoints } = Failing.parse(await client.send("GET", "/api/admin/webhook-endpoints"));
      return select(endpoints, "merchant=merchantId state since failures last=lastOutcome url");
    },
  ),
  verb(
    "callbacks status <merchant-id>",
    "whether a merchant's endpoint acknowledges, and what waits for it",
    ({ client }, [merchant]) => client.send("GET", `${endpoint(merchant)}/status`),
  ),
  verb(
    "callbacks resume <merchant-id>",
    "ends the pause of an endpoint: what waits is sent now",
    ({ client }, [merchant]) => client.post(`${endpoint(merchant)}/resume`),
  ),
  verb(
    "callbacks redeliver <merchant-id> [--status FAILED|SKIPPED|DELIVERED] [--event NAME] " +
      "[--from 2027-01-01] [--until 2027-02-01]",
    "sends events once more: of the last three days where no --from, the failed ones where no --status is given",
    async ({ client }, [merchant], options) => {
      const { status, event } = options;
      const from = options.from ?? new Date(Date.now() - THREE_DAYS_MS).toISOString();
      const until = options.until ?? new Date().toISOString();
      let sum = 0;
      let after: string | undefined;
      for (;;) {
        const answer = Redelivered.parse(
          await client.post(`${endpoint(merchant)}/redeliver`, {
            status,
            event,
            startDate: from,
            endDate: until,
            after,
          }),
        );
        sum += answer.redelivered;
        if (answer.isComplete || answer.lastEventId === null) {
          return `${sum} events are sent again.`;
        }
        after = answer.lastEventId;
      }
    },
  ),
];
