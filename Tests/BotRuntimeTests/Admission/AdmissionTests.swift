import BotKit
import Nostr
import Testing

@testable import BotDispatch
@testable import PikaCore

/// Verdicts depend only on the event, the configuration and the clock.
struct AdmissionTests {
    private static let now: Int64 = 1_700_000_000_000

    private func verdict(
        _ admission: Admission, _ event: CoreEvent, _ policy: BotPolicy = BotPolicy(), bot: String = "bot",
        isGroup: Bool = true, isWanted: Bool = true, isUrgent: Bool = false, now: Int64 = AdmissionTests.now
    ) -> String {
        let scope = scope(event.chatID, chats: [chatSummary(event.chatID, isGroup: isGroup)])
        admission.arrived(event)
        admission.begin(event, in: scope)
        let verdict = admission.verdict(on: event, for: bot, policy, in: scope, nowMilliseconds: now) {
            isWanted
        } isUrgent: {
            isUrgent
        }
        switch verdict {
        case .admitted: return "admitted"
        case .ignored(let reason, _): return reason.rawValue
        }
    }

    // MARK: Roles

    @Test(arguments: [
        (TriggerPolicy.members, MemberRole?.some(.member), "admitted"), (.members, .some(.admin), "admitted"),
        // MLS proves membership even if the role is no longer known.
        (.members, nil, "admitted"),
        (.admins, .some(.admin), "admitted"), (.admins, .some(.member), "not_allowed"), (.admins, nil, "unknown_role"),
        (.allowlist([key("b")]), .some(.member), "admitted"), (.allowlist([key("b")]), nil, "admitted"),
        (.allowlist([key("c")]), .some(.admin), "not_allowed"), (.allowlist([]), .some(.member), "not_allowed"),
        (.nobody, .some(.admin), "not_allowed"), (.nobody, nil, "not_allowed"),
    ])
    func judgesTriggersByTheEventsEpoch(policy: TriggerPolicy, role: MemberRole?, expected: String) {
        let bot = BotPolicy(triggers: policy)
        #expect(verdict(Admission(), arrived("hi", role: role), bot) == expected)
        var call = callEvent(callInvite)
        call.role = role
        #expect(verdict(Admission(), coreEvent(1, .call(call)), bot) == expected)
        var commit = commitEvent()
        commit.role = role
        #expect(verdict(Admission(), coreEvent(1, .commit(commit)), bot) == expected)
    }

    @Test func ownEventsAndWithdrawalsAreNotTriggers() {
        let own = coreEvent(1, .commit(commitEvent(by: key("a"), isOwn: true)))
        let joined = coreEvent(2, .joined(JoinEvent(inviter: key("b"), name: "", epoch: 1, memberCount: 2)))
        for event in [own, joined, withdrawal(3)] {
            #expect(verdict(Admission(), event, BotPolicy(triggers: .admins)) == "admitted")
            #expect(verdict(Admission(), event, BotPolicy(triggers: .allowlist([]))) == "admitted")
            #expect(verdict(Admission(), event, BotPolicy(triggers: .nobody)) == "not_allowed")
            #expect(verdict(Admission(), event, BotPolicy(groups: GroupPolicy(.none))) == "group_scope")
        }
        #expect(verdict(Admission(), arrived("hi", from: key("a"))) == "own")
    }

