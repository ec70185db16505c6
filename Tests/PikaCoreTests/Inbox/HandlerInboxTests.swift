import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct HandlerInboxTests {
    @Test func earlyOutcomeStaysInProgress() {
        var (inbox, step) = (HandlerInbox(cursors: [:], rows: []), CoreStep.at(0))
        _ = inbox.begin(.once("a"))
        inbox.recordEarly(.done(chatID: "c"), of: .once("a"), &step)
        #expect(step.changes.count == 1 && step.effects.isEmpty)
        guard case .inProgress = inbox.begin(.once("a")) else {
            Issue.record("expected the action to be in progress")
            return
        }
        inbox.report(.done(chatID: "c"), of: .once("a"), &step)
        #expect(step.effects == [.finish(.once("a"), .done(chatID: "c"))])
        guard case .done = inbox.begin(.once("a")) else {
            Issue.record("expected the outcome to be stored")
            return
        }
    }
}
