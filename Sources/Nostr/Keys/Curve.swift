import CSecp256k1

/// The process's only libsecp256k1 context.
enum Curve {
    // Safe: after the randomisation below the context is only passed as const, which the library documents as
    // thread-safe.
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private static let shared: Context = {
        guard let pointer = secp256k1_context_create(UInt32(SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY)) else {
            preconditionFailure("libsecp256k1 returned no context")
        }
        // Blinding against side channels, which changes no result, so its randomness need not be a parameter.
        // The overload without a generator, because the thread sanitizer crashes on the undefined address of an empty
        // `inout` value.
        let seed = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        let randomised = secp256k1_context_randomize(pointer, seed)
        precondition(randomised == 1, "libsecp256k1 could not be randomised")
        return Context(pointer: pointer)
    }()

    static var context: OpaquePointer { shared.pointer }
}
