import BotTesting
import Nostr

@testable import MLS
@testable import Marmot

/// A member of a group of the second generation that keeps every state it has seen, and commits and speaks in any of them.
struct BranchAdversary {
    let keys: KeyPair
    /// The events by which others can invite it.
    let invitation: [Event]
    /// All states, in the order in which they were entered.
    private(set) var states: [ComponentGroup] = []
    private let device: DeviceKey
    private let bundle: KeyPackageBundle
    private var random: SeededGenerator
    private var known: Set<EventID> = []
    /// Failed attempts to open an event.
    private var attempts: [EventID: Int] = [:]
    private static let maximumAttempts = 8
    /// The most states that are kept, the newest last.
    private static let maximumStates = 64

    /// - Parameter keys: those of an account that has another device already; nil for a new account.
    init(seed: UInt64, keys: KeyPair? = nil, relays: [RelayURL], now: UnixTime) throws {
        var random = SeededGenerator(seed: seed, stream: keys == nil ? "branch adversary" : "twin")
        self.keys = keys ?? KeyPair.generate(using: &random)
        self.device = try DeviceKey.generate(for: self.keys, now: now, using: &random)
        self.bundle = try self.device.keyPackage(now: now, using: &random)
        let slot = Hex.encode(Bytes32.random(using: &random).bytes)
        let package = try DeviceKey.announcement(of: self.bundle.keyPackage, slot: slot)
            .draft(by: self.keys.publicKey, now: now).signed(by: self.keys, using: &random)
        let list = RelayList(read: relays, write: relays).unsigned(by: self.keys.publicKey, now: now)
        self.invitation = [
            package, list.signed(by: self.keys, using: &random),
            RelayListEvents.event(.inboxRelays, relays: relays, by: self.keys, now: now, using: &random),
        ]
        self.random = random
    }

    /// The state that was entered last.
    func newest() throws -> ComponentGroup {
        guard let newest = self.states.last else { throw LabError(.unmet, "the adversary is in no group") }
        return newest
    }

    /// Reads new events of a relay: joins a group, and enters the epochs of the others' commits.
    mutating func follow(_ events: [Event]) throws {
        for event in events where !self.known.contains(event.id) {
            switch event.kind {
            case .giftWrap where self.states.isEmpty && event.firstTag("p")?.value == self.keys.publicKey.hex:
                try self.join(event)
            case .groupEvent:
                guard let message = try? ComponentGroup.open(event, over: self.states.reversed()) else {
                    self.attempts[event.id, default: 0] += 1
                    if self.attempts[event.id, default: 0] >= Self.maximumAttempts { self.known.insert(event.id) }
                    continue
                }
                let next = self.states.compactMap { try? $0.judging(message, now: nil).next }.first
                if message.content == .commit, let next { self.states.append(next) }
            default: continue
            }
            self.known.insert(event.id)
        }
        self.states.removeFirst(max(0, self.states.count - Self.maximumStates))
    }

    private mutating func join(_ wrap: Event) throws {
        try self.join(GiftWrap.unwrap(wrap, by: self.keys).rumor)
    }

    private mutating func join(_ welcome: UnsignedEvent) throws {
        let invitation = try WelcomeInvitation(welcome)
        let joined = try ComponentGroup.join(
            invitation, with: self.bundle, account: self.keys.publicKey, known: KnownGroups())
        self.states.append(joined.group)
    }

    /// Commits a change in a state; the state after it becomes the newest. Returns the event, which is not published.
    mutating func commit(_ change: ComponentChange, on state: ComponentGroup, now: UnixTime) throws -> Event {
        let staged = try state.staging(change, now: now, using: &self.random)
        self.states.append(staged.next)
        self.known.insert(staged.event.id)
        return staged.event
    }

