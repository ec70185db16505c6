import MLS
import Marmot
import Nostr

/// The push routes of one leaf of a group (docs/protocol/marmot.md §7.5).
struct PushEntry: Sendable, Hashable {
    /// The account in the leaf: another account may occupy it later.
    let member: PublicKey
    /// Empty if the member has withdrawn its routes.
    let routes: [PushRoute]
    /// Whether the member itself stated the routes; otherwise another member relayed them.
    let isDirect: Bool
    /// The time at which the routes were stated.
    let time: UnixTime
    /// For this account's own leaf: the number of the shared registration.
    var registration: Int64?

    /// The age in seconds at which this account's token is stated again. It is random, because the token begins with a
    /// random key, and the same after a restart.
    var refreshAge: Int64 {
        let range = PushTokens.refreshAge
        let bytes = self.routes.first?.token.bytes.prefix(4) ?? []
        let number = bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return range.lowerBound + number % (range.upperBound - range.lowerBound)
    }

    static func memoName(_ groupID: GroupID, _ leaf: LeafIndex) -> MemoName {
        let number = leaf.rawValue
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
        return MemoName(.pushRoutes, groupID.bytes + bytes)
    }

    /// Splits a memo's key into group id and leaf; nil if it is malformed.
    static func place(_ name: MemoName) -> (groupID: GroupID, leaf: LeafIndex)? {
        guard name.key.count > 4 else { return nil }
        let number = name.key.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return (GroupID(name.key.dropLast(4)), LeafIndex(rawValue: number))
    }
}

// MARK: - Stored form: JSON, version 1

extension PushEntry {
    var memo: Secret {
        let routes = self.routes.map { route in
            JSONValue.array([.string(route.token.base64), .string(route.server.hex), .string(route.relay.string)])
        }
        var json: JSONObject = [
            "v": 1, "member": .string(self.member.hex), "routes": .array(routes), "direct": .bool(self.isDirect),
            "time": .integer(self.time.seconds),
        ]
        if let registration = self.registration { json["registration"] = .integer(registration) }
        return Secret(JSONValue.object(json).json())
    }

    init?(memo: Secret) {
        guard let json = JSONValue(memo: memo),
            let member = json["member"]?.string.flatMap({ try? PublicKey(hex: $0) }),
            let list = json["routes"]?.array, let isDirect = json["direct"]?.bool, let time = json["time"]?.integer
        else { return nil }
        let routes = list.compactMap { PushRoute(stored: $0) }
        guard routes.count == list.count else { return nil }
        self.init(
            member: member, routes: routes, isDirect: isDirect, time: UnixTime(time),
            registration: json["registration"]?.integer)
    }
}

extension PushRoute {
    fileprivate init?(stored json: JSONValue) {
        guard let values = json.array?.compactMap(\.string), values.count == 3,
            let token = try? PushToken(base64: values[0]), let server = try? PublicKey(hex: values[1]),
            let relay = try? RelayURL(values[2])
        else { return nil }
        self.init(token, server: server, relay: relay)
    }
}
