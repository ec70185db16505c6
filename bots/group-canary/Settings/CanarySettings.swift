import BotKit

/// The settings under `with:`.
enum CanarySettings: Sendable {
    case sender(SenderSettings)
    case mirror(MirrorSettings)

    private enum Role: String, CaseIterable {
        case sender, mirror
    }

    /// Throws ``BotSettingsError`` with all problems.
    init(_ settings: BotSettings) throws(BotSettingsError) {
        let reader = SettingsReader(settings)
        let role = reader.choice("role", of: Role.self, required: true)
        switch role {
        case .mirror: self = .mirror(try reader.finish(MirrorSettings(reader)))
        case .sender, nil: self = .sender(try reader.finish(SenderSettings(reader)))
        }
    }
}

struct MirrorSettings: Sendable {
    /// The accounts whose canaries are answered.
    let senders: Set<PublicKey>

    init(_ reader: SettingsReader) {
        let senders = reader.publicKeys("senders", required: true) ?? []
        if senders.isEmpty, reader.has("senders") {
            reader.fail("senders", expected: "at least one sender", fix: "write senders: [npub1…]")
        }
        self.senders = Set(senders)
    }
}

struct SenderSettings: Sendable {
    static let maximumGroups = 20

    /// The interval between canaries in a group.
    let every: Duration
    /// The deadline for an answer: later answers are late, and a canary without an answer by then counts as lost.
    let timeout: Duration
    /// The number of latest canaries that the delivery ratio is based on.
    let window: Int
    /// The minimum delivery ratio; a lower one is a fault.
    let delivery: Double
    /// The interval between checks in a group.
    let checksEvery: Duration
    let groups: [GroupSettings]

    init(_ reader: SettingsReader) {
        every = reader.duration("every", default: .seconds(60))
        timeout = reader.duration("timeout", default: .seconds(30))
        delivery = reader.double("delivery", in: 0...1) ?? 0.95
        window = reader.int("window", in: 10...1000, default: 100)
        let checksEvery = reader.duration("checksEvery", default: .seconds(60))
        self.checksEvery = checksEvery
        if every < .seconds(1) { reader.fail("every", expected: "1s or more", fix: "write every: 60s") }
        if checksEvery < .seconds(1) {
            reader.fail("checksEvery", expected: "1s or more", fix: "write checksEvery: 60s")
        }
        Self.checkWindow(window, every, timeout, reader)
        guard let names = reader.object("groups", required: true) else {
            groups = []
            return
        }
        if names.keys.isEmpty || names.keys.count > Self.maximumGroups {
            reader.fail(
                "groups", expected: "1 to \(Self.maximumGroups) groups", found: "\(names.keys.count)",
                fix: "write groups: { main: { peers: { bob: npub1… } } }")
        }
        groups = names.keys.compactMap { name in
            names.checkLabel(name)
            return names.object(name).map { GroupSettings(name, $0, checksEvery: checksEvery) }
        }
    }

    /// Checks that a canary is still among the latest when its timeout has passed, which is when it is evaluated.
    private static func checkWindow(_ window: Int, _ every: Duration, _ timeout: Duration, _ reader: SettingsReader) {
        guard every >= .seconds(1), Double(window) <= timeout / every + 1 else { return }
        let minimum = (timeout / every).rounded(.down) + 2
        reader.fail(
            "window", expected: "more canaries than are sent within timeout (\(timeout.configurationText))",
            found: "\(window)", fix: minimum <= 1000 ? "write window: \(Int(minimum))" : "write a shorter timeout")
    }
}

extension SettingsReader {
    /// Reports a problem unless a key is a valid metric label.
    func checkLabel(_ name: String) {
        guard !Self.isLabel(name) else { return }
        fail(
            name, expected: "a name of 1 to 32 letters, digits, dots, - and _", found: "an invalid name",
            fix: "choose another name; it appears in metrics")
    }

    static func isLabel(_ name: String) -> Bool {
        (1...32).contains(name.utf8.count) && !name.lowercased().hasPrefix("npub1")
            && name.utf8.allSatisfy { byte in
                "-_.".utf8.contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
    }
}
