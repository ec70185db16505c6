import BotKit
import Nostr
import Testing

@testable import BotDispatch
@testable import PikaCore

struct LoopBreakerTests {
    /// A chat with a clock, in which this account may answer.
    private final class Chat {
        var breaker = LoopBreaker()
        var now: UnixTime = 1_700_000_000
        var row: Int64 = 0
        let budget: Int

        init(budget: Int = 3) { self.budget = budget }

        /// Receives a message and returns whether it may be answered; if so, answers it.
        func receive(
            _ sender: Character = "b", depth: Int? = nil, after seconds: Int64 = 1, isAnswered: Bool = true,
            chat: ChatID = "c1"
        ) -> Bool {
            now += seconds
            row += 1
            let tags = depth.map { [Nostr.Tag(AutomationMarker.tagName, String($0))] } ?? []
            let message = messageEvent("x", id: Int(row), from: key(sender), tags: tags)
            let event = CoreEvent(inboxID: row, chatID: chat, receivedAt: now, content: .message(message))
            breaker.receive(message, event)
            let mayAnswer = breaker.objection(to: message, in: chat, budget: budget) == nil
            if mayAnswer, isAnswered { breaker.answer(message, in: chat, at: now, newest: row) }
            return mayAnswer
        }
    }

    @Test func ignoresTooDeepMessages() {
        for depth in 1...3 {
            let chat = Chat()
            #expect(chat.receive(depth: depth))
        }
        for depth in [4, 5, .max] {
            let chat = Chat()
            #expect(!chat.receive(depth: depth))
        }
    }

