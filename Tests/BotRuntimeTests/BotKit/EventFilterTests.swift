import BotKit
import Nostr
import Testing

@testable import PikaCore

struct EventFilterTests {
    private func passes(
        _ filter: EventFilter<MessageEvent>, _ message: MessageEvent, name: String = "greeter"
    ) -> Bool {
        filter.matches(message, in: scope(name: name, chats: [chatSummary("c1", isGroup: true, admins: [key("d")])]))
    }

    @Test func filtersCombine() {
        let (b, c) = (messageEvent("hi", from: key("b")), messageEvent("ho", from: key("c")))
        #expect(passes(.from(key("b")) && .containing("HI"), b))
        #expect(!passes(.from(key("b")) && .containing("ho"), b))
        #expect(passes(.from(key("b")) || .containing("ho"), c))
        #expect(!passes(!.from(key("b")), b))
        #expect(passes(!.from(key("b")) && !.kind(.reaction), c))
        #expect(passes(EventFilter { message, scope in message.content == "hi" && scope.chatID == "c1" }, b))
        #expect(passes(.chat("c0", "c1") && .group, b))
        #expect(!passes(.chat("c0"), b))
    }

    @Test func judgesAdminsByEventEpoch() {
        #expect(passes(.fromAdmin, messageEvent("", role: .admin)))
        // The snapshot, in which d is an admin, does not count; nor do forgotten epochs.
        #expect(!passes(.fromAdmin, messageEvent("", from: key("d"), role: .member)))
        #expect(!passes(.fromAdmin, messageEvent("", from: key("d"), role: nil)))
    }

    @Test func operatorsComeFromScope() {
        var scope = scope()
        #expect(!EventFilter.fromOperator.matches(messageEvent("", from: key("d")), in: scope))
        scope.operators = [key("d")]
        #expect(EventFilter.fromOperator.matches(messageEvent("", from: key("d")), in: scope))
        #expect(!EventFilter.fromOperator.matches(messageEvent("", from: key("b")), in: scope))
    }

    @Test(arguments: [
        ("greeter", true), ("@greeter", true), ("hello, Greeter!", true), ("(@GREETER): hi", true),
        ("greeters", false), ("re-greeter", false), ("", false), ("hello", false), ("@greeter2", false),
    ])
    func matchesMentionByName(content: String, isMention: Bool) {
        #expect(passes(.mention, messageEvent(content)) == isMention)
    }

    @Test func shortNameNeedsAtSign() {
        #expect(!passes(.mention, messageEvent("a bot"), name: "a"))
        #expect(passes(.mention, messageEvent("hi @a"), name: "a"))
        #expect(!passes(.mention, messageEvent("hi @"), name: ""))
    }

    @Test func matchesMentionByKey() {
        let npub = key("a").npub
        #expect(passes(.mention, messageEvent("see \(npub).")))
        #expect(passes(.mention, messageEvent("see nostr:\(npub)")))
        #expect(!passes(.mention, messageEvent("see \(key("b").npub)")))
        #expect(passes(.mention, messageEvent("hi", tags: [Tag("p", key("a").hex, "")])))
        #expect(!passes(.mention, messageEvent("hi", tags: [Tag("p", key("b").hex)])))
    }

    @Test func filtersCalls() {
        let bodies: [CallSignal.Body] = [
            callInvite, .accept(CallSession(moqURL: "", broadcastBase: "", tracks: [])), .reject(reason: "busy"),
            .end(reason: "timeout"),
        ]
        let filters: [EventFilter<CallEvent>] = [.invite, .accept, .reject, .end]
        for (row, filter) in filters.enumerated() {
            #expect(bodies.map { filter.matches(callEvent($0), in: scope()) } == (0..<4).map { $0 == row })
        }
    }

    @Test func filtersCommits() {
        func passes(_ filter: EventFilter<CommitEvent>, _ commit: CommitEvent) -> Bool {
            filter.matches(commit, in: scope())
        }
        #expect(passes(.rename, commitEvent(name: ("a", "b"))))
        #expect(!passes(.rename || .membership, commitEvent()))
        #expect(passes(.membership, commitEvent(removed: [key("c")])))
        #expect(passes(.membership && .byOthers && .from(key("b")), commitEvent(added: [key("c")])))
        #expect(!passes(.byOthers, commitEvent(isOwn: true)))
    }
}
