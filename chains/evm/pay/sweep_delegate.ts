/**
 * The contract that collects tokens from deposit addresses, many in one transaction of the hot wallet: its
 * code, the address that follows from it, and the call of it. Its source is beside this file; a test compiles it
 * and compares.
 *
 * @module
 */

import {
  decodeFunctionData,
  encodeFunctionData,
  getCreate2Address,
  parseAbi,
  stringToHex,
} from "viem/utils";

type Hex = `0x${string}`;

/** Creation code of `sweep_delegate.sol`, without the hot wallet's address that its constructor takes. */
const CREATION_CODE: Hex = `0x${
  "60c060405234801561000f575f5ffd5b506040516104e73803806104e783398101604081905261002e91610043" +
  "565b6001600160a01b03166080523060a052610070565b5f60208284031215610053575f5ffd5b815160016001" +
  "60a01b0381168114610069575f5ffd5b9392505050565b60805160a05161044a61009d5f395f818160b4015261" +
  "01bb01525f8181608101526101ea015261044a5ff3fe60806040526004361061002b575f3560e01c806389e378" +
  "5514610036578063f00388f714610057575f5ffd5b3661003257005b5f5ffd5b348015610041575f5ffd5b5061" +
  "0055610050366004610339565b610076565b005b348015610062575f5ffd5b506100556100713660046103b956" +
  "5b6101b0565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000" +
  "000000161480156100d65750306001600160a01b037f0000000000000000000000000000000000000000000000" +
  "00000000000000000016145b80156100e157508281145b6100e9575f5ffd5b5f5b838110156101a85784848281" +
  "8110610105576101056103e1565b905060200201602081019061011a91906103f5565b6001600160a01b031663" +
  "f00388f78785858581811061013b5761013b6103e1565b6040516001600160e01b031960e087901b1681526001" +
  "600160a01b03909416600485015260200291909101356024830152506044015f604051808303815f87803b1580" +
  "15610187575f5ffd5b505af1158015610199573d5f5f3e3d5ffd5b505050508060010190506100eb565b505050" +
  "505050565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000" +
  "000016146101e4575f5ffd5b604080517f00000000000000000000000000000000000000000000000000000000" +
  "000000006001600160a01b03908116602483015260448083018590528351808403909101815260649092018352" +
  "6020820180516001600160e01b031663a9059cbb60e01b17905291515f92839290861691610260919061041556" +
  "5b5f604051808303815f865af19150503d805f8114610299576040519150601f19603f3d011682016040523d82" +
  "523d5f602084013e61029e565b606091505b50915091508180156102c85750805115806102c857508080602001" +
  "90518101906102c8919061042b565b6102d0575f5ffd5b50505050565b80356001600160a01b03811681146102" +
  "ec575f5ffd5b919050565b5f5f83601f840112610301575f5ffd5b50813567ffffffffffffffff811115610318" +
  "575f5ffd5b6020830191508360208260051b8501011115610332575f5ffd5b9250929050565b5f5f5f5f5f6060" +
  "868803121561034d575f5ffd5b610356866102d6565b9450602086013567ffffffffffffffff81111561037157" +
  "5f5ffd5b61037d888289016102f1565b909550935050604086013567ffffffffffffffff81111561039c575f5f" +
  "fd5b6103a8888289016102f1565b969995985093965092949392505050565b5f5f604083850312156103ca575f" +
  "5ffd5b6103d3836102d6565b946020939093013593505050565b634e487b7160e01b5f52603260045260245ffd" +
  "5b5f60208284031215610405575f5ffd5b61040e826102d6565b9392505050565b5f82518060208501845e5f92" +
  "0191825250919050565b5f6020828403121561043b575f5ffd5b8151801515811461040e575f5ffd"
}`;

/**
 * Creates contracts at addresses that follow from their code alone, on every chain and by any caller:
 * github.com/Arachnid/deterministic-deployment-proxy.
 */
export const DEPLOYER = "0x4e59b44847b379578588920cA78FbF26c0B4956C";
/** Part of the address, so that a later version has another one. */
const SALT = stringToHex("engine-sweep-1", { size: 32 });
/** Code of an account that has authorised a contract begins so (EIP-7702). */
const AUTHORISED = "0xef0100";

const ABI = parseAbi([
  "function sweep(address token, address[] from, uint256[] amounts)",
]);

/** The code that makes the contract of a hot wallet. */
function initCode(hotWallet: string): Hex {
  return `${CREATION_CODE}${hotWallet.slice(2).toLowerCase().padStart(64, "0")}`;
}

/** The address of the contract that serves a hot wallet; it is the same on every chain. */
export function delegateOf(hotWallet: string): Hex {
  return getCreate2Address({ from: DEPLOYER, salt: SALT, bytecode: initCode(hotWallet) });
}

/** The call data with which {@linkcode DEPLOYER} creates the contract. */
export function creationData(hotWallet: string): Hex {
  return `${SALT}${initCode(hotWallet).slice(2)}`;
}

/** The code of an address that has authorised the contract. */
export function delegatedCode(delegate: string): Hex {
  return `${AUTHORISED}${delegate.slice(2).toLowerCase()}`;
}

/** True of the code of an address that has authorised a contract, whichever it is. */
export function isDelegated(code: string): boolean {
  return code.toLowerCase().startsWith(AUTHORISED);
}

/** One address that is swept. */
export interface Swept {
  readonly from: string;
  /** In the token's smallest unit. */
  readonly units: bigint;
}

/** The call data of a sweep. */
export function sweepData(token: string, swept: readonly Swept[]): Hex {
  return encodeFunctionData({
    abi: ABI,
    functionName: "sweep",
    args: [token as Hex, swept.map(({ from }) => from as Hex), swept.map(({ units }) => units)],
  });
}

/** The addresses that a sweep's call data names, in its order. @throws when it is the call of nothing like it */
export function sweptIn(data: string): readonly string[] {
  return decodeFunctionData({ abi: ABI, data: data as Hex }).args[1];
}
