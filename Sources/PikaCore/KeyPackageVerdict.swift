public import Marmot
public import Nostr

/// The result of a search for a peer's key package.
public enum KeyPackageVerdict: Sendable, Hashable, CustomStringConvertible {
    /// A key package that the peer can be invited with.
    case usable(FoundKeyPackage)
    /// A relay that should have a key package answered that it has none.
    case missing
    /// The newest has expired.
    case expired
    /// The newest is not valid yet: the peer's clock is ahead, or this machine's is behind.
    case notYetValid
    /// A signature of the newest, the event's or the key package's, does not verify.
    case badSignature
    /// The newest names an account other than its author.
    case wrongIdentity
    /// The newest is not well-formed.
    case malformed(reason: String)
    /// The peer's client is too old or too new: its key packages lack a capability that the group requires.
    case incompatible(reason: String)
    /// None of the relays that should know has answered.
    case noRelayAnswered

    /// Maps a key package's failed check to a verdict.
    public init(_ failure: KeyPackageFailure) {
        switch failure.error.code {
        case .expired: self = .expired
        case .notYetValid: self = .notYetValid
        case .badSignature: self = .badSignature
        case .identityMismatch, .badCredential: self = .wrongIdentity
        case .incompatible, .legacyProfile, .hybridProfile: self = .incompatible(reason: failure.error.message)
        default: self = .malformed(reason: failure.error.message)
        }
    }

    /// Whether the peer can be invited.
    public var isUsable: Bool { if case .usable = self { true } else { false } }

    /// The verdict as text, with its reason.
    public var description: String {
        switch self {
        case .usable(let package): "usable (\(package.generation.rawValue), kind \(package.kind.rawValue))"
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
    /// The id of the event that announces it.
    public let event: EventID
    /// 30443, or 443 of older clients.
    public let kind: Kind
    /// The event's `created_at`.
    public let createdAt: UnixTime
    /// Whether the client supports SelfRemove, as MDK 0.8 does and 0.7 does not.
    public let supportsSelfRemove: Bool
    /// The protocol generation that it is for.
    public let generation: GroupGeneration
    /// The generations for which the peer has usable key packages, this one among them.
    public let generations: Set<GroupGeneration>
}
