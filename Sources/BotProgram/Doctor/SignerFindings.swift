import BotRuntime
import Diagnosis
import Errors
import Logging
import Nostr
import PikaCore

/// The findings about an account's remote signer.
enum SignerFindings {
    /// Checks the remote signer; returns no findings for an account without one.
    ///
    /// - Parameters:
    ///   - directory: the account's state directory.
    ///   - limit: the deadline of each answer.
    static func run(
        _ key: AccountKeyFindings, directory: String, limit: Duration, logger: Logger
    ) async -> (findings: [Finding], account: PublicKey?) {
        guard let url = key.signer else { return ([], nil) }
        var list = FindingList(key.subject)
        do {
            let probe = try SignerProbe(url, directory: directory)
            judge(try await probe.run(limit: limit, logger: logger), isKnown: probe.account != nil, into: &list)
            return (list.all, probe.account)
        } catch let error as WorkerError {
            list.error(
                "signer", error.description,
                "check the permissions of the account's state; run doctor as the service's user")
        } catch {
            list.error("signer", "cannot be queried: \(error)", "run doctor again")
        }
        return (list.all, nil)
    }

    static func judge(_ answer: SignerAnswer, isKnown: Bool, into list: inout FindingList) {
        switch answer {
        case .holds(let account): list.ok("signer", "answers, and holds the key of \(account.npub)")
        case .answersStrangers: list.ok("signer", "answers; the account connects to it at its first start")
        case .wantsApproval(let address):
            list.warning("signer", "requires approval", "open \(address), and run doctor again")
        case .failed(let error) where error.code == .away && !isKnown:
            list.warning(
                "signer",
                "\(error.message); the account never connected to it, and some signers do not answer unknown clients",
                "check that it runs, and that it uses these relays")
        case .failed(let error) where error.code == .away:
            list.error("signer", error.message, "check that it runs, and that it uses these relays")
        case .failed(let error) where error.code == .refused:
            list.error("signer", "refuses this account's client: \(error.message)", "ask its owner for a new address")
        case .failed(let error) where error.code == .wrongAccount:
            list.error(
                "signer", error.message, "use the address of this account's signer, or another state directory")
        case .failed(let error): list.error("signer", error.message, "ask the signer's owner")
        }
    }
}
