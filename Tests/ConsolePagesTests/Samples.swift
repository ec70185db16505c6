import ConsoleReports
import Foundation

@testable import ConsolePages

/// Text as a hostile member would choose it: markup, quotes, a bidi override, controls, and a great length.
let hostile =
    "<script>alert(1)</script>\"' onload=x \u{202E}gnp\u{0}\u{7}" + String(repeating: "a\u{301}", count: 3_000)

let operatorViewer = Viewer(name: "ann", role: .operate, formToken: "form-token")
let visitor = Viewer(name: hostile, role: .view, formToken: "form-token")

extension ConsoleSnapshot {
    /// Two accounts whose every text is `text`; the second does not run.
    static func sample(_ text: String) -> ConsoleSnapshot {
        var snapshot = ConsoleSnapshot()
        snapshot.rev = 7
        snapshot.takenAt = 1_000_000
        snapshot.version = text
        snapshot.file = text
        snapshot.shard = text
        snapshot.actions = [ActionRecord(at: 999_990, operatorName: text, text: text, failure: text)]
        snapshot.reload.at = 999_000
        snapshot.reload.isSuccess = false
        snapshot.reload.problems = [
            FileProblem(line: 3, column: 1, path: text, expected: text, found: text, fix: text)
        ]
        snapshot.reload.waiting = [text]
        snapshot.reload.refused = [text]
        snapshot.reload.needsRestart = [text]
        var running = AccountStatus(name: "one" + text)
        running.state = "ready"
        running.process = 12
        running.since = 990_000
        running.summary = .sample(text)
        running.needsRestart = [text]
        for number in 0..<5 {
            var counters = AccountCounters()
            counters.answered = Double(number * 3)
            counters.canaryMilliseconds = 12
            running.history.append(.init(at: 990_000 + Int64(number) * 15, counters: number == 2 ? nil : counters))
        }
        var ended = AccountStatus(name: "two")
        ended.state = "quarantined"
        ended.reason = text
        ended.lastExit = text
        ended.silence = text
        snapshot.accounts = [running, ended]
        return snapshot
    }
}

extension AccountSummary {
    static func sample(_ text: String) -> AccountSummary {
        var summary = AccountSummary()
        summary.npub = text
        summary.relays = 2
        summary.connectedRelays = 1
        summary.pausedBots = [text]
        summary.checks = [CheckReport(check: text, relay: text, ok: false, message: text)]
        summary.haltedGroups = [text]
        summary.storms = [text]
        summary.quarantine = [text]
        return summary
    }
}

extension AccountReport {
    static func sample(_ text: String) -> AccountReport {
        var report = AccountReport()
        report.summary = .sample(text)
        var relay = RelayReport(url: text)
        relay.state = "retrying"
        relay.reason = text
        relay.gap = .init(from: 1, to: 2, recovered: 3, unknown: 4, failedReads: 0, isRead: true)
        relay.canaryAt = 999_999
        relay.canaryFailure = text
        report.relays = [relay]
        report.keyPackage.event = text
        report.keyPackage.expiresAt = 2_000_000
        report.keyPackage.answers = [.init(relay: text, state: "refused", reason: text)]
        report.chats = [.sample(text)]
        report.chatCount = 400
        report.invitations = [InvitationReport(id: "ab12", inviter: text, group: text, members: 3)]
        var bot = BotReport(name: text)
        bot.kind = text
        bot.program = text
        bot.limits = [text]
        report.bots = [bot]
        return report
    }
}

extension ChatReport {
    static func sample(_ text: String) -> ChatReport {
        var chat = ChatReport(id: text)
        chat.name = text
        chat.divergence = text
        chat.ended = text
        chat.generation = text
        chat.lastAt = .max
        return chat
    }
}

extension ChatDetail {
    static func sample(_ text: String) -> ChatDetail {
        var detail = ChatDetail(chat: .sample(text))
        detail.description = text
        detail.relays = [text]
        detail.members = [MemberReport(npub: text, name: text, isAdmin: true, isSelf: false)]
        detail.proposals = [text]
        var moment = MomentReport(at: .min, kind: .commit)
        moment.actor = text
        moment.changes = [text]
        moment.isRollback = true
        detail.moments = [moment]
        detail.messages = [
            MessageReport(
                id: text, sender: text, at: 5, epoch: .max, kind: .min, isOwn: true, delivery: text, reason: text,
                content: text)
        ]
        detail.hasContents = true
        return detail
    }
}

/// Every page about accounts whose texts are `text`.
func pages(_ text: String, for viewer: Viewer) throws -> [Page] {
    let snapshot = ConsoleSnapshot.sample(text)
    let fates = try JSONDecoder().decode(
        EventFates.self,
        from: JSONEncoder().encode(
            FatesSample(
                query: text, lines: [text], waiting_since: [3],
                events: [.init(at: 4, id: text, fate: text, reason: text, detail: text, sentence: text, advice: text)]))
    )
    let change = ConfigurationPage.Change(path: text, old: text, new: text, effect: text)
    let validation = ConfigurationPage.Validation(
        text: "one\ntwo\nthree\n" + text, result: .problems(snapshot.reload.problems))
    return [
        OverviewPage(snapshot).page(for: viewer),
        AccountPage(snapshot, status: snapshot.accounts[0], report: .sample(text)).page(for: viewer),
        AccountPage(snapshot, status: snapshot.accounts[1], report: nil, silence: text).page(for: viewer),
        ChatPage(account: text, id: text, detail: .sample(text), now: 1_000_000).page(for: viewer),
        ChatPage(account: text, id: text, detail: nil, silence: text, now: 1_000_000).page(for: viewer),
        WhyPage(
            query: .init(event: text, account: text, minutes: text), accounts: [text],
            answers: [.init(account: text, fates: fates), .init(account: text, fates: nil, failure: text)],
            now: 1_000_000
        ).page(for: viewer),
        LogsPage(
            filter: .init(), accounts: [text], lines: [LogLine(number: 1, time: 1, account: text, text: text)]
        ).page(for: viewer),
        ConfigurationPage(snapshot, effective: text, preview: .changes([change]), validation: validation)
            .page(for: viewer),
        ConfigurationPage(snapshot, effective: text, preview: .problems(snapshot.reload.problems)).page(for: viewer),
        LoadPage(
            folder: text, reports: [.init(file: text, run: nil, failure: text)],
            probes: [.init(account: text, samples: [.init(name: text, labels: [text: text], value: .nan)])],
            now: 1_000_000
        ).page(for: viewer),
        LoginPage(token: text, problem: text, offersKeys: true).page,
        ConfirmationPage(.pause(account: text, bot: text)).page(for: viewer),
        MessagePage(title: text, text: text).page,
    ]
}

/// A worker's answer to `why`.
private struct FatesSample: Encodable {
    struct Entry: Encodable {
        var at: Int64
        var id: String
        var fate: String
        var reason: String
        var detail: String
        var sentence: String
        var advice: String
    }

    var query: String
    var lines: [String]
    var waiting_since: [Int64]
    var events: [Entry]
}