    @Test func checksReasonsInOrder() {
        let admission = Admission()
        #expect(verdict(admission, arrived("hi"), isWanted: false) == "no_handler")
        admission.setPaused(true, "bot")
        #expect(verdict(admission, arrived("hi"), isWanted: false) == "paused")
        #expect(verdict(admission, arrived("hi"), bot: "other") == "admitted")
        #expect(verdict(admission, arrived("hi"), BotPolicy(triggers: .nobody)) == "not_allowed")
        let elsewhere = BotPolicy(groups: GroupPolicy(.all, exceptions: ["c1": .none]), triggers: .nobody)
        #expect(verdict(admission, arrived("hi"), elsewhere) == "group_scope")
        admission.setPaused(false, "bot")
        #expect(verdict(admission, arrived("hi")) == "admitted")
        #expect(admission.counts(of: "bot") == BotCounts(handled: 0, failed: 0, ignored: 4))
        #expect(
            admission.journal.ignored.map(\.reason) == ["no_handler", "paused", "not_allowed", "group_scope"])
        #expect(admission.journal.ignored.allSatisfy { $0.bot == "bot" && $0.chat == "c1" })
    }

    @Test func sharedIDsNeverWidenTheScope() {
        let chats = [
            chatSummary("c1", isGroup: true, routingIDs: ["f1", "f2"]),
            chatSummary("c2", isGroup: true, routingIDs: ["f2"]),
        ]
        let state = scope("c1", chats: chats).snapshot
        func judged(_ standard: GroupPolicy.Scope, _ exceptions: [ChatID: GroupPolicy.Scope]) -> GroupPolicy.Scope {
            GroupPolicy(standard, exceptions: exceptions).scope(of: "c1", chats[0], in: state)
        }
        #expect(judged(.none, ["f1": .all]) == .all && judged(.all, ["f1": .none]) == .none)
        #expect(judged(.none, ["f2": .all]) == .none && judged(.all, ["f2": .mention]) == .mention)
        #expect(judged(.none, ["f2": .all, "c1": .all]) == .all && judged(.mention, ["f3": .all]) == .mention)
        #expect(GroupPolicy(.all, exceptions: ["f1": .none]).scope(of: "c9", nil, in: state) == .all)
    }

    // MARK: Rate limits

    @Test func limitsRatePerSender() {
        let admission = Admission()
        let policy = BotPolicy(limits: BotLimits(perSender: Rate(6, per: .minute)))
        var admitted = 0
        for row in 1...1_000 where verdict(admission, arrived("x", Int64(row)), policy) == "admitted" { admitted += 1 }
        #expect(admitted == 6)
        #expect(verdict(admission, arrived("x", 1_001, from: key("c")), policy) == "admitted")
        // Another bot of the same account has its own limits.
        #expect(verdict(admission, arrived("x", 1_002), policy, bot: "other") == "admitted")
    }

    @Test func unhandledMessagesDoNotCount() {
        let admission = Admission()
        let policy = BotPolicy(limits: BotLimits(perSender: Rate(1, per: .hour), perGroup: Rate(1, per: .hour)))
        for row in 1...100 {
            #expect(verdict(admission, arrived("x", Int64(row)), policy, isWanted: false) == "no_handler")
        }
        #expect(verdict(admission, arrived("x", 101), policy) == "admitted")
        #expect(verdict(admission, arrived("x", 102), policy) == "rate_limited_sender")
        #expect(verdict(admission, arrived("x", 103, from: key("c")), policy) == "rate_limited_group")
        #expect(verdict(admission, arrived("x", 104, chat: "c2", from: key("c")), policy) == "admitted")
    }

    @Test func urgentCommandsHaveNoLimits() {
        let admission = Admission()
        var policy = BotPolicy(limits: BotLimits(perSender: Rate(1, per: .hour), perGroup: Rate(1, per: .hour)))
        #expect(verdict(admission, arrived("x", 1), policy) == "admitted")
        #expect(verdict(admission, arrived("x", 2), policy) == "rate_limited_sender")
        for row in 3...20 {
            #expect(verdict(admission, arrived("x", Int64(row)), policy, isUrgent: true) == "admitted")
        }
        policy.triggers = .nobody
        #expect(verdict(admission, arrived("x", 21), policy, isUrgent: true) == "not_allowed")
    }

    @Test func limitedSenderDoesNotConsumeGroupLimit() {
        let admission = Admission()
        let policy = BotPolicy(limits: BotLimits(perSender: Rate(2, per: .hour), perGroup: Rate(3, per: .hour)))
        for row in 1...50 { _ = verdict(admission, arrived("x", Int64(row)), policy) }
        #expect(verdict(admission, arrived("x", 51, from: key("c")), policy) == "admitted")
        #expect(verdict(admission, arrived("x", 52, from: key("d")), policy) == "rate_limited_group")
        // A refusal by the group's limit does not count for the sender either.
        #expect(verdict(admission, arrived("x", 53, chat: "c2", from: key("d")), policy) == "admitted")
        #expect(verdict(admission, arrived("x", 54, chat: "c2", from: key("d")), policy) == "admitted")
    }

    @Test func ratesCountReceiptTimes() {
        let admission = Admission()
        let policy = BotPolicy(limits: BotLimits(perSender: Rate(2, per: .minute)))
        // All arrived at once; the last is processed an hour later.
        let verdicts = (1...5).map { verdict(admission, arrived("x", $0), policy, now: Self.now + $0 * 3_600_000) }
        #expect(verdicts.filter { $0 == "admitted" }.count == 2)
    }

    @Test func limitsCommitsAndCallsOfOthers() {
        let admission = Admission()
        let policy = BotPolicy(limits: BotLimits(perSender: Rate(1, per: .hour)))
        let own = coreEvent(1, .commit(commitEvent(by: key("a"), isOwn: true)))
        for _ in 1...5 { #expect(verdict(admission, own, policy) == "admitted") }
        #expect(verdict(admission, coreEvent(2, .call(callEvent(callInvite))), policy) == "admitted")
        #expect(verdict(admission, coreEvent(3, .call(callEvent(callInvite))), policy) == "rate_limited_sender")
        #expect(verdict(admission, coreEvent(4, .commit(commitEvent())), policy) == "rate_limited_sender")
    }
}