    /// Commits key updates, one on the other; returns their events.
    mutating func branch(_ depth: Int, from state: ComponentGroup, now: UnixTime) throws -> [Event] {
        var (events, state): ([Event], ComponentGroup) = ([], state)
        for _ in 0..<depth {
            events.append(try self.commit(.selfUpdate(self.device), on: state, now: now))
            state = try self.newest()
        }
        return events
    }

    /// Sends a message in the newest state.
    mutating func say(_ text: String, now: UnixTime) throws -> Event {
        var state = try self.newest()
        let rumor = UnsignedEvent(pubkey: self.keys.publicKey, createdAt: now, kind: .chatMessage, content: text)
        let event = try state.seal(rumor, using: &self.random).event
        self.states[self.states.count - 1] = state
        self.known.insert(event.id)
        return event
    }
}

/// Messages that honest clients never send.
extension BranchAdversary {
    /// Adds another device of an account that is a member already, and has it join. Returns the event, which is not
    /// published.
    mutating func add(
        _ twin: inout BranchAdversary, to state: ComponentGroup, now: UnixTime
    ) throws -> Event {
        guard let package = twin.invitation.first else { throw LabError(.unmet, "the device has no key package") }
        let invitee = try ComponentInvitee(examining: package, now: now)
        var request = CommitRequest()
        request.adding = [invitee.keyPackage]
        let draft = try state.judgingOwn(request, now: now, using: &self.random)
        let event = try self.wrap(draft.pending.message, in: state, now: now)
        for welcome in try state.welcomes(in: draft, to: [invitee], .common, now: now) {
            try twin.join(welcome.rumor)
        }
        self.states.append(draft.next)
        self.known.insert(event.id)
        return event
    }

    /// Any bytes in the outer encryption of a state.
    mutating func wrap(_ message: [UInt8], in state: ComponentGroup, now: UnixTime) throws -> Event {
        try GroupEnvelope.seal(
            message, as: .handshake(now: now), key: state.outerKey, nostrGroupID: state.nostrGroupID,
            using: &self.random)
    }

    /// The message of another member's event in an event of its own.
    mutating func rewrap(_ event: Event, now: UnixTime) throws -> Event? {
        guard let message = try ComponentGroup.open(event, over: self.states.reversed()) else { return nil }
        return try self.wrap(message.bytes, in: self.newest(), now: now)
    }

    /// Damaged and meaningless messages, some of which only members can make.
    mutating func junk(_ count: Int, now: UnixTime) throws -> [Event] {
        let state = try self.newest()
        let genuine = try state.staging(.selfUpdate(nil), now: now, using: &self.random).message
        return try (0..<count).map { number in
            var bytes = genuine
            switch number % 4 {
            case 0: bytes[Int.random(in: bytes.indices, using: &self.random)] ^= 1
            case 1: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &self.random)))
            case 2: bytes = (0..<300).map { _ in UInt8.random(in: .min ... .max, using: &self.random) }
            default:
                // An outer layer under an unknown key.
                let noise = Secret.random(count: 300, using: &self.random)
                return UnsignedEvent(
                    pubkey: self.keys.publicKey, createdAt: now, kind: .groupEvent,
                    tags: [Nostr.Tag("h", state.nostrGroupID.hex)], content: Base64.encode(noise.copyBytes())
                ).signed(by: self.keys, using: &self.random)
            }
            return try self.wrap(bytes, in: state, now: now)
        }
    }

    /// Proposals that no commit refers to, most of which this account may not make.
    mutating func propose(_ count: Int, now: UnixTime) throws -> [Event] {
        let state = try self.newest()
        return try (0..<count).map { number in
            var mls = state.mls
            let proposal: Proposal =
                number.isMultiple(of: 2)
                ? .appDataUpdate(AppDataUpdate(0x8001, .update([UInt8(clamping: number), 0])))
                : .remove(LeafIndex(rawValue: UInt32(clamping: number % 5)))
            return try self.wrap(mls.propose(proposal, using: &self.random).message, in: state, now: now)
        }
    }

    /// A random number for the choice of the next attack.
    mutating func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self.random) }
}
