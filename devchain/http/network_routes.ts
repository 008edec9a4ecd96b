/** Routes about the network and the node itself. @module */

import { fromBase58, isHexAddress } from "../address.ts";
import { BYTE_PRICE, CHAIN_PARAMETERS, ENERGY_PRICE } from "../parameters.ts";
import type { Answer, NodeRequest, Route } from "./route.ts";

/** Paths about the network. */
export const NETWORK_ROUTES: Readonly<Record<string, Route>> = {
  getchainparameters: fixed(() => ({ chainParameter: CHAIN_PARAMETERS }), false),
  getenergyprices: fixed(() => ({ prices: `0:${ENERGY_PRICE}` }), true),
  getbandwidthprices: fixed(() => ({ prices: `0:${BYTE_PRICE}` }), true),
  getnodeinfo: fixed(nodeInfo, true),
  listnodes: fixed(() => ({ nodes: [] }), false),
  listwitnesses: fixed(
    ({ node }) => ({
      witnesses: [{
        address: node.identity.witness.address,
        url: "dev-chain",
        latestBlockNum: node.head.height,
        isJobs: true,
      }],
    }),
    true,
  ),
  getnextmaintenancetime: fixed(({ node }) => ({ num: node.head.time + 21_600_000 }), false),
  totaltransaction: fixed(({ node }) => ({ num: node.store.transactionCount }), false),
  validateaddress: { answer: validateAddress, solidity: false, get: true },
};

function fixed(json: (request: NodeRequest) => unknown, solidity: boolean): Route {
  return { answer: (request) => ({ json: json(request) }), solidity, get: true };
}

function nodeInfo({ node }: NodeRequest): unknown {
  const name = (block: { height: number; id: string }) => `Num:${block.height},ID:${block.id}`;
  return {
    beginSyncNum: node.solid.height,
    block: name(node.head),
    solidityBlock: name(node.solid),
    currentConnectCount: 0,
    activeConnectCount: 0,
    passiveConnectCount: 0,
    totalFlow: 0,
    peerList: [],
    configNodeInfo: { codeVersion: "4.8.0", p2pVersion: "11111", supportConstant: true },
  };
}

function validateAddress({ params }: NodeRequest): Answer {
  const address = params.text("address");
  if (isHexAddress(address.toLowerCase())) {
    return { json: { result: true, message: "Hex string format" } };
  }
  const valid = fromBase58(address) !== null;
  return { json: { result: valid, message: valid ? "Base58check format" : "Invalid address" } };
}
