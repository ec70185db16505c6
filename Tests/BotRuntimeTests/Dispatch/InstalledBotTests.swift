import BotKit
import Nostr
import Testing

@testable import BotDispatch
@testable import PikaCore

struct InstalledBotTests {
    private func triggers(_ groups: GroupPolicy.Scope, _ event: CoreEvent, isGroup: Bool? = true) -> Bool {
        let bot = ListedBot {
            OnInnerEvent(.any) { _, _ in }
            OnCommit { _, _ in }
            OnCall { _, _ in }
            OnWithdrawn { _, _ in }
        }
        let chats = isGroup.map { [chatSummary("c1", isGroup: $0)] } ?? []
        let policy = BotPolicy(groups: GroupPolicy(groups))
        let installed = InstalledBot(bot, label: "bot", policy: policy)
        let scope = scope(chats: chats)
        return Admission().judge(event, for: policy, in: scope) == .admitted
            && installed.work(for: .event(event), in: scope) != nil
    }

    @Test func scopeAllReceivesAllMessages() {
        #expect(triggers(.all, arrived("hi")))
        #expect(!triggers(.all, arrived("hi", from: key("a"))))
    }

    @Test func scopeMentionNeedsMentionInGroups() {
        #expect(!triggers(.mention, arrived("hi")))
        #expect(triggers(.mention, arrived("hi @greeter")))
        #expect(triggers(.mention, arrived("hi"), isGroup: false))
        // A chat missing from the snapshot is treated as a group.
        #expect(!triggers(.mention, arrived("hi"), isGroup: nil))
    }

    @Test func scopeNoneKeepsTwoMemberChats() {
        #expect(!triggers(.none, arrived("hi @greeter")))
        #expect(!triggers(.none, arrived("hi"), isGroup: nil))
        #expect(triggers(.none, arrived("hi"), isGroup: false))
    }

    @Test func commitsAndCallsNeedNoMention() {
        #expect(triggers(.mention, coreEvent(1, .commit(commitEvent()))))
        #expect(!triggers(.mention, coreEvent(1, .commit(commitEvent(isOwn: true)))))
        #expect(triggers(.mention, coreEvent(1, .call(callEvent(callInvite)))))
        // A bot ignores everything in chats where it is inactive.
        #expect(!triggers(.none, coreEvent(1, .commit(commitEvent()))))
        #expect(!triggers(.none, coreEvent(1, .call(callEvent(callInvite)))))
        #expect(triggers(.none, coreEvent(1, .commit(commitEvent())), isGroup: false))
    }

    /// A bot that received a message is told that it was withdrawn, whether or not it mentions the bot.
    @Test func withdrawalsNeedNoMention() {
        #expect(triggers(.mention, withdrawal()))
        #expect(!triggers(.none, withdrawal()))
        #expect(triggers(.none, withdrawal(), isGroup: false))
    }

    @Test func evictsOldestWrittenValues() {
        let written = WrittenValues(capacity: 2)
        for number in 0..<5 {
            let write = HandlerEffect.Operation.putValue(scope: "s", key: "\(number)", value: [UInt8(number)])
            written.note([HandlerEffect(id: "\(number)", operation: write)])
        }
        #expect((0..<5).map { written.value(scope: "s", key: "\($0)") } == [nil, nil, nil, [3], [4]])
        written.note([HandlerEffect(id: "d", operation: .putValue(scope: "s", key: "4", value: nil))])
        #expect(written.value(scope: "s", key: "4") == .some(.none))
    }
}
