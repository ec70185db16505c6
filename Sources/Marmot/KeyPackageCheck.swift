public import Nostr

/// Something that must hold of a key package event before its author can be invited with it, in the order in which it
/// is looked at. The raw value is a word for reports.
public enum KeyPackageCheck: String, Sendable, Hashable, CaseIterable {
    /// Id and signature of the event (NIP-01).
    case eventSignature = "event signature"
    /// 30443 or 443.
    case kind
    /// The forms of all tags but `i` (MIP-00).
    case tags
    /// Base64, or hexadecimal of older clients.
    case content
    /// The bytes are a key package, all of them, and it keeps the rules of RFC 9420 §10.1.
    case structure
    /// The cipher suite is 0x0001 (MIP-00).
    case suite
    /// It is valid now.
    case lifetime
    /// The key package's own signature and that of its leaf.
    case packageSignature = "package signature"
    /// The credential is the event's author (MIP-00).
    case identity
    /// Tag `i` is the KeyPackageRef (MIP-00).
    case reference
    /// The client supports what groups require of members (MIP-01).
    case capabilities
}

/// Which check a key package event did not pass, and why.
public struct KeyPackageFailure: Error, Sendable, CustomStringConvertible {
    public let check: KeyPackageCheck
    public let error: MarmotError

    init(_ check: KeyPackageCheck, _ error: MarmotError) {
        (self.check, self.error) = (check, error)
    }

    public var description: String { "\(self.check.rawValue): \(self.error.message)" }
}

extension Invitee {
    /// Reads an invitee from its key package event, and says which check fails if it cannot be invited; everything is
    /// looked at, the event's signature too, but ``KeyPackageCheck/capabilities``, which depends on the group.
    public init(examining event: Event, profile: MarmotProfile = .mip, now: Int64) throws(KeyPackageFailure) {
        do throws(NostrError) { try event.verify() } catch {
            throw KeyPackageFailure(.eventSignature, MarmotError(.badSignature, error.message))
        }
        self.init(event, try KeyPackageEvents.examine(event, profile: profile, now: now))
    }

    /// Throws with ``KeyPackageCheck/capabilities`` unless the key package has what a new group requires.
    public func examineCapabilities() throws(KeyPackageFailure) {
        do throws(MarmotError) { try self.requireSupport(of: nil) } catch {
            throw KeyPackageFailure(.capabilities, error)
        }
    }
}
