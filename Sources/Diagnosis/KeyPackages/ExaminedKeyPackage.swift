import MLS
import Marmot
import Nostr
import PikaCore
import ProbeReports

/// A key package event and the validation result that an inviter of one generation gets.
struct ExaminedKeyPackage: Sendable {
    /// An account that can be invited with the key package.
    enum ExaminedInvitee: Sendable {
        case first(Invitee)
        case second(ComponentInvitee)
    }

    let event: Event
    let generation: GroupGeneration
    /// The invitee; nil if any check failed.
    let invitee: ExaminedInvitee?
    let failure: KeyPackageFailure?

    init(_ event: Event, as generation: GroupGeneration, now: UnixTime) {
        self.event = event
        self.generation = generation
        do throws(KeyPackageFailure) {
            (self.invitee, self.failure) = (try Self.examine(event, generation, now), nil)
        } catch { (self.invitee, self.failure) = (nil, error) }
    }

    private static func examine(
        _ event: Event, _ generation: GroupGeneration, _ now: UnixTime
    ) throws(KeyPackageFailure) -> ExaminedInvitee {
        switch generation {
        case .v1:
            let invitee = try Invitee(examining: event, now: now)
            try invitee.examineCapabilities()
            return .first(invitee)
        case .v2:
            let invitee = try ComponentInvitee(examining: event, now: now)
            // Every group requires at least this; the remarks say what other groups require.
            try invitee.examineCapabilities(.bare)
            return .second(invitee)
        }
    }

    /// Returns the generation that a key package event is meant for. Both generations use kind 30443, so the bytes
    /// decide, except that a wrapped package with the tags of the first generation belongs to the first. If the bytes
    /// are neither, the tags decide.
    static func generation(of event: Event) -> GroupGeneration {
        guard event.kind == .addressableKeyPackage else { return .v1 }
        let hasComponents = event.firstTag("app_components") != nil
        let bytes = Base64.decode(event.content) ?? Hex.decode(event.content) ?? []
        return switch ProtocolGeneration(keyPackage: bytes) {
        case .mip?: .v1
        case .legacy?, .components?: hasComponents || event.firstTag("encoding") == nil ? .v2 : .v1
        case nil: hasComponents ? .v2 : .v1
        }
    }

    /// The key package; nil if any check failed.
    var package: KeyPackage? {
        switch invitee {
        case .first(let invitee): invitee.keyPackage.keyPackage
        case .second(let invitee): invitee.keyPackage.keyPackage
        case nil: nil
        }
    }

    var lifetime: Lifetime? {
        guard case .keyPackage(let lifetime)? = package?.leafNode.source else { return nil }
        return lifetime
    }

    /// Events in the same slot replace each other: the `d` tag of an addressable event; otherwise one slot per kind.
    var slot: String { Self.slot(of: event) }

    static func slot(of event: Event) -> String {
        event.kind == .addressableKeyPackage ? "30443 \(event.firstTag("d")?.value ?? "")" : "443"
    }

    /// The reason why it is invalid, on one line.
    var problem: String? { failure?.description }

    var held: ProbedKeyPackage {
        ProbedKeyPackage(
            event: event.id, kind: event.kind, createdAt: event.createdAt,
            notBefore: lifetime.flatMap { Int64(exactly: $0.notBefore) }.map { UnixTime($0) },
            notAfter: lifetime.flatMap { Int64(exactly: $0.notAfter) }.map { UnixTime($0) },
            failedCheck: failure?.check.rawValue, remarks: remarks)
    }

    /// Orders kind 30443 before 443, and each newest first: the order in which an inviter of v1 tries key packages.
    static func order(_ left: Self, _ right: Self) -> Bool {
        (right.event.kind.rawValue, right.event.createdAt, left.event.id)
            < (left.event.kind.rawValue, left.event.createdAt, right.event.id)
    }
}
