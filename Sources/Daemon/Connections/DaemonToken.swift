import Crypto
import Foundation
package import Nostr

/// Access token of a socket client. Only its hash is stored.
package struct DaemonToken: Hashable, Sendable {
    package enum Scope: String, Sendable, CaseIterable {
        case full
        /// Commands that change nothing, and events.
        case read
    }

    /// Name for people to recognise the token by.
    package var name: String
    package var scope: Scope
    /// SHA-256 of the token.
    package var hash: [UInt8]
    /// The time of creation.
    package var createdAt: UnixTime

    /// Creates a token, `pikabot_` and 64 hex digits, and its stored form.
    package static func make(
        name: String, scope: Scope, now: UnixTime, using generator: inout some RandomNumberGenerator
    ) -> (text: String, token: DaemonToken) {
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let text = "pikabot_" + Hex.encode(bytes)
        return (text, DaemonToken(name: name, scope: scope, hash: Self.hash(text), createdAt: now))
    }

    /// Returns the scope of a token; nil if it is unknown. Runs in constant time for tokens of the same length.
    static func scope(of text: String, in tokens: [DaemonToken]) -> Scope? {
        let hash = Self.hash(text)
        var found: Scope?
        for token in tokens where token.hash.count == hash.count {
            var difference: UInt8 = 0
            for (one, other) in zip(token.hash, hash) { difference |= one ^ other }
            if difference == 0 { found = token.scope }
        }
        return found
    }

    private static func hash(_ text: String) -> [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }
}

extension DaemonToken {
    /// Parses the token file; returns no tokens if it is empty. Throws `DaemonError.Code.badTokenFile`.
    package static func read(_ text: String) throws(DaemonError) -> [DaemonToken] {
        let blank = text.allSatisfy(\.isWhitespace)
        guard !blank else { return [] }
        guard let json = try? JSONValue(json: text), let list = json["tokens"]?.array else {
            throw DaemonError(.badTokenFile, "the token file must be a JSON object with a list `tokens`")
        }
        let tokens = list.compactMap(DaemonToken.init)
        guard tokens.count == list.count else {
            throw DaemonError(.badTokenFile, "the token file has an entry that is not a token")
        }
        return tokens
    }

    package static func text(of tokens: [DaemonToken]) -> JSONValue {
        ["tokens": .array(tokens.map(\.json))]
    }

    private var json: JSONValue {
        [
            "name": .string(self.name), "scope": .string(self.scope.rawValue), "sha256": .string(Hex.encode(self.hash)),
            "created_at": .integer(self.createdAt.seconds),
        ]
    }

    private init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, let scope = json["scope"]?.string.flatMap(Scope.init(rawValue:)),
            let hash = json["sha256"]?.string.flatMap({ Hex.decode($0) }), hash.count == 32,
            let createdAt = json["created_at"]?.integer.map({ UnixTime($0) })
        else { return nil }
        self.init(name: name, scope: scope, hash: hash, createdAt: createdAt)
    }
}
