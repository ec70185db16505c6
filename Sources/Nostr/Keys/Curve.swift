import CSecp256k1

/// The one libsecp256k1 context of the process.
enum Curve {
    // Safe: after the randomisation below the context is only ever passed as const, which the library declares
    // safe from any number of threads.
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private static let shared: Context = {
        guard let pointer = secp256k1_context_create(UInt32(SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY)) else {
            preconditionFailure("libsecp256k1 gave no context")
        }
        // Blinding against side channels, invisible in every result, so its randomness is not an argument.
        var generator = SystemRandomNumberGenerator()
        let seed = Bytes32.random(using: &generator).bytes
        let randomised = secp256k1_context_randomize(pointer, seed)
        precondition(randomised == 1, "libsecp256k1 could not be randomised")
        return Context(pointer: pointer)
    }()

    static var context: OpaquePointer { shared.pointer }
}
