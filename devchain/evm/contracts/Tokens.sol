// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Shared by the tokens of the development chain. There is no constructor: the first block has their
/// storage as genesis.ts writes it, which knows the order of these variables.
abstract contract Token {
  uint256 public totalSupply;
  mapping(address => uint256) public balanceOf;
  mapping(address => mapping(address => uint256)) public allowance;
  /// Bit 1: the issuer blocked the address. Bits 2 and 4: the node wants a call that this address has sent
  /// to fail in the block that it is making, with a revert or out of gas.
  mapping(address => uint256) internal flags;
  address public owner;
  uint8 public decimals;
  bool public paused;

  event Transfer(address indexed from, address indexed to, uint256 value);
  event Approval(address indexed owner, address indexed spender, uint256 value);

  modifier onlyOwner() {
    require(msg.sender == owner, "not the owner");
    _;
  }

  function pause() external onlyOwner { paused = true; }

  function unpause() external onlyOwner { paused = false; }

  /// Writes an event without moving anything, as a contract that misleads its readers would.
  function pretend(address from, address to, uint256 value) external {
    require(tx.origin == owner, "not the owner");
    emit Transfer(from, to, value);
  }

  function setBlocked(address who, bool isBlocked) internal onlyOwner {
    flags[who] = isBlocked ? flags[who] | 1 : flags[who] & ~uint256(1);
  }

  function move(address from, address to, uint256 value, uint256 fee) internal {
    uint256 fate = flags[tx.origin];
    require(fate & 2 == 0, "failed as the node was asked to");
    if (fate & 4 != 0) assembly { invalid() }
    require(!paused, "paused");
    require(flags[from] & 1 == 0, "blocked sender");
    require(to != address(0), "no receiver");
    require(balanceOf[from] >= value, "transfer amount exceeds balance");
    unchecked {
      balanceOf[from] -= value;
      balanceOf[to] += value - fee;
      if (fee > 0) balanceOf[owner] += fee;
    }
    emit Transfer(from, to, value - fee);
    if (fee > 0) emit Transfer(from, owner, fee);
  }

  function allow(address spender, uint256 value) internal {
    allowance[msg.sender][spender] = value;
    emit Approval(msg.sender, spender, value);
  }

  function spend(address from, uint256 value) internal {
    require(allowance[from][msg.sender] >= value, "transfer amount exceeds allowance");
    unchecked { allowance[from][msg.sender] -= value; }
  }
}

/// As USDT on Ethereum: transfers and approvals return nothing, the issuer may take a fee, an allowance has
/// to be taken back before it is given anew.
contract Usdt is Token {
  uint256 public basisPointsRate;
  uint256 public maximumFee;

  function name() external pure returns (string memory) { return "Tether USD"; }

  function symbol() external pure returns (string memory) { return "USDT"; }

  function transfer(address to, uint256 value) external { move(msg.sender, to, value, feeOf(value)); }

  function transferFrom(address from, address to, uint256 value) external {
    spend(from, value);
    move(from, to, value, feeOf(value));
  }

  function approve(address spender, uint256 value) external {
    require(value == 0 || allowance[msg.sender][spender] == 0, "approve from non-zero");
    allow(spender, value);
  }

  function setParams(uint256 basisPoints, uint256 most) external onlyOwner {
    basisPointsRate = basisPoints;
    maximumFee = most;
  }

  function addBlackList(address who) external { setBlocked(who, true); }

  function removeBlackList(address who) external { setBlocked(who, false); }

  function isBlackListed(address who) external view returns (bool) { return flags[who] & 1 != 0; }

  function feeOf(uint256 value) private view returns (uint256) {
    uint256 fee = value * basisPointsRate / 10_000;
    return fee > maximumFee ? maximumFee : fee;
  }
}

/// As USDC: transfers return true, a blocked address does not receive either.
contract Usdc is Token {
  function name() external pure returns (string memory) { return "USD Coin"; }

  function symbol() external pure returns (string memory) { return "USDC"; }

  function transfer(address to, uint256 value) external returns (bool) {
    require(flags[to] & 1 == 0, "blocked receiver");
    move(msg.sender, to, value, 0);
    return true;
  }

  function transferFrom(address from, address to, uint256 value) external returns (bool) {
    require(flags[to] & 1 == 0, "blocked receiver");
    spend(from, value);
    move(from, to, value, 0);
    return true;
  }

  function approve(address spender, uint256 value) external returns (bool) {
    allow(spender, value);
    return true;
  }

  function blacklist(address who) external { setBlocked(who, true); }

  function unBlacklist(address who) external { setBlocked(who, false); }

  function isBlacklisted(address who) external view returns (bool) { return flags[who] & 1 != 0; }
}

/// Takes several steps in one transaction. Its own tokens are moved by a step that transfers.
contract Script {
  function run(address[] calldata to, bytes[] calldata data) external {
    for (uint256 i = 0; i < to.length; i++) {
      (bool ok,) = to[i].call(data[i]);
      require(ok, "a step failed");
    }
  }

  function log(bytes32[] calldata topics, bytes memory data) external {
    uint256 count = topics.length;
    require(count <= 4, "too many topics");
    bytes32[4] memory t;
    for (uint256 i = 0; i < count; i++) t[i] = topics[i];
    assembly {
      let at := add(data, 32)
      let size := mload(data)
      switch count
      case 0 { log0(at, size) }
      case 1 { log1(at, size, mload(t)) }
      case 2 { log2(at, size, mload(t), mload(add(t, 32))) }
      case 3 { log3(at, size, mload(t), mload(add(t, 32)), mload(add(t, 64))) }
      default { log4(at, size, mload(t), mload(add(t, 32)), mload(add(t, 64)), mload(add(t, 96))) }
    }
  }
}
