import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot
@testable import PikaCore

/// Limits of events that strangers can park, and the number of key trials per event.
@Suite struct PendingEventsTests {
    private static let group = GroupID([1])
    private static let other = GroupID([2])
    private let random: SplitMix64
    private let keys: [Secret]
    /// The routing ids of the two groups.
    private let routes: [GroupID: Bytes32]

    init() throws {
        self.routes = [
            Self.group: try #require(Bytes32([UInt8](repeating: 9, count: 32))),
            Self.other: try #require(Bytes32([UInt8](repeating: 8, count: 32))),
        ]
        var random = SplitMix64(seed: 3)
        self.keys = (0..<4).map { _ in Secret.random(count: 32, using: &random) }
        self.random = random
    }

    private func event(_ number: Int, bytes: Int = 40, key: Secret? = nil) throws -> Event {
        var random = SplitMix64(seed: UInt64(number) &* 977 &+ 1)
        let key = key ?? Secret.random(count: 32, using: &random)
        let id = try #require(Bytes32([UInt8](repeating: 9, count: 32)))
        return try GroupEvents.seal(
            [UInt8](repeating: 7, count: bytes), key: key, nostrGroupID: id, now: UnixTime(Int64(number)),
            using: &random)
    }

    private func ring(_ keys: Range<Int>) -> OuterKeyRing { OuterKeyRing(Array(self.keys[keys])) }

    private func park(
        _ event: Event, _ pending: inout PendingEvents, of groupID: GroupID = Self.group, isOpened: Bool = false,
        _ ring: OuterKeyRing? = nil
    ) throws -> Bool {
        pending.insert(
            WaitingEvent(event: event, arrivedAt: 0), under: try #require(self.routes[groupID]), triedBy: groupID,
            isOpened: isOpened, ring ?? self.ring(0..<1))
    }

    private func follow(_ keys: Range<Int>, _ pending: inout PendingEvents) {
        pending.follow(self.ring(keys), of: Self.group, under: Array(self.routes.values))
    }

    private func isDue(
        _ event: Event, _ pending: inout PendingEvents, of groupID: GroupID, _ keys: Range<Int>
    ) -> Bool {
        pending.isDue(event, of: groupID, self.ring(keys))
    }

    private func trim(_ pending: inout PendingEvents) -> [EventID] {
        var dropped: [EventID] = []
        while let (_, id) = pending.surplus() {
            pending.remove(id)
            dropped.append(id)
        }
        return dropped
    }

