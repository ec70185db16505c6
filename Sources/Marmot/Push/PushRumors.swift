public import MLS
public import Nostr

/// Route for waking one device: its token and the server that may use it (MIP-05).
public struct PushRoute: Hashable, Sendable {
    /// The device's token, encrypted to the server.
    public let token: PushToken
    /// The server's key. From peers it may be any 32 bytes; an invalid point is detected only when encrypting to it.
    public let server: PublicKey
    /// Relay that has the server's list of inbox relays (kind 10050).
    public let relay: RelayURL

    /// Creates a route without checking the server's key.
    public init(_ token: PushToken, server: PublicKey, relay: RelayURL) {
        self.token = token
        self.server = server
        self.relay = relay
    }
}

/// Inner events with which members exchange push routes: kinds 447, 448 and 449 (MIP-05).
public enum PushRumor: Hashable, Sendable {
    /// 447: announces the routes to the author's device and asks other members for the routes they know.
    case request([PushRoute])
    /// 448: the known routes by their owners' leaves, in answer to a 447. Send it after a random delay of 0 to 2
    /// seconds, so that not every member answers.
    case list([LeafIndex: PushRoute], answering: EventID)
    /// 449: withdraws the author's routes.
    case removal

    /// Returns the inner event to send, with lists sorted by leaf.
    ///
    /// - Throws: `MarmotError.Code.badTag` for a request or list without routes.
    public func rumor(by account: PublicKey, now: UnixTime) throws(MarmotError) -> UnsignedEvent {
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

    /// The kinds of these events.
    package static let kinds: [Kind] = [.pushTokenRequest, .pushTokenList, .pushTokenRemoval]

    /// Parses an inner event whose author has been authenticated.
    ///
    /// The caller must check against the group that the leaves exist and belong to the members that the sender claims.
    ///
    /// - Throws: `MarmotError.Code.wrongKind`; `MarmotError.Code.badContent` unless the content is empty;
    ///   `MarmotError.Code.badTag`, including for tags that MIP-05 does not define;
    ///   `MarmotError.Code.badPushToken`.
    public init(_ rumor: UnsignedEvent) throws(MarmotError) {
        guard Self.kinds.contains(rumor.kind) else {
            throw MarmotError(.wrongKind, "expected kind 447, 448 or 449, found \(rumor.kind) (MIP-05)")
        }
        guard rumor.content.isEmpty else {
            throw MarmotError(.badContent, "the content of kind \(rumor.kind) must be empty (MIP-05)")
        }
        switch rumor.kind {
        case .pushTokenRequest: self = .request(try Self.readRequest(rumor.tags))
        case .pushTokenList: self = try Self.readList(rumor.tags)
        default:
            guard rumor.tags.isEmpty else { throw MarmotError(.badTag, "kind 449 must have no tags (MIP-05)") }
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
                    throw MarmotError(.badTag, "a token list must have exactly one e tag, an event id (MIP-05)")
                }
                request = id
            default: throw Self.unknown(tag, .pushTokenList)
            }
        }
        try Self.requireSome(routes.count, .pushTokenList)
        guard let request else { throw MarmotError(.badTag, "a token list lacks the e tag of its request (MIP-05)") }
        return .list(routes, answering: request)
    }

    private static func leaf(_ text: String) throws(MarmotError) -> LeafIndex {
        // Check the digits first, because UInt32's initializer also accepts a plus sign.
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt32(text) else {
            throw MarmotError(.badTag, "a leaf index of a token list must be a 32-bit number (MIP-05)")
        }
        return LeafIndex(rawValue: number)
    }

    private static func requireSome(_ count: Int, _ kind: Kind) throws(MarmotError) {
        guard count > 0 else { throw MarmotError(.badTag, "kind \(kind) needs at least one token (MIP-05)") }
    }

    private static func unknown(_ tag: Tag, _ kind: Kind) -> MarmotError {
        MarmotError(.badTag, "kind \(kind) does not allow tag \(tag.name.debugDescription.prefix(40)) (MIP-05)")
    }
}

extension PushRoute {
    static let tagName = "token"

    var values: [String] { [Self.tagName, self.token.base64, self.server.hex, self.relay.string] }

    /// Parses a `token` tag with exactly `count` strings; the caller reads the fifth one, which only lists have.
    init(_ tag: Tag, values count: Int) throws(MarmotError) {
        guard tag.values.count == count else {
            throw MarmotError(.badTag, "token tag: expected \(count) strings, found \(tag.values.count) (MIP-05)")
        }
        let token = try PushToken(base64: tag.values[1])
        guard let server = try? PublicKey(hex: tag.values[2]) else {
            throw MarmotError(.badTag, "a token tag lacks a valid server key (MIP-05)")
        }
        guard let relay = try? RelayURL(tag.values[3]) else {
            throw MarmotError(.badTag, "the relay of a token tag is not a ws:// or wss:// URL (MIP-05)")
        }
        self.init(token, server: server, relay: relay)
    }
}
