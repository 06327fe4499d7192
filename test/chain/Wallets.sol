// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Accounts with code that pay, and some that lie about it.

interface Account {
    function isValidSignature(bytes32 hash, bytes memory signature) external view returns (bytes4);
}

bytes4 constant YES = 0x1626ba7e;

function signerOf(bytes32 hash, bytes memory signature) pure returns (address) {
    if (signature.length != 65) return address(0);
    bytes32 r;
    bytes32 s;
    uint8 v;
    assembly {
        r := mload(add(signature, 0x20))
        s := mload(add(signature, 0x40))
        v := byte(0, mload(add(signature, 0x60)))
    }
    return ecrecover(hash, v, r, s);
}

/// One owner, whose signature comes with a prefix of its own, so that it is longer than that of a key.
contract Wallet is Account {
    address public owner;

    constructor(address owner_) {
        owner = owner_;
    }

    function isValidSignature(bytes32 hash, bytes memory signature) external view returns (bytes4) {
        (bytes32 prefix, bytes memory inner) = abi.decode(signature, (bytes32, bytes));
        return prefix == "wallet" && signerOf(hash, inner) == owner ? YES : bytes4(0xffffffff);
    }
}

/// Makes wallets whose addresses are known before they are there.
contract Factory {
    function create(address owner) external returns (address) {
        return address(new Wallet{salt: 0}(owner));
    }

    function addressOf(address owner) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(Wallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), bytes32(0), code)))));
    }
}

/// A "factory" that does something else: whoever calls it leaves a trace.
contract Trap {
    uint256 public calls;

    function create(address) external {
        calls += 1;
    }
}

/// Takes whatever it is asked about.
contract Generous is Account {
    function isValidSignature(bytes32, bytes memory) external pure returns (bytes4) {
        return YES;
    }
}

/// Uses up all the gas that it is given.
contract Burner is Account {
    function isValidSignature(bytes32 hash, bytes memory) external pure returns (bytes4) {
        while (true) hash = keccak256(abi.encode(hash));
        return YES;
    }
}

/// Changes its mind when it is told to.
contract Fickle is Account {
    bool public refuses;

    function refuse(bool on) external {
        refuses = on;
    }

    function isValidSignature(bytes32, bytes memory) external view returns (bytes4) {
        return refuses ? bytes4(0xffffffff) : YES;
    }
}

/// Takes what is only tried, and refuses what costs somebody gas.
contract Hostile is Account {
    function isValidSignature(bytes32, bytes memory) external view returns (bytes4) {
        return tx.gasprice == 0 ? YES : bytes4(0xffffffff);
    }
}

/// What the key of an account lets stand in for its code (EIP-7702): it takes the key's own signature, with a prefix.
contract Delegate is Account {
    function isValidSignature(bytes32 hash, bytes memory signature) external view returns (bytes4) {
        if (signature.length == 65) return signerOf(hash, signature) == address(this) ? YES : bytes4(0xffffffff);
        (bytes32 prefix, bytes memory inner) = abi.decode(signature, (bytes32, bytes));
        return prefix == "wallet" && signerOf(hash, inner) == address(this) ? YES : bytes4(0xffffffff);
    }
}

/// As much of Multicall3 as published facilitators simulate with.
contract Multicall3 {
    struct Call {
        address target;
        bytes callData;
    }
    struct Result {
        bool success;
        bytes returnData;
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory returnData) = calls[i].target.call(calls[i].callData);
            require(success || !requireSuccess, "Multicall3: call failed");
            results[i] = Result(success, returnData);
        }
    }
}
