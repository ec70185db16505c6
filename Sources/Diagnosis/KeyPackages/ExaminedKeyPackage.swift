import MLS
import Marmot
import Nostr
import PikaCore
import ProbeReports

/// A key package event and the core's validation result.
struct ExaminedKeyPackage: Sendable {
    let event: Event
    /// The invitee; nil if any check failed.
    let invitee: Invitee?
    let failure: KeyPackageFailure?

    init(_ event: Event, now: UnixTime) {
        self.event = event
        do throws(KeyPackageFailure) {
            let invitee = try Invitee(examining: event, now: now)
            try invitee.examineCapabilities()
            (self.invitee, failure) = (invitee, nil)
        } catch { (invitee, failure) = (nil, error) }
    }

    var lifetime: Lifetime? {
        guard case .keyPackage(let lifetime)? = invitee?.keyPackage.leafNode.source else { return nil }
        return lifetime
    }

    /// Events in the same slot replace each other: the `d` tag of an addressable event; otherwise one slot per kind.
    var slot: String {
        event.kind == .addressableKeyPackage ? "30443 \(event.firstTag("d")?.value ?? "")" : "443"
    }

    /// The reason why it is invalid, on one line.
    var problem: String? {
        guard let failure else { return nil }
        return "\(failure.check.rawValue): \(failure.error.message)"
    }

    var held: ProbedKeyPackage {
        ProbedKeyPackage(
            event: event.id, kind: event.kind, createdAt: event.createdAt,
            notBefore: lifetime.flatMap { Int64(exactly: $0.notBefore) }.map { UnixTime($0) },
            notAfter: lifetime.flatMap { Int64(exactly: $0.notAfter) }.map { UnixTime($0) },
            failedCheck: failure?.check.rawValue, remarks: remarks)
    }

    /// Orders kind 30443 before 443, and each newest first: the order in which an inviter tries key packages.
    static func order(_ left: Self, _ right: Self) -> Bool {
        (right.event.kind.rawValue, right.event.createdAt, left.event.id)
            < (left.event.kind.rawValue, left.event.createdAt, right.event.id)
    }
}
