public import Marmot
public import Nostr

/// What a search for a peer's key package came to.
public enum KeyPackageVerdict: Sendable, Hashable, CustomStringConvertible {
    /// There is one that the peer can be invited with.
    case usable(FoundKeyPackage)
    /// A relay that ought to have it has answered, and has none.
    case missing
    /// The lifetime of the newest has ended.
    case expired
    /// The lifetime of the newest has not begun: the peer's clock is ahead, or this machine's is behind.
    case notYetValid
    /// The signature of the newest, the event's or the key package's own, does not verify.
    case badSignature
    /// The newest names another account than its author.
    case wrongIdentity
    /// The newest is not well-formed.
    case malformed(reason: String)
    /// The peer's client is too old, or too new: its packages lack what the group requires.
    case incompatible(reason: String)
    /// Nobody who ought to know has answered: nothing is known.
    case noRelayAnswered

    /// What a package that did not pass a check is called.
    public init(_ failure: KeyPackageFailure) {
        switch failure.error.code {
        case .expired: self = .expired
        case .notYetValid: self = .notYetValid
        case .badSignature: self = .badSignature
        case .identityMismatch, .badCredential: self = .wrongIdentity
        case .incompatible: self = .incompatible(reason: failure.error.message)
        default: self = .malformed(reason: failure.error.message)
        }
    }

    public var isUsable: Bool { if case .usable = self { true } else { false } }

    public var description: String {
        switch self {
        case .usable(let package): "usable (kind \(package.kind.rawValue))"
        case .missing: "no key package on its relays"
        case .expired: "expired"
        case .notYetValid: "not_yet_valid (compare this machine's clock with the peer's)"
        case .badSignature: "bad signature"
        case .wrongIdentity: "made for another account"
        case .malformed(let reason): "malformed: \(reason)"
        case .incompatible(let reason): "incompatible: \(reason)"
        case .noRelayAnswered: "no relay answered"
        }
    }
}

/// A key package that passed all checks, Nostr's and MLS's.
public struct FoundKeyPackage: Sendable, Hashable {
    public let event: EventID
    /// 30443, or 443 of older clients.
    public let kind: Kind
    /// Unix seconds.
    public let createdAt: Int64
    /// Whether the client supports SelfRemove, as MDK 0.8 does and 0.7 does not.
    public let supportsSelfRemove: Bool
}
