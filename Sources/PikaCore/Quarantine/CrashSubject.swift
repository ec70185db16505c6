import MLS
import Nostr

/// Something that the core works on, and that a process may have died of.
public struct CrashSubject: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A message of a relay that was not decoded yet; the name is a digest of its bytes.
        case frame
        /// An event of kind 445 or 1059, or another one that a relay sent; the name is its id.
        case event
        /// A group; the name is its MLS group id in hex, or a digest of an id beyond 32 bytes.
        case group
        /// A stored row; the name is the table and the row's key.
        case row
        /// A change on its way into the store; the name is a digest of what it changes.
        case change
        /// All messages of a relay; the name is its URL.
        case relay
        /// All gift wraps, which anyone can send; the name is `all`.
        case giftWraps = "gift-wraps"
        /// A pass over many small things, noted as a whole; the name is the stage. Never set aside.
        case pass
    }

    public let kind: Kind
    public let name: String

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

    /// - Parameter key: of the row within its table; no blanks.
    public static func row(table: String, key: String) -> CrashSubject { CrashSubject(.row, "\(table)/\(key)") }

    static func change(_ kind: String, _ key: [UInt8]) -> CrashSubject {
        CrashSubject(.change, "\(kind)/\(Hex.encode(SHA256Derivation.digest(key).prefix(16)))")
    }

    static func pass(_ stage: CrashStage) -> CrashSubject { CrashSubject(.pass, stage.rawValue) }

    /// By the bytes after the subscription's name, which differs from one request to the next. Not by the id that the
    /// event claims: that would let a relay have another event set aside.
    static func frame(_ bytes: [UInt8]) -> CrashSubject {
        let start = bytes.firstIndex(of: UInt8(ascii: "{")) ?? 0
        return CrashSubject(.frame, Hex.encode(SHA256Derivation.digest(Array(bytes[start...])).prefix(16)))
    }
}

extension CrashSubject: CustomStringConvertible, LosslessStringConvertible {
    /// The kind and the name, such as `event/5f0c…`: no blanks.
    public var description: String { "\(self.kind.rawValue)/\(self.name)" }

    public init?(_ description: String) {
        guard let slash = description.firstIndex(of: "/"), let kind = Kind(rawValue: String(description[..<slash])),
            !description.contains(where: \.isWhitespace), description.utf8.count <= 200
        else { return nil }
        let name = String(description[description.index(after: slash)...])
        guard !name.isEmpty else { return nil }
        self.init(kind, name)
    }
}

/// What the core did with a subject.
public enum CrashStage: String, Hashable, Sendable, CaseIterable {
    /// Decoding and verifying a message of a relay.
    case decode
    /// Opening and validating an event.
    case ingest
    /// Applying an event, or what a handler asked for, to the core's state.
    case reduce
    /// Writing changes to the store.
    case store
    /// Reading rows of the store at the start.
    case read
    /// Building the core's state from the stored rows.
    case restore
}
