import MLS
import Marmot
import Nostr

/// Changes that bring the store up to date with a ``ConvergingGroup``.
struct ConvergingGroupChanges: Sendable {
    /// The header of the selected state, if it changed.
    var header: Secret?
    /// Changes to the MLS records of the selected state.
    var mls: GroupStorageChanges
    /// Further rows, each a header without records; nil for those to delete.
    var rows: [StoredConvergingKey.Part: Secret?]

    /// Returns the changes to the store.
    func storeChanges(of groupID: GroupID) -> [StoreChange] {
        let key = StoredConvergingKey(groupID, .tip).bytes
        var changes: [StoreChange] = []
        if let header { changes.append(.putGroupHeader(key: key, header: header)) }
        if self.mls.replacesAll || !self.mls.records.isEmpty { changes.append(.updateGroup(key: key, self.mls)) }
        for (part, content) in self.rows {
            let key = StoredConvergingKey(groupID, part).bytes
            if let content {
                changes.append(.putGroupHeader(key: key, header: content))
            } else {
                changes.append(.deleteGroup(key: key))
            }
        }
        return changes
    }
}

/// The stored rows of a group of the second generation.
struct StoredConvergingGroup: Sendable {
    private var tip: StoredGroupPart?
    private var parts: [ConvergencePart: Secret] = [:]
    private(set) var ownCommits: [Bytes32: Secret] = [:]
    /// A state of the group for ``OtherStates``.
    private(set) var left: StoredGroupPart?

    /// The rows of the branch selection; nil if the selected state is missing.
    var rows: StoredConvergenceRows? { self.tip.map { StoredConvergenceRows(tip: $0, parts: self.parts) } }

    mutating func add(_ row: StoredGroup, as part: StoredConvergingKey.Part) {
        switch part {
        case .tip: self.tip = StoredGroupPart(header: row.header, records: row.records)
        case .convergence(let part): self.parts[part] = row.header
        case .ownCommit(let digest): self.ownCommits[digest] = row.header
        case .left: self.left = StoredGroupPart(header: row.header, records: row.records)
        }
    }
}

/// Stored form: JSON, version 1.
extension PendingOwnCommit {
    var stored: Secret {
        let welcomes = self.welcomes.map { welcome -> JSONValue in
            [
                "to": .string(welcome.recipient.hex),
                "rumor": .string(String(decoding: welcome.rumor.rumorJSON(), as: UTF8.self)),
            ]
        }
        let json: JSONValue = [
            "v": 1, "event": self.event.jsonValue, "digest": .string(self.digest.hex),
            "epoch": .string("\(self.epoch.rawValue)"), "welcomes": .array(welcomes),
        ]
        return Secret(json.json())
    }

    init?(stored: Secret) {
        guard let json = JSONValue(memo: stored), let event = json["event"].flatMap({ Event($0) }),
            let digest = json["digest"]?.string.flatMap({ Bytes32(hex: $0) }),
            let epoch = json["epoch"]?.string.flatMap({ UInt64($0) }), let list = json["welcomes"]?.array
        else { return nil }
        var welcomes: [DueWelcome] = []
        for item in list {
            guard let recipient = item["to"]?.string.flatMap({ try? PublicKey(hex: $0) }),
                let text = item["rumor"]?.string, let rumor = try? UnsignedEvent.parseRumor(Array(text.utf8)).event
            else { return nil }
            welcomes.append(DueWelcome(recipient: recipient, rumor: rumor))
        }
        self.init(event: event, digest: digest, epoch: Epoch(rawValue: epoch), welcomes: welcomes)
    }
}
