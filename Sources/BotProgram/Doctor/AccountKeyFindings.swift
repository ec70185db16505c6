import BotConfiguration
import Diagnosis
import Nostr

/// The findings about an account's key, and the key for further checks.
struct AccountKeyFindings: Sendable {
    let account: AccountConfiguration
    let findings: [Finding]
    /// Nil if it cannot be read, or a remote signer holds it.
    let keys: KeyPair?
    /// The URL of the remote signer, if there is one.
    let signer: BunkerURL?

    /// Loads the key like a worker.
    init(_ account: AccountConfiguration, environment: [String: String]) {
        self.account = account
        var list = FindingList(Self.subject(account))
        (keys, signer) = Self.read(account, environment, &list)
        findings = list.all
    }

    var subject: String { Self.subject(account) }

    private static func subject(_ account: AccountConfiguration) -> String { "account \(account.name)" }

    private static func read(
        _ account: AccountConfiguration, _ environment: [String: String], _ findings: inout FindingList
    ) -> (KeyPair?, BunkerURL?) {
        do {
            if case .bunker = account.key {
                let url = try account.key.loadBunker(environment: environment)
                let relays = url.relays.map(\.string).joined(separator: ", ")
                findings.ok("key", "held by the remote signer \(url.remoteSigner.npub) on \(relays)")
                return (nil, url)
            }
            let keys = try account.key.loadKeyPair(environment: environment)
            findings.ok("key", "of \(keys.publicKey.npub)")
            return (keys, nil)
        } catch {
            findings.error("key", error.message, advice(error.code))
            return (nil, nil)
        }
    }

    private static func advice(_ code: KeyLoadingError.Code) -> String {
        switch code {
        case .unreadable: "put the key there, or correct `key:`; run doctor as the service's user"
        case .permissions: "make it readable only by its owner, as the message says"
        case .wrongPassword: "check the password"
        case .commandFailed: "run the command by hand"
        default: "write an nsec or 64 hex digits, nothing else"
        }
    }
}
