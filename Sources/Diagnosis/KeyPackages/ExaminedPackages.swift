import MLS
import Marmot
import Nostr
import PikaCore
import ProbeReports

/// An account's key packages on all relays, and which of them inviters use.
struct ExaminedPackages: Sendable {
    /// The latest event in a slot, which is unusable, and hides older ones.
    private struct Hiding: Sendable {
        let event: Event
        let reason: String
    }

    private let examined: [EventID: ExaminedKeyPackage]
    /// The newest usable key package of v1 in each slot.
    private var newest: [String: ExaminedKeyPackage] = [:]
    /// The usable key packages of v2, best first.
    private let candidates: [ExaminedKeyPackage]
    private var hiding: [String: Hiding] = [:]

    init(_ events: some Sequence<Event>, of account: PublicKey, now: UnixTime) {
        var examined: [EventID: ExaminedKeyPackage] = [:]
        for event in events where event.kind == .addressableKeyPackage || event.kind == .keyPackage {
            guard examined[event.id] == nil else { continue }
            examined[event.id] = ExaminedKeyPackage(event, as: ExaminedKeyPackage.generation(of: event), now: now)
        }
        let choice = Self.choice(examined.values.map(\.event), of: account, now)
        candidates = choice.candidates.map(\.package)
        self.examined = examined
        let usable = Self.usable(.v1, among: examined.values)
        newest = Dictionary(usable.map { ($0.slot, $0) }) { first, _ in first }
        for rejection in choice.rejections where rejection.failure.check != .eventSignature {
            guard let package = examined[rejection.event] else { continue }
            let reason =
                package.generation == .v1 ? "a key package of v1" : "an invalid one (\(rejection.failure))"
            hiding[package.slot] = Hiding(event: package.event, reason: reason)
        }
    }

    /// Chooses among the key packages of v2 as inviters do. The newest event of a slot counts, even if it is invalid or
    /// of v1.
    private static func choice(
        _ events: [Event], of account: PublicKey, _ now: UnixTime
    ) -> KeyPackageChoice<ExaminedKeyPackage> {
        KeyPackageChoice(among: events, of: account, now: now) {
            (event: Event) throws(KeyPackageFailure) -> (package: ExaminedKeyPackage, isLastResort: Bool) in
            let package = ExaminedKeyPackage(event, as: .v2, now: now)
            if let failure = package.failure { throw failure }
            return (package, package.package?.isLastResort == true)
        }
    }

    /// Returns the key package with which an inviter invites the account; nil if none is usable.
    func best(_ generation: GroupGeneration) -> ExaminedKeyPackage? {
        switch generation {
        case .v1: Self.usable(.v1, among: examined.values).first
        case .v2: candidates.first
        }
    }

    /// Returns the key packages of a generation among a relay's events, in the order in which inviters try them.
    func packages(_ generation: GroupGeneration, among events: [Event]) -> [ExaminedKeyPackage] {
        let all = events.compactMap { examined[$0.id] }.filter { $0.generation == generation }
            .sorted(by: ExaminedKeyPackage.order)
        guard generation == .v2 else { return all }
        let ids = Set(all.map(\.event.id))
        let chosen = candidates.filter { ids.contains($0.event.id) }
        let chosenIDs = Set(chosen.map(\.event.id))
        return chosen + all.filter { !chosenIDs.contains($0.event.id) }
    }

    /// Returns the newer key package in the slot of a usable one; nil if there is none.
    func successor(of package: ExaminedKeyPackage) -> ExaminedKeyPackage? {
        let latest =
            switch package.generation {
            case .v1: newest[package.slot]
            case .v2: candidates.first { $0.slot == package.slot }
            }
        guard let latest, latest.event.createdAt > package.event.createdAt else { return nil }
        return latest
    }

    /// Describes the newer event that hides a valid key package of v2; nil if there is none.
    func hider(of package: ExaminedKeyPackage) -> String? {
        guard package.generation == .v2, let latest = hiding[package.slot], latest.event.id != package.event.id else {
            return nil
        }
        return latest.reason
    }

    /// Describes the event of a relay that replaced a key package of v2 which other relays have; nil if there is none.
    func usurper(among events: [Event]) -> String? {
        let slots = Set(examined.values.lazy.filter { $0.generation == .v2 && $0.invitee != nil }.map(\.slot))
        for event in events where event.kind == .addressableKeyPackage {
            let slot = ExaminedKeyPackage.slot(of: event)
            if slots.contains(slot), let latest = hiding[slot], latest.event.id == event.id { return latest.reason }
        }
        return nil
    }

    /// Whether a relay's events have a key package of v1 in kind 30443, which MDK up to 0.9.16 fails on.
    func hasAddressableFirst(among events: [Event]) -> Bool {
        events.contains { $0.kind == .addressableKeyPackage && examined[$0.id]?.generation == .v1 }
    }

    private static func usable(
        _ generation: GroupGeneration, among packages: some Sequence<ExaminedKeyPackage>
    ) -> [ExaminedKeyPackage] {
        packages.filter { $0.generation == generation && $0.invitee != nil }.sorted(by: ExaminedKeyPackage.order)
    }
}
