public import MLS
public import Nostr

/// Where one device can be woken: its token and the server that may use it (MIP-05).
public struct PushRoute: Hashable, Sendable {
    public let token: PushToken
    /// The server's key; from peers any 32 bytes, whether they are on the curve shows when one encrypts for it.
    public let server: PublicKey
    /// Where the server's list of inbox relays (kind 10050) can be found.
    public let relay: RelayURL

    public init(_ token: PushToken, server: PublicKey, relay: RelayURL) {
        self.token = token
        self.server = server
        self.relay = relay
    }
}

/// The inner events by which members tell each other how to wake them: kinds 447, 448 and 449 (MIP-05).
public enum PushRumor: Hashable, Sendable {
    /// 447: the routes to the author's device; others are asked for what they know.
    case request([PushRoute])
    /// 448: the routes known, by their owners' leaves, in answer to a 447. It is due after a random 0 to 2 seconds,
    /// so that not everybody answers.
    case list([LeafIndex: PushRoute], answering: EventID)
    /// 449: the author's routes are of no more use.
    case removal

    /// The inner event to send; a list is written in the order of the leaves.
    ///
    /// Throws ``MarmotError/Code/badTag`` for a request or list without routes.
    public func rumor(by account: PublicKey, now: Int64) throws(MarmotError) -> UnsignedEvent {
        let kind: Kind
        var tags: [Tag] = []
        switch self {
        case .request(let routes):
            kind = .pushTokenRequest
            try Self.requireSome(routes.count, kind)
            tags = routes.map { Tag(values: $0.values) }
        case .list(let routes, let request):
            kind = .pushTokenList
            try Self.requireSome(routes.count, kind)
            let sorted = routes.sorted { $0.key.rawValue < $1.key.rawValue }
            tags = sorted.map { Tag(values: $0.value.values + [String($0.key.rawValue)]) } + [.event(request)]
        case .removal: kind = .pushTokenRemoval
        }
        return UnsignedEvent(pubkey: account, createdAt: now, kind: kind, tags: tags, content: "")
    }

    /// Reads an inner event; its author was proved before.
    ///
    /// Whether the leaves exist, and belong to whom the sender says, is for the caller to compare with the group.
    /// Throws ``MarmotError/Code/wrongKind``, ``MarmotError/Code/badContent`` (it must be empty),
    /// ``MarmotError/Code/badTag`` (also for tags that MIP-05 does not know) or ``MarmotError/Code/badPushToken``.
    public init(_ rumor: UnsignedEvent) throws(MarmotError) {
        let kinds: [Kind] = [.pushTokenRequest, .pushTokenList, .pushTokenRemoval]
        guard kinds.contains(rumor.kind) else {
            throw MarmotError(.wrongKind, "kind \(rumor.kind) is none of 447, 448 and 449 (MIP-05)")
        }
        guard rumor.content.isEmpty else {
            throw MarmotError(.badContent, "the content of kind \(rumor.kind) is not empty (MIP-05)")
        }
        switch rumor.kind {
        case .pushTokenRequest: self = .request(try Self.readRequest(rumor.tags))
        case .pushTokenList: self = try Self.readList(rumor.tags)
        default:
            guard rumor.tags.isEmpty else { throw MarmotError(.badTag, "kind 449 has no tags (MIP-05)") }
            self = .removal
        }
    }

    private static func readRequest(_ tags: [Tag]) throws(MarmotError) -> [PushRoute] {
        var routes: [PushRoute] = []
        for tag in tags {
            guard tag.name == PushRoute.tagName else { throw Self.unknown(tag, .pushTokenRequest) }
            routes.append(try PushRoute(tag, values: 4))
        }
        try Self.requireSome(routes.count, .pushTokenRequest)
        return routes
    }

    private static func readList(_ tags: [Tag]) throws(MarmotError) -> PushRumor {
        var routes: [LeafIndex: PushRoute] = [:]
        var request: EventID?
        for tag in tags {
            switch tag.name {
            case PushRoute.tagName:
                let route = try PushRoute(tag, values: 5)
                let leaf = try Self.leaf(tag.values[4])
                guard routes.updateValue(route, forKey: leaf) == nil else {
                    throw MarmotError(.badTag, "leaf \(leaf.rawValue) has two tokens in one list (MIP-05)")
                }
            case "e":
                guard request == nil, let id = tag.value.flatMap({ try? EventID(hex: $0) }) else {
                    throw MarmotError(.badTag, "a token list has exactly one e tag, an event's id (MIP-05)")
                }
                request = id
            default: throw Self.unknown(tag, .pushTokenList)
            }
        }
        try Self.requireSome(routes.count, .pushTokenList)
        guard let request else { throw MarmotError(.badTag, "a token list does not say what it answers (MIP-05)") }
        return .list(routes, answering: request)
    }

    private static func leaf(_ text: String) throws(MarmotError) -> LeafIndex {
        // The initialiser of integers takes a plus sign too.
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt32(text) else {
            throw MarmotError(.badTag, "a leaf index of a token list is not a number of 32 bits (MIP-05)")
        }
        return LeafIndex(rawValue: number)
    }

    private static func requireSome(_ count: Int, _ kind: Kind) throws(MarmotError) {
        guard count > 0 else { throw MarmotError(.badTag, "kind \(kind) needs at least one token (MIP-05)") }
    }

    private static func unknown(_ tag: Tag, _ kind: Kind) -> MarmotError {
        MarmotError(.badTag, "kind \(kind) has no tag \(tag.name.debugDescription.prefix(40)) (MIP-05)")
    }
}

extension PushRoute {
    static let tagName = "token"

    var values: [String] { [Self.tagName, self.token.base64, self.server.hex, self.relay.string] }

    /// Reads a `token` tag that has this many strings; the fifth, of lists, is the caller's to read.
    init(_ tag: Tag, values count: Int) throws(MarmotError) {
        guard tag.values.count == count else {
            throw MarmotError(.badTag, "a token tag has \(count) strings, not \(tag.values.count) (MIP-05)")
        }
        let token = try PushToken(base64: tag.values[1])
        guard let server = try? PublicKey(hex: tag.values[2]) else {
            throw MarmotError(.badTag, "a token tag names no server's key (MIP-05)")
        }
        guard let relay = try? RelayURL(tag.values[3]) else {
            throw MarmotError(.badTag, "the relay of a token tag is not ws or wss (MIP-05)")
        }
        self.init(token, server: server, relay: relay)
    }
}
