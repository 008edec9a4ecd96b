/** A token's ABI as `getcontract` prints it. @module */

const address = (name: string) => ({ name, type: "address" });
const number = (name: string) => ({ name, type: "uint256" });

function reads(name: string, inputs: readonly unknown[], type: string) {
  return {
    constant: true,
    name,
    ...(inputs.length === 0 ? {} : { inputs }),
    outputs: [{ type }],
    type: "Function",
    stateMutability: "View",
  };
}

function writes(name: string, inputs: readonly unknown[]) {
  return {
    name,
    inputs,
    outputs: [{ type: "bool" }],
    type: "Function",
    stateMutability: "Nonpayable",
  };
}

function event(name: string, first: string, second: string) {
  return {
    name,
    inputs: [
      { indexed: true, ...address(first) },
      { indexed: true, ...address(second) },
      number("value"),
    ],
    type: "Event",
  };
}

/** Functions and events of every token of this chain. */
export const TOKEN_ABI: readonly unknown[] = [
  reads("name", [], "string"),
  reads("symbol", [], "string"),
  reads("decimals", [], "uint256"),
  reads("totalSupply", [], "uint256"),
  reads("balanceOf", [address("who")], "uint256"),
  reads("allowance", [address("owner"), address("spender")], "uint256"),
  writes("transfer", [address("to"), number("value")]),
  writes("approve", [address("spender"), number("value")]),
  writes("transferFrom", [address("from"), address("to"), number("value")]),
  event("Transfer", "from", "to"),
  event("Approval", "owner", "spender"),
];
