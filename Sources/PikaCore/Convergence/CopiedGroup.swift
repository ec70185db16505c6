import MLS
import Nostr

/// A group whose keys another copy of this account's state has too, after a restore; kept as a memo.
///
/// This account's events are held back until a commit has given this copy keys that the other copy cannot have. The
/// handshake key that encrypts this one commit may be used a second time; RFC 9420 §6.3.1 guards against that with
/// random bytes in the nonce.
struct CopiedGroup: Sendable, Hashable {
    enum Phase: Sendable, Hashable {
        /// Relays have to be read first.
        case reading
        /// The commit is to be made, or is in flight.
        case renewing
        /// The commit ended this epoch; this account's messages that waited are being sealed again.
        case resealing(epoch: Epoch)
        /// Done; a better commit may still undo the one that ended this epoch.
        case renewed(epoch: Epoch)
        /// The other copy has changed the keys: this copy cannot follow.
        case overtaken
    }

    var phase = Phase.reading
    /// This account's commits from before the restore. They renew nothing, since the other copy has them too.
    var oldCommits: Set<EventID> = []

    /// Whether this account's events are held back.
    var holdsBack: Bool { if case .renewed = self.phase { false } else { true } }
    /// The newest epoch whose waiting messages of this account are to be sealed again; nil if none are.
    var resealedEpoch: Epoch? { if case .resealing(let epoch) = self.phase { epoch } else { nil } }
}

/// The stored form: JSON, version 1.
extension CopiedGroup {
    var stored: Secret {
        var fields: JSONObject = ["v": 1, "old": .array(self.oldCommits.sorted().map { .string($0.hex) })]
        switch self.phase {
        case .reading: fields["phase"] = "reading"
        case .renewing: fields["phase"] = "renewing"
        case .resealing(let epoch):
            fields["phase"] = "resealing"
            fields["epoch"] = .string(String(epoch))
        case .renewed(let epoch):
            fields["phase"] = "renewed"
            fields["epoch"] = .string(String(epoch))
        case .overtaken: fields["phase"] = "overtaken"
        }
        return Secret(JSONValue.object(fields).json())
    }

    /// Parses a memo; nil if it is malformed.
    init?(_ content: Secret) {
        guard let json = JSONValue(memo: content),
            let old = json["old"]?.array?.map({ $0.string.flatMap { try? EventID(hex: $0) } }),
            !old.contains(nil)
        else { return nil }
        let epoch = json["epoch"]?.string.flatMap { Epoch($0) }
        let phase: Phase? =
            switch json["phase"]?.string {
            case "reading": .reading
            case "renewing": .renewing
            case "resealing": epoch.map { .resealing(epoch: $0) }
            case "renewed": epoch.map { .renewed(epoch: $0) }
            case "overtaken": .overtaken
            default: nil
            }
        guard let phase else { return nil }
        self.init(phase: phase, oldCommits: Set(old.compactMap { $0 }))
    }
}
