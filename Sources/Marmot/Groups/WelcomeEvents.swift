public import MLS
public import Nostr

/// Kind 444: an MLS Welcome as an inner event, sent in a gift wrap (MIP-02).
public enum WelcomeEvents {
    /// Returns the invitation for one new member. ``SizeLimits`` tells whether it can be sent.
    ///
    /// - Parameters:
    ///   - welcome: the encoded MLSMessage with the Welcome for all members that the commit adds.
    ///   - keyPackageEvent: the event whose key package was used.
    public static func rumor(
        _ welcome: [UInt8], keyPackageEvent: EventID, relays: [RelayURL], client: String, from account: PublicKey,
        now: UnixTime
    ) -> UnsignedEvent {
        UnsignedEvent(
            pubkey: account, createdAt: now, kind: .welcome,
            tags: [
                Tag(values: ["relays"] + relays.map(\.string)), Tag("e", keyPackageEvent.hex), Tag("client", client),
                Tag("encoding", "base64"),
            ], content: Base64.encode(welcome))
    }

    /// Welcome parsed from its inner event.
    public struct Invitation: Sendable {
        /// Account that sent the Welcome: the inner event's author.
        public let inviter: PublicKey
        /// The parsed MLS Welcome.
        public let welcome: Welcome
        /// Relays that carry the group's events, at least one.
        public let relays: [RelayURL]
        /// Time of the invitation by the inviter's clock.
        public let createdAt: UnixTime
    }

    /// Parses the inner event of a gift wrap (docs/protocol/marmot.md §4.1).
    public static func read(_ rumor: UnsignedEvent) throws(MarmotError) -> Invitation {
        guard rumor.kind == .welcome else {
            throw MarmotError(.wrongKind, "expected a Welcome (kind 444), found kind \(rumor.kind.rawValue)")
        }
        let encodings = rumor.tags.filter { $0.name == "encoding" }
        guard !encodings.isEmpty, encodings.allSatisfy({ $0.value == "base64" }) else {
            throw MarmotError(.badTag, "a Welcome needs an encoding tag, and each must be base64 (MIP-02)")
        }
        guard rumor.tags.contains(where: { $0.name == "e" && !($0.value ?? "").isEmpty }) else {
            throw MarmotError(.badTag, "tag e of a Welcome is missing or empty (MIP-02)")
        }
        if let client = rumor.tags.first(where: { $0.name == "client" }), (client.value ?? "").isEmpty {
            throw MarmotError(.badTag, "tag client of a Welcome is empty (MIP-02)")
        }
        var relays: [RelayURL] = []
        for text in rumor.tags.filter({ $0.name == "relays" }).flatMap({ $0.values.dropFirst() }) {
            guard let relay = try? RelayURL(text) else {
                throw MarmotError(
                    .badTag, "tag relays of a Welcome holds a value that is not a ws:// or wss:// URL (MIP-02)")
            }
            relays.append(relay)
        }
        guard !relays.isEmpty else {
            throw MarmotError(.badTag, "tag relays of a Welcome is missing or empty (MIP-02)")
        }
        guard let bytes = Base64.decode(rumor.content) else {
            throw MarmotError(.badContent, "the content of a Welcome is not Base64 (MIP-02)")
        }
        let message: MLSMessage
        do { message = try MLSMessage(bytes) } catch { throw MarmotError(.mls, "\(error)") }
        guard case .welcome(let welcome) = message else {
            throw MarmotError(.badContent, "the content is a \(message.wireFormat), not a Welcome (MIP-02)")
        }
        return Invitation(
            inviter: rumor.pubkey, welcome: welcome, relays: relays, createdAt: rumor.createdAt)
    }
}
