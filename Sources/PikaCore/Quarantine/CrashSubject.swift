import MLS
import Nostr

/// A unit of the core's work that may crash the process.
package struct CrashSubject: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A relay message that is not decoded yet; the name is a digest of its bytes.
        case frame
        /// An event of kind 445 or 1059, or another one sent by a relay; the name is its id.
        case event
        /// A group; the name is its MLS group id in hex, or a digest of an id beyond 32 bytes.
        case group
        /// A stored row; the name is the table and the row's key.
        case row
        /// A change that is being stored; the name is its kind and a digest of the row's key.
        case change
        /// All messages of a relay; the name is its URL.
        case relay
        /// All gift wraps, which anyone can send; the name is `all`.
        case giftWraps = "gift-wraps"
        /// A pass over many small items, noted as a whole; the name is the stage. Never quarantined.
        case pass
    }

    package let kind: Kind
    package let name: String

    init(_ kind: Kind, _ name: String) {
        self.kind = kind
        self.name = name
    }

    static func event(_ id: EventID) -> CrashSubject { CrashSubject(.event, id.hex) }

    static func group(_ id: GroupID) -> CrashSubject {
        CrashSubject(.group, id.bytes.count <= 32 ? id.hex : Hex.encode(SHA256Derivation.digest(id.bytes)))
    }

    static let giftWraps = CrashSubject(.giftWraps, "all")

    static func relay(_ url: RelayURL) -> CrashSubject {
        let text = url.string
        let isShort = text.utf8.count <= 120 && !text.contains(" ")
        return CrashSubject(.relay, isShort ? text : Hex.encode(SHA256Derivation.digest(Array(text.utf8))))
    }

    /// - Parameter key: the row's key within its table; no whitespace.
    package static func row(table: String, key: String) -> CrashSubject { CrashSubject(.row, "\(table)/\(key)") }

    static func change(_ kind: String, _ key: [UInt8]) -> CrashSubject {
        CrashSubject(.change, "\(kind)/\(Hex.encode(SHA256Derivation.digest(key).prefix(16)))")
    }

    static func pass(_ stage: CrashStage) -> CrashSubject { CrashSubject(.pass, stage.rawValue) }

    /// The subject of a relay message, named by its bytes after the subscription id, which differs between requests.
    /// The event id that the message claims is not used: a relay could then get another event quarantined.
    static func frame(_ bytes: [UInt8]) -> CrashSubject {
        let start = bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0
        return CrashSubject(.frame, Hex.encode(SHA256Derivation.digest(Array(bytes[start...])).prefix(16)))
    }
}

extension CrashSubject: CustomStringConvertible, LosslessStringConvertible {
    /// The kind and the name, such as `event/5f0c…`: no whitespace.
    package var description: String { "\(self.kind.rawValue)/\(self.name)" }

    package init?(_ description: String) {
        guard let slash = description.firstIndex(of: "/"), let kind = Kind(rawValue: String(description[..<slash])),
            !description.contains(where: \.isWhitespace), description.utf8.count <= 200
        else { return nil }
        let name = String(description[description.index(after: slash)...])
        guard !name.isEmpty else { return nil }
        self.init(kind, name)
    }
}

/// The core's operation on a subject.
package enum CrashStage: String, Hashable, Sendable, CaseIterable {
    /// Decoding and verifying a relay message.
    case decode
    /// Opening and validating an event.
    case ingest
    /// Applying an event, or a handler's effects, to the core's state.
    case reduce
    /// Writing changes to the store.
    case store
    /// Reading rows of the store at startup.
    case read
    /// Building the core's state from the stored rows.
    case restore

    /// Whether the stage is a pass over many small items, noted as a whole at first.
    var isPass: Bool {
        switch self {
        case .store, .read, .restore: true
        case .decode, .ingest, .reduce: false
        }
    }
}
