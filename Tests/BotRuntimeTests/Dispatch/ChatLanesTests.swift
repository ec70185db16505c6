import Testing

@testable import BotDispatch
@testable import PikaCore

extension BotJob {
    fileprivate var number: Int64? { if case .event(let event) = self { event.inboxID } else { nil } }
}

struct ChatLanesTests {
    private func ids(_ jobs: [BotJob]) -> [Int64] {
        jobs.compactMap(\.number)
    }

    @Test func runsOneEventPerChatInOrder() {
        var lanes = ChatLanes(width: 4)
        #expect(ids(lanes.add(.event(arrived("", 1)))) == [1])
        #expect(lanes.add(.event(arrived("", 2))).isEmpty)
        #expect(lanes.add(.event(arrived("", 3))).isEmpty)
        #expect(ids(lanes.finish("c1")) == [2])
        #expect(ids(lanes.finish("c1")) == [3])
        #expect(lanes.finish("c1").isEmpty)
        #expect(ids(lanes.add(.event(arrived("", 4)))) == [4])
    }

    @Test func runsChatsInParallelUpToWidth() {
        var lanes = ChatLanes(width: 2)
        #expect(ids(lanes.add(.event(arrived("", 1, chat: "a")))) == [1])
        #expect(ids(lanes.add(.event(arrived("", 2, chat: "b")))) == [2])
        #expect(lanes.add(.event(arrived("", 3, chat: "c"))).isEmpty)
        #expect(lanes.add(.event(arrived("", 4, chat: "a"))).isEmpty)
        #expect(ids(lanes.finish("a")) == [3])
        #expect(ids(lanes.finish("c")) == [4])
    }

    @Test func busyChatDoesNotBlockOthers() {
        var lanes = ChatLanes(width: 1)
        #expect(ids(lanes.add(.event(arrived("", 1, chat: "a")))) == [1])
        #expect(lanes.add(.event(arrived("", 2, chat: "a"))).isEmpty)
        #expect(lanes.add(.event(arrived("", 3, chat: "b"))).isEmpty)
        #expect(ids(lanes.finish("a")) == [3])
        #expect(ids(lanes.finish("b")) == [2])
    }

    @Test func exclusiveJobsWaitForOthers() {
        var lanes = ChatLanes(width: 4) { [2, 4].contains($0.number) }
        #expect(ids(lanes.add(.event(arrived("", 1, chat: "a")))) == [1])
        #expect(lanes.add(.event(arrived("", 2, chat: "b"))).isEmpty)
        #expect(lanes.add(.event(arrived("", 3, chat: "c"))).isEmpty)
        #expect(ids(lanes.finish("a")) == [2])
        #expect(lanes.add(.event(arrived("", 5, chat: "d"))).isEmpty)
        #expect(lanes.add(.event(arrived("", 4, chat: "b"))).isEmpty)
        #expect(ids(lanes.finish("b")) == [3, 5])
        #expect(lanes.finish("c").isEmpty)
        #expect(ids(lanes.finish("d")) == [4])
        #expect(lanes.finish("b").isEmpty)
        #expect(ids(lanes.add(.event(arrived("", 6, chat: "e")))) == [6])
    }

    @Test func suspendedJobsDoNotBlockOthers() {
        var lanes = ChatLanes(width: 4) { $0.number == 2 }
        #expect(ids(lanes.add(.event(arrived("", 1, chat: "a")))) == [1])
        #expect(lanes.add(.event(arrived("", 2, chat: "b"))).isEmpty)
        #expect(lanes.add(.event(arrived("", 3, chat: "c"))).isEmpty)
        #expect(ids(lanes.suspend("a")) == [2])
        lanes.resume("a")
        #expect(lanes.finish("a").isEmpty)
        #expect(ids(lanes.suspend("b")) == [3])
        lanes.resume("b")
        #expect(ids(lanes.add(.event(arrived("", 4, chat: "d")))) == [4])
        // The job has finished, so the next job of its chat is an ordinary one.
        #expect(lanes.add(.event(arrived("", 5, chat: "b"))).isEmpty)
        #expect(ids(lanes.finish("b")) == [5])
    }

    /// Otherwise the second job would be blamed for a crash of the first one.
    @Test func suspectJobsNeverOverlap() {
        var lanes = ChatLanes(width: 4) { [1, 2].contains($0.number) }
        #expect(ids(lanes.add(.event(arrived("", 1, chat: "a")))) == [1])
        #expect(lanes.add(.event(arrived("", 2, chat: "b"))).isEmpty)
        #expect(lanes.add(.event(arrived("", 3, chat: "c"))).isEmpty)
        #expect(ids(lanes.suspend("a")) == [3])
        #expect(lanes.finish("c").isEmpty)
        lanes.resume("a")
        #expect(ids(lanes.finish("a")) == [2])
    }

    @Test func startsNothingAfterStop() {
        var lanes = ChatLanes(width: 2)
        _ = lanes.add(.event(arrived("", 1, chat: "a")))
        _ = lanes.add(.event(arrived("", 2, chat: "a")))
        lanes.stop()
        #expect(!lanes.isDrained)
        #expect(lanes.add(.event(arrived("", 3, chat: "b"))).isEmpty)
        #expect(lanes.finish("a").isEmpty)
        #expect(lanes.isDrained)
    }
}
