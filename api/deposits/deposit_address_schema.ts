/**
 * Deposit addresses as merchants read them.
 *
 * @module
 */

import { z } from "zod";
import { SHORT_DEPOSIT_EXAMPLE, shortDeposit } from "./deposit_schema.ts";
import {
  address,
  EXAMPLE,
  exampleId,
  id,
  onePage,
  paginationSchema,
  shownNetwork,
  timestamp,
} from "../http/formats.ts";

/** As stored: the merchant's id, an underscore, what the merchant calls its customer. */
export const storedIdentifier = z.string().min(1).meta({
  description: "`<merchant_id>_<identifier>`",
  examples: [`${exampleId("mer")}_customer-7`],
});

/** Answer to a new or refreshed address. */
export const depositAddressCreated = z.object({
  address,
  identifier: storedIdentifier,
  network: shownNetwork,
  networkSymbol: shownNetwork.meta({ description: "The same as network" }),
  referenceId: z.string().optional().meta({ description: "Echoed only when supplied" }),
}).meta({ id: "DepositAddressCreated" });

/** Answer of the list. */
export const depositAddressList = z.object({
  addresses: z.array(
    z.object({
      id: id("adr"),
      address,
      networkSymbol: shownNetwork,
      createdAt: timestamp,
      deposits: z.array(shortDeposit).meta({ description: "The newest 10" }),
    }).meta({ id: "DepositAddress" }),
  ),
  pagination: paginationSchema,
});

/** What the reference shows for a new address. */
export const DEPOSIT_ADDRESS_CREATED_EXAMPLE = {
  address: EXAMPLE.address,
  identifier: `${exampleId("mer")}_customer-7`,
  network: "TRX",
  networkSymbol: "TRX",
  referenceId: "order-1001",
};

/** What the reference shows for the list. */
export const DEPOSIT_ADDRESS_LIST_EXAMPLE = {
  addresses: [{
    id: exampleId("adr"),
    address: EXAMPLE.address,
    networkSymbol: "TRX",
    createdAt: EXAMPLE.time,
    deposits: [SHORT_DEPOSIT_EXAMPLE],
  }],
  pagination: onePage(1_000),
};

/** Answer of the merchant's own top-up address. */
export const topUpAddress = z.object({ address, network: shownNetwork });

/** What the reference shows for a top-up address. */
export const TOP_UP_ADDRESS_EXAMPLE = { address: EXAMPLE.address, network: "TRX" };