    @Test func repeatedEventsAreParkedOnce() throws {
        var pending = PendingEvents()
        let event = try self.event(1)
        #expect(try self.park(event, &pending))
        for groupID in [Self.group, Self.other] { #expect(try !self.park(event, &pending, of: groupID)) }
        #expect(pending.total == ParkingBudget(events: 1, bytes: event.parkedBytes))
        for route in [self.routes[Self.group], nil] {
            let removed = pending.remove(event.id)
            #expect(removed == route)
        }
        #expect(pending.total == ParkingBudget(events: 0, bytes: 0) && pending.isEmpty)
    }

    @Test func releasedRoutesLeaveNothingBehind() throws {
        var pending = PendingEvents()
        let (one, two) = (try #require(self.routes[Self.group]), try #require(self.routes[Self.other]))
        let events = try (1...3).map { try self.event($0) }
        for event in events { #expect(try self.park(event, &pending)) }
        let other = try self.event(4)
        #expect(try self.park(other, &pending, of: Self.other))
        #expect(pending.events(under: [two, one]).map(\.createdAt) == [1, 2, 3, 4])
        let released = pending.removeAll(under: one)
        #expect(Set(released) == Set(events.map(\.id)))
        #expect(pending.isEmpty(under: [one]) && !pending.isEmpty(under: [one, two]))
        #expect(pending.total == ParkingBudget(events: 1, bytes: other.parkedBytes))
    }

    @Test func evictsOldestJunkForCount() throws {
        var pending = PendingEvents(group: ParkingBudget(events: 3, bytes: .max))
        let genuine = try self.event(0)
        let junk = try (1...4).map { try self.event($0) }
        #expect(try self.park(genuine, &pending, isOpened: true))
        for event in junk { #expect(try self.park(event, &pending)) }
        #expect(self.trim(&pending) == [junk[0].id, junk[1].id])
        #expect(pending.contains(genuine.id))
        // Only openable events are left: the oldest is dropped.
        for number in 5...7 { #expect(try self.park(try self.event(number), &pending, isOpened: true)) }
        #expect(self.trim(&pending) == [junk[2].id, junk[3].id, genuine.id])
    }

    @Test func evictsLargestJunkForBytes() throws {
        let small = try self.event(1, bytes: 100)
        let large = try self.event(2, bytes: 20_000)
        let genuine = try self.event(3, bytes: 30_000)
        var pending = PendingEvents(group: ParkingBudget(events: 10, bytes: small.parkedBytes + genuine.parkedBytes))
        #expect(try self.park(small, &pending) && self.park(genuine, &pending, isOpened: true))
        #expect(pending.surplus() == nil)
        #expect(try self.park(large, &pending))
        #expect(self.trim(&pending) == [large.id])
    }

    @Test func evictsFromFloodedGroupFirst() throws {
        var pending = PendingEvents(
            group: ParkingBudget(events: 100, bytes: .max), account: ParkingBudget(events: 10, bytes: .max))
        let quiet = try (0..<4).map { try self.event($0) }
        for event in quiet { #expect(try self.park(event, &pending, of: Self.other)) }
        for number in 10..<40 {
            #expect(try self.park(try self.event(number), &pending))
            _ = self.trim(&pending)
        }
        #expect(pending.total.events == 10)
        #expect(quiet.allSatisfy { pending.contains($0.id) })
    }

    @Test func openedEventsAreNotJunk() throws {
        var pending = PendingEvents(group: ParkingBudget(events: 1, bytes: .max))
        let first = try self.event(1)
        let second = try self.event(2)
        #expect(try self.park(first, &pending))
        #expect(try !self.park(first, &pending, isOpened: true))
        #expect(try self.park(second, &pending))
        #expect(self.trim(&pending) == [second.id])
    }

    @Test func triesEachKeyOncePerEvent() throws {
        var pending = PendingEvents()
        let event = try self.event(1, key: self.keys[2])
        #expect(try self.park(event, &pending))
        #expect(!self.isDue(event, &pending, of: Self.group, 0..<1))
        #expect(pending.trialCount(of: Self.group) == 0)
        self.follow(0..<2, &pending)
        for _ in 0..<5 { #expect(!self.isDue(event, &pending, of: Self.group, 0..<2)) }
        #expect(pending.trialCount(of: Self.group) == 1)
        self.follow(0..<3, &pending)
        #expect(self.isDue(event, &pending, of: Self.group, 0..<3))
        #expect(pending.trialCount(of: Self.group) == 2)
    }

    @Test func triesReturnedKeyOnLaterEvents() throws {
        var pending = PendingEvents()
        #expect(try self.park(try self.event(1), &pending))
        self.follow(1..<2, &pending)
        let late = try self.event(2, key: self.keys[0])
        #expect(try self.park(late, &pending, self.ring(1..<2)))
        // A rollback brings the earlier key back.
        self.follow(0..<1, &pending)
        #expect(self.isDue(late, &pending, of: Self.group, 0..<1))
    }

    @Test func storedEventsAreTriedAfterARestart() throws {
        var pending = PendingEvents()
        let event = try self.event(1, key: self.keys[0])
        pending.insert(WaitingEvent(event: event, arrivedAt: 0), under: try #require(self.routes[Self.group]))
        self.follow(0..<1, &pending)
        #expect(self.isDue(event, &pending, of: Self.group, 0..<1))
    }

    @Test func ordersEventsByTime() throws {
        var pending = PendingEvents()
        for number in [3, 1, 2] { #expect(try self.park(try self.event(number), &pending)) }
        #expect(pending.events(under: [try #require(self.routes[Self.group])]).map(\.createdAt) == [1, 2, 3])
        #expect(pending.events(under: [try #require(self.routes[Self.other])]).isEmpty)
    }

    @Test func openedEventBelongsToItsGroup() throws {
        var pending = PendingEvents()
        let event = try self.event(1)
        #expect(try self.park(event, &pending, isOpened: true))
        let route = try #require(self.routes[Self.group])
        pending.follow(self.ring(0..<1), of: Self.other, under: [route])
        #expect(self.isDue(event, &pending, of: Self.group, 0..<1))
        #expect(!self.isDue(event, &pending, of: Self.other, 0..<1))
    }

    // MARK: Live events that are held back

    @Test func heldEventsAreCountedOncePerRelay() throws {
        var held = HeldLiveEvents()
        let event = try self.event(1)
        let relay = ReducerWorld.relay
        for _ in 0..<3 { held.append(event, from: relay) }
        held.append(event, from: nil)
        #expect(held.count == 2 && held.bytes == 2 * event.parkedBytes)
        #expect(held.release { _, relay in relay == nil } == [event])
        held.append(event, from: nil)
        #expect(held.releaseAll() == [event, event])
        #expect(held.isEmpty && held.bytes == 0)
    }

    @Test func heldBytesAreBounded() throws {
        let events = try (1...4).map { try self.event($0, bytes: 1000) }
        var held = HeldLiveEvents(budget: ParkingBudget(events: 100, bytes: 3 * events[0].parkedBytes))
        for event in events.prefix(3) { held.append(event, from: nil) }
        #expect(!held.isOverBudget)
        held.append(events[3], from: nil)
        #expect(held.isOverBudget)
    }

    @Test func releasesHeldJunkFirstCheckingOnce() throws {
        let events = try (1...6).map { try self.event($0) }
        var held = HeldLiveEvents()
        for event in events { held.append(event, from: nil) }
        var trials = 0
        let junk = held.releaseJunk {
            trials += 1
            return $0.createdAt.seconds.isMultiple(of: 2)
        }
        #expect(junk.map(\.createdAt) == [1, 3, 5] && trials == 6)
        #expect(
            held.releaseJunk { _ in
                trials += 1; return true
            }.isEmpty && trials == 6)
    }

    // MARK: Invitations

    private func invite(_ number: UInt8, by keys: KeyPair, bytes: Int = 10) throws -> StoredInvite {
        StoredInvite(
            wrapper: try EventID(bytes: [UInt8](repeating: number, count: 32)),
            rumor: UnsignedEvent(
                pubkey: keys.publicKey, createdAt: 1, kind: .welcome, tags: [],
                content: String(repeating: "A", count: bytes)))
    }

    @Test func floodingInviterLosesItsOwnInvitations() throws {
        var random = self.random
        let (quiet, loud) = (KeyPair.generate(using: &random), KeyPair.generate(using: &random))
        var invites = [try self.invite(0, by: quiet)]
        for number in 1...4 { invites.append(try self.invite(UInt8(number), by: loud)) }
        #expect(InviteBudget.surplus(invites, budget: ParkingBudget(events: 5, bytes: .max)) == nil)
        #expect(InviteBudget.surplus(invites, budget: ParkingBudget(events: 4, bytes: .max)) == invites[1])
        invites.append(try self.invite(9, by: quiet, bytes: 50_000))
        #expect(InviteBudget.surplus(invites, budget: ParkingBudget(events: 10, bytes: 20_000)) == invites[0])
    }
}
