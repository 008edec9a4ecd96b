/**
 * Tokens of the tests, compiled when they are needed: one that behaves as USDT on Ethereum does (nothing is
 * returned, a fee may be kept, addresses are blocked, it can be paused and handed over), one as USDC.
 *
 * @module
 */

import solc from "solc";

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Ledger {
  address public owner = msg.sender; uint8 public immutable decimals; bool public paused;
  mapping(address => uint256) public balanceOf;
  event Transfer(address indexed from, address indexed to, uint256 value);
  constructor(uint8 d, uint256 supply) { decimals = d; balanceOf[msg.sender] = supply; }
  function pause(bool on) external { require(msg.sender == owner); paused = on; }
  function _move(address f, address t, uint256 v) internal {
    require(!paused && balanceOf[f] >= v); balanceOf[f] -= v; balanceOf[t] += v; emit Transfer(f, t, v);
  }
}
contract Usdt is Ledger {
  uint256 public basisPointsRate; uint256 public maximumFee; bool public deprecated; address public upgradedAddress;
  mapping(address => bool) public isBlackListed;
  constructor(uint8 d, uint256 supply) Ledger(d, supply) {}
  function setParams(uint256 rate, uint256 most) external { basisPointsRate = rate; maximumFee = most; }
  function block_(address a, bool on) external { isBlackListed[a] = on; }
  function deprecate(address to) external { deprecated = true; upgradedAddress = to; }
  function transfer(address t, uint256 v) external {
    require(!isBlackListed[msg.sender]);
    uint256 fee = v * basisPointsRate / 10000; if (fee > maximumFee) fee = maximumFee;
    _move(msg.sender, t, v - fee); if (fee > 0) _move(msg.sender, owner, fee);
  }
}
contract Usdc is Ledger {
  mapping(address => bool) public isBlacklisted;
  constructor(uint8 d, uint256 supply) Ledger(d, supply) {}
  function block_(address a, bool on) external { isBlacklisted[a] = on; }
  function transfer(address t, uint256 v) external returns (bool) {
    require(!isBlacklisted[msg.sender]); _move(msg.sender, t, v); return true;
  }
}
`;

/** Code of a contract, `0x` and digits, to be followed by its constructor's arguments. */
export type Compiled = Readonly<Record<string, string>>;

/**
 * Compiles one source.
 *
 * @returns creation code by the contract's name
 * @throws {Error} with the compiler's words
 */
export function compile(content: string, settings: Record<string, unknown> = {}): Compiled {
  const input = {
    language: "Solidity",
    sources: { "source.sol": { content } },
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: "prague",
      ...settings,
      outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  const faults = (output.errors ?? []).filter((error: { severity: string }) =>
    error.severity === "error"
  );
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return Object.fromEntries(
    Object.entries<{ evm: { bytecode: { object: string } } }>(output.contracts["source.sol"])
      .map(([name, { evm }]) => [name, `0x${evm.bytecode.object}`]),
  );
}

let tokens: Compiled | null = null;

/** Creation code of `Usdt` or `Usdc` with their decimals and a supply for who creates it. */
export function tokenCode(name: "Usdt" | "Usdc", decimals: number, supply: bigint): string {
  tokens ??= compile(SOURCE);
  const word = (value: bigint) => value.toString(16).padStart(64, "0");
  return `${tokens[name]}${word(BigInt(decimals))}${word(supply)}`;
}
