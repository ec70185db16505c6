import BotDispatch
import BotKit
import Nostr
import Synchronization
import Testing

@testable import BotRuntime
@testable import PikaCore

/// Collects the written lines in order.
private final class Written: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

struct WorkerLinesTests {
    private func lines(showsContent: Bool = false, _ body: (WorkerLines) -> Void) -> [String] {
        let written = Written()
        body(WorkerLines(showsContent: showsContent, write: written.add))
        return written.all
    }

    @Test func supervisorParsesStatusLines() {
        let account = String(repeating: "a", count: 64)
        #expect(
            lines {
                $0.starting()
                $0.ready(key("a"))
                $0.draining()
            } == [
                #"{"status":"starting"}"#, #"{"pubkey":"\#(account)","status":"ready"}"#, #"{"status":"draining"}"#,
            ])
    }

    @Test func eventLinesShortenIDs() {
        let join = JoinEvent(inviter: key("b"), name: "lab", epoch: 2, memberCount: 3)
        #expect(
            lines {
                $0.observe(.received(coreEvent(1, chat: "0123456789", .joined(join))))
                $0.observe(.received(arrived("secret", 0xAB)))
                $0.observe(.received(coreEvent(2, .commit(commitEvent()))))
                $0.observe(.received(coreEvent(3, .call(callEvent(callInvite)))))
                $0.observe(.received(proposal(6)))
                $0.observe(.received(withdrawal(4)))
                $0.observe(.received(withdrawal(5, isRestored: true)))
            } == [
                #"{"chat":"01234567","epoch":2,"event":"joined","from":"bbbbbbbb"}"#,
                #"{"chat":"c1","epoch":3,"event":"message","from":"bbbbbbbb","id":"00000000","kind":9}"#,
                #"{"chat":"c1","epoch":4,"epochBefore":3,"event":"commit","from":"bbbbbbbb","id":"00000000"}"#,
                #"{"chat":"c1","epoch":3,"event":"call","from":"bbbbbbbb","id":"00000000","type":"call.invite"}"#,
                #"{"chat":"c1","epoch":3,"event":"proposal","from":"bbbbbbbb","id":"00000000","type":"departure"}"#,
                #"{"chat":"c1","epoch":3,"event":"withdrawn","from":"bbbbbbbb","id":"00000000","kind":9}"#,
                #"{"chat":"c1","epoch":3,"event":"restored","from":"bbbbbbbb","id":"00000000","kind":9}"#,
            ])
    }

    @Test func showsContentOnlyIfEnabled() {
        let answers = [
            HandlerEffect(id: "0", operation: .send(chatID: "c1", OutgoingMessage(content: "echo: \"a\"/b"))),
            HandlerEffect(id: "1", operation: .putValue(scope: "echo", key: "k", value: [1])),
            HandlerEffect(id: "2", operation: .dispatch(.rejectCall(chatID: "c1", callID: "x", reason: "declined"))),
        ]
        let observation = BotDispatcher.Observation.answered(.event(arrived("", 1)), bot: "echo", answers)
        #expect(
            lines { $0.observe(observation) } == [
                #"{"bot":"echo","chat":"c1","event":"answer","id":"00000000","kind":9}"#,
                #"{"bot":"echo","chat":"c1","event":"call_answer","id":"00000000","type":"call.reject"}"#,
            ])
        #expect(
            lines(showsContent: true) { $0.observe(observation) } == [
                #"{"bot":"echo","chat":"c1","content":"echo: \"a\"/b","event":"answer","id":"00000000","kind":9}"#,
                #"{"bot":"echo","chat":"c1","content":"declined","event":"call_answer","id":"00000000","type":"call.reject"}"#,
            ])
        let long = lines(showsContent: true) { $0.observe(.received(arrived(String(repeating: "é\n", count: 200)))) }
        #expect(long.first?.contains(#""content":"\#(String(repeating: #"é\n"#, count: 100))…""#) == true)
    }
}
