public import Nostr

/// An account's key that is kept elsewhere, such as in a bunker (NIP-46).
///
/// Calls end by themselves after a reasonable time, at once when their task is cancelled, and may overlap. The core
/// asks again by itself while the signer is away, so what it is asked for may come twice.
public protocol RemoteSigner: Sendable {
    /// The signed event; the caller makes sure that it is the one it wanted.
    func sign(_ event: UnsignedEvent) async throws(SignerError) -> Event

    /// The text as a NIP-44 payload between the account and a peer.
    func nip44Encrypt(_ plaintext: [UInt8], to peer: PublicKey) async throws(SignerError) -> String

    /// The text of a NIP-44 payload between the account and a peer.
    func nip44Decrypt(_ payload: String, from peer: PublicKey) async throws(SignerError) -> [UInt8]

    /// Addresses where somebody has to approve what was asked for; one consumer.
    var challenges: AsyncStream<String> { get }
}

extension RemoteSigner {
    /// None.
    public var challenges: AsyncStream<String> { AsyncStream { $0.finish() } }
}

/// Why a remote signer did not do what it was asked to.
public struct SignerError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String

        /// It did not answer: worth asking again later.
        public static let away = Code(description: "away")
        /// It said no, or that it cannot.
        public static let refused = Code(description: "refused")
        /// It answered something else than it was asked for.
        public static let wrongAnswer = Code(description: "wrong_answer")
        /// What it would have to be asked does not fit into a message to it.
        public static let tooLarge = Code(description: "too_large")
        /// It holds another account's key.
        public static let wrongAccount = Code(description: "wrong_account")
    }

    public let code: Code
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(self.code): \(self.message)" }
}
