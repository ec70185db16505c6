import BotTesting
import Nostr

@testable import MLS
@testable import Marmot

/// A malicious account with real keys of its groups.
struct HostileAccount {
    let name: String
    let keys: KeyPair
    var random: SeededGenerator
    private(set) var groups: [GroupID: HostileGroup] = [:]
    private let bundle: KeyPackageBundle
    private var known: Set<EventID> = []
    private var textCount = 0

    init(_ name: String, seed: UInt64, now: UnixTime) throws {
        self.name = name
        self.random = SeededGenerator(seed: seed, stream: name)
        self.keys = KeyPair.generate(using: &self.random)
        self.bundle = try KeyPackageEvents.makeBundle(for: self.keys.publicKey, now: now, using: &self.random)
    }

    /// The events by which others can invite this account.
    mutating func keyPackageEvents(_ relays: [RelayURL], now: UnixTime) -> [Event] {
        let events = KeyPackageEvents.events(
            for: self.bundle.keyPackage, slot: String(repeating: "ab", count: 32), relays: relays, client: "hostile",
            by: self.keys, now: now, using: &self.random)
        return [events.addressable, events.legacy]
    }

    /// Reads new events from the relays, in the order of arrival.
    mutating func follow(_ events: [Event], now: UnixTime) {
        for event in events where self.known.insert(event.id).inserted {
            switch event.kind {
            case .giftWrap where event.firstTag("p")?.value == self.keys.publicKey.hex: self.join(event)
            case .groupEvent: for id in self.groups.keys.sorted() { self.groups[id]?.ingest(event, now: now) }
            default: break
            }
        }
    }

    private mutating func join(_ wrap: Event) {
        guard let (_, rumor, _) = try? GiftWrap.unwrap(wrap, by: self.keys),
            let invitation = try? WelcomeEvents.read(rumor),
            let group = try? MarmotGroup.join(invitation, with: self.bundle, account: self.keys.publicKey)
        else { return }
        self.groups[group.groupID] = HostileGroup(group)
    }

    /// Adds a group that the account has created itself.
    mutating func add(_ group: MarmotGroup) { self.groups[group.groupID] = HostileGroup(group) }

    /// Acts in a group, and marks its own events as read.
    mutating func act(
        in id: GroupID, _ body: (inout HostileGroup, inout SeededGenerator) throws -> [Event]
    ) throws -> [Event] {
        guard var group = self.groups[id] else { throw MarmotError(.notFound, "\(self.name) is not in the group") }
        let events = try body(&group, &self.random)
        self.groups[id] = group
        for event in events { self.known.insert(event.id) }
        return events
    }

    // MARK: Messages

    /// A rumor whose text states its group and the sender's role.
    mutating func rumor(in id: GroupID, createdAt: UnixTime, padding: Int = 0) -> UnsignedEvent {
        let isAdmin = self.groups[id]?.current.isAdmin == true
        return self.rumor(in: id, isAdmin: isAdmin, createdAt: createdAt, padding: padding)
    }

    mutating func rumor(in id: GroupID, isAdmin: Bool, createdAt: UnixTime, padding: Int = 0) -> UnsignedEvent {
        self.textCount += 1
        let text = HostileText(
            chatID: ChatID(id), role: isAdmin ? "admin" : "member", number: "\(self.name) \(self.textCount)"
        )
        .content
        return UnsignedEvent(
            pubkey: self.keys.publicKey, createdAt: createdAt, kind: .chatMessage,
            content: text + String(repeating: "x", count: padding))
    }
}

/// The content of an adversary's message.
struct HostileText {
    let chatID: ChatID
    let role: String
    let number: String

    init(chatID: ChatID, role: String, number: String) {
        self.chatID = chatID
        self.role = role
        self.number = number
    }

    /// Parses the text of a message; nil for any other text.
    init?(_ content: String) {
        let fields = content.split(separator: "|", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 5, fields[0] == "hostile" else { return nil }
        self.init(chatID: ChatID(rawValue: fields[1]), role: fields[2], number: fields[3])
    }

    var content: String { "hostile|\(self.chatID)|\(self.role)|\(self.number)|" }
}

/// The adversaries' view of the world.
struct HostileView {
    /// Unix seconds.
    let now: UnixTime
    let relays: [RelayURL]
    /// All events on the relays.
    let events: [Event]
    /// Honest accounts that an admin may remove or lure away.
    var victims: [PublicKey]
    /// The routing id of the group without adversaries.
    let quietID: Bytes32

    /// The newest key package that an account has announced.
    func keyPackage(of account: PublicKey) throws -> Invitee {
        guard let event = self.events.last(where: { $0.kind == .keyPackage && $0.pubkey == account }) else {
            throw MarmotError(.notFound, "no key package is on the relays")
        }
        return try Invitee(event, now: self.now)
    }
}
