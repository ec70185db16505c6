import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct TypingNoticesTests {
    private let group = GroupID([1])
    private let member: PublicKey

    init() throws {
        self.member = try PublicKey(hex: String(repeating: "b", count: 64))
    }

    @Test func limitsOwnNoticesPerGroup() {
        var typing = TypingNotices()
        typing.noteSent(to: self.group, 1000)
        #expect(!typing.maySend(to: self.group, 1000 + TypingNotices.interval - 1))
        #expect(typing.maySend(to: self.group, 1000 + TypingNotices.interval))
        #expect(typing.maySend(to: GroupID([2]), 1000))
    }

    @Test func expiresMembersAndRows() {
        var (typing, step) = (TypingNotices(), CoreStep.at(0))
        typing.receive(self.member, in: self.group, until: 10)
        typing.track(row: "row", 0)
        typing.schedule(&step)
        #expect(step.effects == [.wake(.typing, atMilliseconds: TypingNotices.deliveryTimeout)])
        #expect(typing.members(of: self.group) == [self.member])
        let isEarly = typing.wakeUp(.at(TypingNotices.deliveryTimeout - 1)) == nil
        #expect(isEarly)
        let first = typing.wakeUp(.at(TypingNotices.deliveryTimeout))
        #expect(first?.rows == ["row"] && first?.groups.isEmpty == true)
        typing.schedule(&step)
        let last = typing.wakeUp(.at(10_000))
        #expect(last?.rows.isEmpty == true && last?.groups == [self.group])
        #expect(typing.isEmpty)
    }
}
