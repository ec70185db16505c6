import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct CatchUpTests {
    private let relay: RelayURL
    private let groupID = GroupID([1])
    private let event: Event
    private let route: Bytes32
    private var catchUp = CatchUp()

    init() throws {
        self.relay = try RelayURL("wss://relay.example")
        var random = SystemRandomNumberGenerator()
        let keys = KeyPair.generate(using: &random)
        self.route = .random(using: &random)
        self.event = UnsignedEvent(
            pubkey: keys.publicKey, createdAt: 1000, kind: .groupEvent, tags: [Nostr.Tag("h", self.route.hex)],
            content: ""
        ).signed(by: keys, using: &random)
    }

    private func mustHold() -> Bool {
        self.catchUp.mustHold(self.event, from: self.relay) { $0 == self.route ? [self.groupID] : [] }
    }

    @Test mutating func holdsLiveEventsWhileRelayIsRead() {
        #expect(!self.mustHold() && self.catchUp.isIdle)
        self.catchUp.beginRead(of: self.relay)
        #expect(self.mustHold() && self.catchUp.isReading(self.groupID, from: [self.relay]))
        self.catchUp.endRead(of: self.relay)
        #expect(!self.mustHold() && self.catchUp.isIdle)
    }

    @Test mutating func holdsLiveEventsWhileGroupIsRead() {
        self.catchUp.beginRead(of: self.groupID, from: self.relay)
        self.catchUp.beginRead(of: self.groupID, from: self.relay)
        #expect(self.mustHold())
        // One relay's answer is enough.
        let end = self.catchUp.endRead(of: self.groupID, [self.relay: .events([])])
        #expect(end.answered == [self.relay] && end.retryDelay == nil && !self.mustHold())
    }

    @Test mutating func stopsHoldingAfterRepeatedFailures() {
        for attempt in 1...ReadRetries.attempts {
            self.catchUp.beginRead(of: self.relay)
            #expect(self.mustHold())
            let delay = self.catchUp.failRead(of: self.relay)
            #expect(delay == ReadRetries.firstDelay && self.mustHold() == (attempt < ReadRetries.attempts))
        }
        // A reconnect allows one more attempt.
        self.catchUp.reconnect(self.relay, cursor: nil)
        self.catchUp.beginRead(of: self.relay)
        #expect(self.mustHold())
    }

    @Test mutating func releasesHeldEventsOnceRead() {
        self.catchUp.beginRead(of: self.relay)
        _ = self.catchUp.hold(self.event, from: self.relay)
        let early = self.catchUp.releaseHeld(isSeen: { _ in false }, claimants: { _ in [] })
        #expect(early.isEmpty && self.catchUp.heldCount == 1)
        self.catchUp.endRead(of: self.relay)
        let released = self.catchUp.releaseHeld(isSeen: { _ in false }, claimants: { _ in [] })
        #expect(released == [self.event] && self.catchUp.heldCount == 0 && self.catchUp.heldBytes == 0)
    }

    @Test mutating func evictedGroupsAreReadAgainOnce() {
        self.catchUp.noteEvicted([self.groupID])
        let answers = [
            self.catchUp.consumeEviction(of: self.groupID), self.catchUp.consumeEviction(of: self.groupID),
        ]
        #expect(answers == [true, false])
    }
}
