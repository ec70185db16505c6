public import Nostr

/// Kind 446: asks a push server to wake devices; sent only in a gift wrap, by single-use keys (MIP-05).
public enum PushNotifications {
    /// Maximum number of tokens in a received event: as many as are certain to fit NIP-44.
    public static let maximumTokens = 25
    /// Maximum number of tokens in a sent event. 25 tokens make a gift wrap of 77,000 bytes, and many relays accept at
    /// most 65,536.
    public static let tokensPerEvent = 19
    private static let version = "mip05-v1"
    private static let encoding = "base64"

    /// Relays and tokens of the routes that share one server.
    public struct Batch: Hashable, Sendable {
        /// The push server's public key.
        public let server: PublicKey
        /// Without duplicates, in the order of the routes.
        public internal(set) var relays: [RelayURL]
        /// Without duplicates, in the order of the routes.
        public internal(set) var tokens: [PushToken]
    }

    /// Groups routes by server; a token that two members list is requested once.
    public static func batches(_ routes: [PushRoute]) -> [Batch] {
        var batches: [PublicKey: Batch] = [:]
        for route in routes {
            var batch = batches[route.server] ?? Batch(server: route.server, relays: [], tokens: [])
            if !batch.relays.contains(route.relay) { batch.relays.append(route.relay) }
            if !batch.tokens.contains(route.token) { batch.tokens.append(route.token) }
            batches[route.server] = batch
        }
        return batches.values.sorted { $0.server < $1.server }
    }

    /// Creates the events for one server, to be published on its inbox relays, with ``tokensPerEvent`` tokens each.
    /// Each event has a fresh author key inside a wrap by another fresh key, so that neither relay nor server learns
    /// the sender.
    ///
    /// - Throws: `MarmotError.Code.badPushToken` for a server key off the curve; other servers can still be asked.
    public static func events(
        _ batch: Batch, now: UnixTime, using rng: inout some RandomNumberGenerator
    ) throws(MarmotError) -> [Event] {
        var events: [Event] = []
        for start in stride(from: 0, to: batch.tokens.count, by: self.tokensPerEvent) {
            let author = KeyPair.generate(using: &rng)
            let chunk = Array(batch.tokens[start...].prefix(self.tokensPerEvent))
            let rumor = try self.rumor(chunk, by: author.publicKey, now: now)
            do {
                events.append(try GiftWrap.wrap(rumor, from: author, to: batch.server, now: now, using: &rng))
            } catch { throw MarmotError(.badPushToken, "a request cannot be gift-wrapped: \(error.message)") }
        }
        return events
    }

    /// Creates the inner event; `author` must be a single-use key.
    ///
    /// - Throws: `MarmotError.Code.badPushToken` unless there are 1 to ``maximumTokens`` tokens without duplicates.
    public static func rumor(
        _ tokens: [PushToken], by author: PublicKey, now: UnixTime
    ) throws(MarmotError) -> UnsignedEvent {
        try self.check(tokens)
        return UnsignedEvent(
            pubkey: author, createdAt: now, kind: .pushNotification,
            tags: [Tag("v", self.version), Tag("encoding", self.encoding)],
            content: Base64.encode(tokens.flatMap(\.bytes)))
    }

    /// Parses an inner event, as a push server does.
    ///
    /// - Throws: `MarmotError.Code.wrongKind`; `MarmotError.Code.badTag` unless the tags are exactly one `v` and
    ///   one `encoding`; `MarmotError.Code.badContent` unless the content is Base64 of whole tokens;
    ///   `MarmotError.Code.badPushToken` as ``rumor(_:by:now:)`` does.
    public static func read(_ rumor: UnsignedEvent) throws(MarmotError) -> [PushToken] {
        guard rumor.kind == .pushNotification else {
            throw MarmotError(.wrongKind, "expected a notification request (kind 446), found kind \(rumor.kind)")
        }
        let expected = [["v", self.version], ["encoding", self.encoding]]
        guard rumor.tags.count == 2, expected.allSatisfy({ rumor.tags.contains(Tag(values: $0)) }) else {
            throw MarmotError(.badTag, "kind 446 must have exactly the tags v mip05-v1 and encoding base64 (MIP-05)")
        }
        guard let bytes = Base64.decode(rumor.content), bytes.count.isMultiple(of: PushToken.count) else {
            throw MarmotError(.badContent, "the content of kind 446 must be Base64 of complete tokens (MIP-05)")
        }
        var tokens: [PushToken] = []
        for start in stride(from: 0, to: bytes.count, by: PushToken.count) {
            tokens.append(try PushToken(bytes: bytes[start..<start + PushToken.count]))
        }
        try self.check(tokens)
        return tokens
    }

    private static func check(_ tokens: [PushToken]) throws(MarmotError) {
        guard (1...self.maximumTokens).contains(tokens.count) else {
            throw MarmotError(
                .badPushToken, "request: expected 1 to \(self.maximumTokens) tokens, found \(tokens.count) (MIP-05)")
        }
        guard Set(tokens).count == tokens.count else {
            throw MarmotError(.badPushToken, "a request holds the same token twice (MIP-05)")
        }
    }
}
