import MLS
import Nostr

// MARK: - Stored form: JSON, version 1

extension KeyTask {
    var memo: Secret {
        var json: JSONObject = ["v": 1]
        func put(_ name: String, _ fields: (String, JSONValue)...) {
            json["task"] = .string(name)
            for (name, value) in fields { json[name] = value }
        }
        switch self {
        case .open(let event): put("open", ("event", Self.text(event.json())))
        case .seal(let due):
            put(
                "seal", ("row", .string(due.row)), ("rumor", Self.text(due.rumor.rumorJSON())),
                ("recipient", .string(due.recipient.hex)), ("relays", Self.list(due.relays)))
        case .announce(let reference): put("announce", ("reference", .string(Hex.encode(reference))))
        case .relayList(let kind): put("relay_list", ("kind", .integer(Int64(kind.rawValue))))
        case .delete(let ids, let relays):
            put("delete", ("ids", .array(ids.map { .string($0.hex) })), ("relays", Self.list(relays)))
        case .publish(let due):
            put(
                "publish", ("row", .string(due.row)), ("draft", Self.text(due.draft.rumorJSON())),
                ("relays", Self.list(due.relays)), ("purpose", .string(due.purpose.rawValue)))
        case .proveDevice, .readNotice, .publishNotice, .authorize:
            preconditionFailure("a task that ends with the process is not stored")
        }
        return Secret(JSONValue.object(json).json())
    }

    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo) else { return nil }
        let task: KeyTask?
        switch json["task"]?.string {
        case "open": task = Self.bytes(json["event"]).flatMap { try? Event(json: $0) }.map(KeyTask.open)
        case "seal": task = DueSeal(json).map(KeyTask.seal)
        case "announce": task = json["reference"]?.string.flatMap { Hex.decode($0) }.map(KeyTask.announce)
        case "relay_list":
            task = json["kind"]?.integer.flatMap { UInt16(exactly: $0) }.map { .relayList(Kind(rawValue: $0)) }
        case "delete":
            let ids = json["ids"]?.array?.compactMap { $0.string.flatMap { try? EventID(hex: $0) } }
            if let ids, let relays = Self.relays(json["relays"]) { task = .delete(ids, at: relays) } else { task = nil }
        case "publish": task = DuePublication(json).map(KeyTask.publish)
        default: task = nil
        }
        guard let task else { return nil }
        self = task
    }

    fileprivate static func text(_ json: [UInt8]) -> JSONValue { .string(String(decoding: json, as: UTF8.self)) }
    fileprivate static func bytes(_ json: JSONValue?) -> [UInt8]? { json?.string.map { Array($0.utf8) } }
    fileprivate static func list(_ relays: [RelayURL]) -> JSONValue { .array(relays.map { .string($0.string) }) }

    fileprivate static func relays(_ json: JSONValue?) -> [RelayURL]? {
        json?.array?.compactMap { $0.string.flatMap { try? RelayURL($0) } }
    }

    fileprivate static func rumor(_ json: JSONValue?) -> UnsignedEvent? {
        self.bytes(json).flatMap { try? UnsignedEvent.parseRumor($0).event }
    }
}

extension DueSeal {
    fileprivate init?(_ json: JSONValue) {
        guard let row = json["row"]?.string, let rumor = KeyTask.rumor(json["rumor"]),
            let recipient = json["recipient"]?.string.flatMap({ try? PublicKey(hex: $0) }),
            let relays = KeyTask.relays(json["relays"])
        else { return nil }
        self.init(row: row, rumor: rumor, recipient: recipient, relays: relays)
    }
}

extension DuePublication {
    fileprivate init?(_ json: JSONValue) {
        guard let row = json["row"]?.string, let draft = KeyTask.rumor(json["draft"]),
            let relays = KeyTask.relays(json["relays"]),
            let purpose = json["purpose"]?.string.flatMap({ OutboxRow.Purpose(rawValue: $0) })
        else { return nil }
        self.init(row: row, draft: draft, relays: relays, purpose: purpose)
    }
}
