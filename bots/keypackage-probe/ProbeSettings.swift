import BotKit
import ProbeReports

/// The settings under `with:`.
struct ProbeSettings: Sendable {
    struct Target: Sendable, Hashable {
        let name: String
        let account: PublicKey
    }

    /// Limits the number of metrics: each target has several series per relay.
    static let maximumTargets = 40
    /// The number of targets probed concurrently, each with its own connections to the relays in its lists.
    static let batchSize = 8

    let every: Duration
    let timeout: Duration
    let stale: Duration
    let relays: [RelayURL]
    /// The protocol generations in which the targets must be invitable.
    let expectation: ProtocolExpectation
    /// The targets, sorted by name.
    let targets: [Target]

    /// Throws ``BotSettingsError`` with all problems.
    init(_ settings: BotSettings) throws(BotSettingsError) {
        let reader = SettingsReader(settings)
        every = reader.duration("every", default: .seconds(300))
        timeout = reader.duration("timeout", default: .seconds(15))
        stale = reader.duration("stale", default: .seconds(30 * 86_400))
        relays =
            reader.values("relays", of: "relay URLs") { value in
                value.stringValue.flatMap { try? RelayURL($0) }
            } ?? []
        expectation = reader.choice("protocol", default: ProtocolExpectation.any)
        targets = Self.targets(reader)
        if every < .seconds(10) { reader.fail("every", expected: "10s or more", fix: "write every: 5m") }
        if timeout > .seconds(25) {
            reader.fail(
                "timeout", expected: "25s or less, because a handler's deadline is 30s", fix: "write timeout: 15s")
        }
        if relays.count > 20 { reader.fail("relays", expected: "at most 20 relays", fix: "use fewer") }
        try reader.finish()
    }

    private static func targets(_ reader: SettingsReader) -> [Target] {
        guard let names = reader.object("targets", required: true) else { return [] }
        if names.keys.isEmpty || names.keys.count > maximumTargets {
            reader.fail(
                "targets", expected: "1 to \(maximumTargets) accounts", found: "\(names.keys.count)",
                fix: "write targets: { alice: npub1… }")
        }
        var named: [PublicKey: String] = [:]
        return names.keys.compactMap { name in
            guard let account = names.publicKey(name) else { return nil }
            guard isLabel(name) else {
                names.fail(
                    name, expected: "a name of 1 to 32 letters, digits, dots, - and _", found: "an invalid name",
                    fix: "choose another name; it appears in metrics")
                return nil
            }
            if let other = named.updateValue(name, forKey: account) {
                names.fail(
                    name, expected: "each account once", found: "the account of \(other)",
                    fix: "remove one of the two")
                return nil
            }
            return Target(name: name, account: account)
        }
    }

    /// Returns whether a name is valid as a metric label.
    private static func isLabel(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count) && !name.hasPrefix("npub1")
            && name.utf8.allSatisfy {
                $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
            }
    }

    // MARK: Selection

    /// Returns a requested target, by name or public key; nil if it is not in the settings.
    func target(named text: String) -> Target? {
        if let target = targets.first(where: { $0.name == text }) { return target }
        guard let account = try? PublicKey(parsing: text) else { return nil }
        return targets.first { $0.account == account }
    }

    private var batches: Int { max(1, (targets.count + Self.batchSize - 1) / Self.batchSize) }

    /// The interval between batches, so that each target is probed once in `every`.
    var interval: Duration { every / batches }

    /// Returns the targets of a batch.
    ///
    /// - Parameter turn: the number of the run, from 0; batches take turns.
    func batch(_ turn: Int) -> [Target] {
        Array(targets.dropFirst(turn % batches * Self.batchSize).prefix(Self.batchSize))
    }
}
