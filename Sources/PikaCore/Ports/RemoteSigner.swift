package import Errors
package import Nostr

/// A signer outside this process that holds an account's key, such as a bunker (NIP-46).
///
/// Calls time out after a reasonable time, end at once when their task is cancelled, and may overlap. The core retries
/// while the signer is away, so a request may arrive twice.
package protocol RemoteSigner: Sendable {
    /// Returns the signed event; the caller checks that it is the requested one.
    func sign(_ event: UnsignedEvent) async throws(SignerError) -> Event

    /// Encrypts a text from the account to a peer, as a NIP-44 payload.
    func nip44Encrypt(_ plaintext: [UInt8], to peer: PublicKey) async throws(SignerError) -> String

    /// Decrypts a NIP-44 payload between the account and a peer.
    func nip44Decrypt(_ payload: String, from peer: PublicKey) async throws(SignerError) -> [UInt8]

    /// Addresses where a user must approve a request; one consumer.
    var challenges: AsyncStream<String> { get }
}

extension RemoteSigner {
    /// An empty stream.
    package var challenges: AsyncStream<String> { AsyncStream { $0.finish() } }
}

/// The reason why a remote signer did not perform a request.
package struct SignerError: CodedError, Hashable {
    package typealias Code = ErrorCode<SignerError>

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ErrorCode where Failure == SignerError {
    /// It did not answer: retry later.
    package static var away: Self { Self("away") }
    /// It refused, or does not support the request.
    package static var refused: Self { Self("refused") }
    /// Its answer does not match the request.
    package static var wrongAnswer: Self { Self("wrong_answer") }
    /// The request does not fit into a message to it.
    package static var tooLarge: Self { Self("too_large") }
    /// It holds another account's key.
    package static var wrongAccount: Self { Self("wrong_account") }
}
