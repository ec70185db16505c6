import BotKit
import LiveTesting
import Nostr
import Testing

@testable import BotDispatch
@testable import PikaCore

private func item(_ text: String, _ inboxID: Int64 = 1, feed: String = "orders", id: String? = nil) -> CoreEvent {
    let item = FeedItem(feed: feed, id: id ?? "\(inboxID)", payload: Array(text.utf8))
    return CoreEvent(inboxID: inboxID, chatID: "", receivedAt: 1_700_000_000, content: .feed(item))
}

@Suite(.bounded)
struct FeedDispatchTests {
    private func bot() -> ListedBot {
        ListedBot {
            OnFeed("orders") { item, context in
                context.send("New order: \(item.text ?? "?")", to: "c1")
                context.setText(item.id, forKey: "last")
            }
        }
    }

    @Test func effectsAreCommittedWithTheItem() async {
        let stage = Stage(bot())
        let event = item("tea", 7)
        await stage.run { stage in
            stage.core.deliver(event)
            let completions = await stage.core.completed(1)
            #expect(completions.map(\.inboxID) == [7])
            let effects = completions.flatMap(\.effects)
            #expect(texts(effects) == ["New order: tea"])
            // The ids are the same after a restart, and differ if the feed repeats an old id much later.
            #expect(effects.map(\.id) == (0..<2).map { "bot0/\(event.inputID)/\($0)" })
            #expect(item("tea", 8, id: "7").inputID != event.inputID)
        }
    }

    @Test func otherFeedsAreIgnored() async {
        let stage = Stage(bot())
        await stage.run { stage in
            stage.core.deliver(item("tea", 1, feed: "other"))
            #expect(await stage.core.completed(1) == [Completion(inboxID: 1, effects: [])])
            #expect(stage.dispatcher.admission.journal.ignored.map(\.reason) == ["no_handler"])
            #expect(stage.dispatcher.admission.journal.ignored.map(\.chat) == ["feed/other"])
        }
    }

    /// Its items have no author and no chat.
    @Test func chatPoliciesDoNotApply() async {
        var policy = BotPolicy()
        policy.triggers = .nobody
        policy.groups.standard = .none
        let stage = Stage([InstalledBot(bot(), label: "bot0", policy: policy)])
        await stage.run { stage in
            stage.core.deliver(item("tea"))
            #expect(texts(await stage.core.completed(1).flatMap(\.effects)) == ["New order: tea"])
        }
    }

    @Test func pausedBotsGetNoItems() async {
        let stage = Stage(bot())
        stage.dispatcher.admission.setPaused(true, "bot0")
        await stage.run { stage in
            stage.core.deliver(item("tea"))
            #expect(await stage.core.completed(1).flatMap(\.effects).isEmpty)
        }
    }

    @Test func journalExplainsItems() async {
        let stage = Stage(bot())
        let event = item("tea")
        await stage.run { stage in
            stage.core.deliver(event)
            _ = await stage.core.completed(1)
            let id = String(event.inputID.prefix(64))
            let lines = EventExplanation(
                of: String(id.prefix(12)), from: stage.dispatcher.admission.journal)?.lines
            #expect(lines?.first == "event \(id) of feed/orders")
            #expect(lines?.contains { $0.contains("handler feed orders, effects: 2") } == true)
        }
    }

    @Test func replyNeedsAChat() async {
        let bot = ListedBot { OnFeed("orders") { _, context in context.reply("hello") } }
        let stage = Stage(bot)
        await stage.run { stage in
            stage.core.deliver(item("tea"))
            #expect(await stage.core.completed(1) == [Completion(inboxID: 1, effects: [])])
        }
    }

    @Test func feedsRunBesideEachOther() async {
        let gate = Gate()
        let bot = ListedBot {
            OnFeed("slow") { _, _ in await gate.passed() }
            OnFeed("fast") { _, _ in }
        }
        let stage = Stage(bot)
        await stage.run { stage in
            stage.core.deliver(item("a", 1, feed: "slow"), item("b", 2, feed: "slow"), item("c", 3, feed: "fast"))
            #expect(await stage.core.completed(1).map(\.inboxID) == [3])
            gate.open()
            #expect(await stage.core.completed(2).map(\.inboxID) == [1, 2])
        }
    }
}
