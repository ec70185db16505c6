import MLS
import Nostr

/// A group of which another copy of this account's state has the keys too, after a restore; kept as a memo.
///
/// Nothing of one's own leaves in it until a commit has given this copy keys that the other one cannot have. The
/// handshake key that encrypts this one commit may be used a second time; RFC 9420 §6.3.1 guards against that with
/// random bytes in the nonce.
struct CopiedGroup: Sendable, Hashable {
    enum Phase: Sendable, Hashable {
        /// What relays hold has to be read first.
        case reading
        /// The commit is to be made, or on its way.
        case renewing
        /// The commit ended this epoch; own messages that waited are being sealed again.
        case resealing(epoch: Epoch)
        /// Done; a better commit may still undo the one that ended this epoch.
        case renewed(epoch: Epoch)
        /// The other copy has changed the keys: this one cannot follow.
        case overtaken
    }

    var phase = Phase.reading
    /// Own commits of before the restore. They renew nothing, since the other copy has them too.
    var oldCommits: Set<EventID> = []

    /// Whether own events must not leave.
    var holdsBack: Bool { if case .renewed = self.phase { false } else { true } }
    /// Own messages that wait and are of this epoch or an earlier one are to be sealed again.
    var resealedEpoch: Epoch? { if case .resealing(let epoch) = self.phase { epoch } else { nil } }
}

/// How it is kept: JSON, version 1.
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

    /// Nil if it is none.
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
