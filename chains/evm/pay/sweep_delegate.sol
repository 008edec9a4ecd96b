// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Lets a hot wallet collect tokens from deposit addresses that have authorised this code (EIP-7702), many in
/// one transaction that the hot wallet pays for. It moves tokens to the hot wallet only, is called by it only,
/// has no owner, no storage and no way to be changed. Amounts are named one by one, so that what arrives
/// can be compared with what was meant.
contract SweepDelegate {
    address private immutable HOT;
    /// The contract itself; where an address runs this code, `this` is that address.
    address private immutable SELF;

    constructor(address hot) {
        HOT = hot;
        SELF = address(this);
    }

    /// Called by the hot wallet at the contract. All of it happens, or nothing.
    function sweep(address token, address[] calldata from, uint256[] calldata amounts) external {
        require(msg.sender == HOT && address(this) == SELF && from.length == amounts.length);
        for (uint256 i; i < from.length; ++i) {
            SweepDelegate(payable(from[i])).give(token, amounts[i]);
        }
    }

    /// Called by the contract at a deposit address. Tokens return nothing, as USDT does, or true.
    function give(address token, uint256 amount) external {
        require(msg.sender == SELF);
        (bool ok, bytes memory returned) = token.call(abi.encodeWithSelector(0xa9059cbb, HOT, amount));
        require(ok && (returned.length == 0 || abi.decode(returned, (bool))));
    }

    /// An address that runs this code takes coin as it did before.
    receive() external payable {}
}