    @Test func limitsEachPairToItsBudget() {
        var chat = Chat()
        // Its message, this account's answer, its message: three in a row.
        #expect((1...5).map { _ in chat.receive(depth: 1) } == [true, false, false, false, false])
        chat = Chat(budget: 5)
        #expect((1...5).map { _ in chat.receive(depth: 1) } == [true, true, false, false, false])
        chat = Chat(budget: 0)
        #expect(!chat.receive(depth: 1))
        chat = Chat(budget: .max)
        for _ in 1...100 { #expect(chat.receive(depth: 1)) }
    }

    @Test func personOrSilenceResetsBudget() {
        let chat = Chat()
        #expect(chat.receive(depth: 1))
        #expect(!chat.receive(depth: 1))
        #expect(chat.receive("c"))
        #expect(chat.receive(depth: 1))
        #expect(!chat.receive(depth: 1))
        // A person in another chat has no effect here.
        #expect(chat.receive("c", chat: "c2"))
        #expect(!chat.receive(depth: 1))
        #expect(chat.receive(depth: 1, after: LoopBreaker.quietSeconds + 1))
    }

    @Test func unansweredBotIsNotLimited() {
        let chat = Chat()
        for _ in 1...100 { #expect(chat.receive(depth: 1, isAnswered: false)) }
        #expect(chat.receive(depth: 1))
    }

    @Test func personResetsChatDepth() {
        let chat = Chat()
        func depth() -> Int { chat.breaker.depth(in: "c1") }
        #expect(depth() == 0)
        _ = chat.receive(depth: 2)
        _ = chat.receive(depth: 3, chat: "c2")
        #expect(depth() == 2)
        _ = chat.receive("c")
        #expect(depth() == 0)
    }

    @Test func pairsHaveSeparateBudgets() {
        let chat = Chat()
        #expect(chat.receive("b", depth: 1))
        #expect(chat.receive("c", depth: 1))
        #expect(chat.receive("b", depth: 1, chat: "c2"))
        #expect(!chat.receive("b", depth: 1))
        #expect(!chat.receive("c", depth: 1))
    }

    @Test func instantResponderIsNotAPerson() {
        let chat = Chat()
        let verdicts = (1...60).map { _ in chat.receive() }
        // The first message is not an answer; then thirty quick answers follow.
        #expect(verdicts.firstIndex(of: false) == 30)
        #expect(!verdicts.dropFirst(30).prefix(20).contains(true))
        #expect(chat.receive(after: LoopBreaker.quietSeconds + 1))
    }

    @Test func personIsNotClassifiedAsBot() {
        let chat = Chat()
        for _ in 1...500 { #expect(chat.receive(after: 3)) }
        // Nine quick answers, then a pause.
        for round in 1...200 { #expect(chat.receive(after: round % 10 == 0 ? 5 : 1)) }
    }

    @Test func independentMessagesAreNoLoop() {
        var breaker = LoopBreaker()
        for row in 1...500 {
            let message = messageEvent("x", id: row)
            breaker.receive(
                message,
                CoreEvent(inboxID: Int64(row), chatID: "c1", receivedAt: 1_700_000_000, content: .message(message)))
            let objection = breaker.objection(to: message, in: "c1", budget: 3)
            #expect(objection == nil)
            // All five hundred arrived before the first answer was sent.
            breaker.answer(message, in: "c1", at: 1_700_000_000, newest: 500)
        }
    }

    @Test func thirdBotDoesNotResetBudget() {
        let chat = Chat()
        var answered = 0
        for _ in 1...44 {
            for sender in ["b", "c"] as [Character] where chat.receive(sender) { answered += 1 }
        }
        #expect(answered <= 62)
    }

    @Test func reportsEachTripOnce() {
        let chat = Chat()
        _ = chat.receive(depth: 1)
        _ = chat.receive(depth: 1)
        let message = messageEvent("x", tags: [Nostr.Tag(AutomationMarker.tagName, "1")])
        let objection = chat.breaker.objection(to: message, in: "c1", budget: 3)
        #expect(objection?.isNew == false)
    }
}

struct AutomationMarkerTests {
    private func depth(_ tags: [Nostr.Tag]) -> Int? { AutomationMarker.depth(of: tags) }

    @Test func parsesDepths() {
        #expect(depth([]) == nil)
        #expect(depth([Nostr.Tag("pikabot-automated")]) == 1)
        #expect(depth([Nostr.Tag("p", "x"), Nostr.Tag("pikabot-automated", "3")]) == 3)
        for odd in ["", "-7", "0", "x", "99999999999999999999"] {
            #expect(depth([Nostr.Tag("pikabot-automated", odd)]) == 1)
        }
    }

    @Test func marksHypernoteAnswers() {
        func marked(_ action: AppAction) -> HandlerEffect.Operation? {
            AutomationMarker.mark([HandlerEffect(id: "x", operation: .dispatch(action))], depth: 1).first?.operation
        }
        let form = ["size": "two"]
        var answer = HypernoteAction(action: "buy", form: form).message(to: eventID(1))
        answer.tags.append(Nostr.Tag("pikabot-automated", "2"))
        #expect(
            marked(.hypernoteAction(chatID: "c1", hypernote: eventID(1), action: " buy ", form: form))
                == .dispatch(.sendMessage(chatID: "c1", answer)))
        // Refused by the core, with its reason.
        let many = Dictionary(uniqueKeysWithValues: (0...HypernoteAction.maximumFields).map { ("f\($0)", "") })
        for (action, form) in [(" ", [:]), ("buy", many)] {
            let wrong = AppAction.hypernoteAction(chatID: "c1", hypernote: eventID(1), action: action, form: form)
            #expect(marked(wrong) == .dispatch(wrong))
        }
    }

    @Test func marksEveryMessageOnce() throws {
        let tag = Nostr.Tag("pikabot-automated", "3")
        let question = arrived("x", tags: [Nostr.Tag("pikabot-automated", "2")])
        let own = OutgoingMessage(content: "a", tags: [Nostr.Tag("t", "1"), Nostr.Tag("pikabot-automated", "1")])
        let media = OutgoingMedia(files: [], caption: "c")
        let operations: [HandlerEffect.Operation] = [
            .send(chatID: "c1", own), .dispatch(.sendMessage(chatID: "c1", own)),
            .dispatch(.reactToMessage(chatID: "c1", messageID: eventID(1), emoji: "+")),
            .dispatch(.sendMedia(chatID: "c1", media)), .dispatch(.leaveGroup(chatID: "c1")),
            .putValue(scope: "s", key: "k", value: nil),
        ]
        let effects = operations.enumerated().map { HandlerEffect(id: "\($0.offset)", operation: $0.element) }
        let marked = AutomationMarker.mark(effects, depth: AutomationMarker.depth(of: question) ?? 0)
        let message = OutgoingMessage(content: "a", tags: [Nostr.Tag("t", "1"), tag])
        var markedMedia = media
        markedMedia.tags = [tag]
        var reaction = OutgoingMessage.reaction("+", to: eventID(1))
        reaction.tags.append(tag)
        #expect(
            marked.map(\.operation) == [
                .send(chatID: "c1", message), .dispatch(.sendMessage(chatID: "c1", message)),
                .dispatch(.sendMessage(chatID: "c1", reaction)), .dispatch(.sendMedia(chatID: "c1", markedMedia)),
                operations[4], operations[5],
            ])
        #expect(marked.map(\.id) == effects.map(\.id))
        guard case .send(_, let unasked)? = AutomationMarker.mark(effects, depth: 0).first?.operation else {
            throw BotError(.noMessage, "no message")
        }
        #expect(depth(unasked.tags) == 1)
        guard case .send(_, let deep)? = AutomationMarker.mark(effects, depth: .max).first?.operation else {
            throw BotError(.noMessage, "no message")
        }
        #expect(depth(deep.tags) == .max)
    }
}
