import ConsolePages
import Synchronization
import Testing

@testable import ConsoleServer

struct LiveStreamTests {
    private let stage = Stage()

    private func logIn() -> ConsoleAccess.Visit? {
        guard case .admitted(let visit, _) = stage.access.redeem(stage.access.invite("ann", .view), from: "") else {
            return nil
        }
        return visit
    }

    private func stream(_ page: String, rev: UInt64, _ visit: ConsoleAccess.Visit) throws -> LiveStream {
        LiveStream(responder: stage.responder, target: try ConsoleTarget(page), visit: visit, rev: rev)
    }

    /// The events that a stream writes for a number of wakes.
    private func events(_ stream: LiveStream, wakes: Int = 1) async throws -> [String] {
        let (wake, feeder) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<wakes { feeder.yield() }
        feeder.finish()
        let written = Mutex<[String]>([])
        try await stream.serve(wake) { @concurrent text in written.withLock { $0.append(text) } }
        return written.withLock { $0 }
    }

    @Test
    func writesOnlyNewerStates() async throws {
        let visit = try #require(logIn())
        #expect(try await events(stream("/", rev: 1, visit)) == [ServerSentEvent.retry])
        stage.backend.change { $0.accounts[0].state = "ready" }
        let written = try await events(stream("/", rev: 1, visit), wakes: 2)
        #expect(written.count == 2 && written[1].hasPrefix("id: 2\nevent: update\n"))
    }

    @Test
    func writesNewLogLines() async throws {
        let visit = try #require(logIn())
        let written = try await events(stream("/logs", rev: 3, visit))
        #expect(written.count == 2)
        #expect(written.last?.contains("line 4") == true && written.last?.contains("line 3") == false)
    }

    @Test
    func endsWithTheSession() async throws {
        let visit = try #require(logIn())
        stage.pass(13 * 3_600)
        #expect(try await events(stream("/", rev: 0, visit)).last == ServerSentEvent.end)
    }

    @Test
    func boundsStreamsOfSession() async throws {
        let visit = try #require(logIn())
        for _ in 0..<StreamSlots.ofSession { #expect(stage.access.openStream(visit)) }
        #expect(try await events(stream("/", rev: 0, visit)) == [ServerSentEvent.full])
        stage.access.closeStream(visit)
        #expect(try await events(stream("/", rev: 0, visit)).first == ServerSentEvent.retry)
    }

    @Test
    func sendsChangedPartsOnly() {
        var updates = LiveUpdates(after: 4)
        var snapshot = ConsoleSnapshot()
        func page(_ one: String, _ rev: UInt64) -> RenderedPage {
            snapshot.rev = rev
            let parts = [
                Page.Part("one", "<p>\(one)</p>"), Page.Part("two", "same"), Page.Part("form", "x", isFixed: true),
            ]
            return RenderedPage(Page(title: "t", section: nil, path: .overview, parts: parts), snapshot)
        }
        #expect(updates.update(to: page("a", 4)) == nil)
        #expect(updates.update(to: page("a", 5))?.parts.keys.sorted() == ["one", "two"])
        #expect(updates.update(to: page("b", 5)) == nil)
        #expect(updates.update(to: page("b", 6))?.parts.keys.sorted() == ["one"])
        #expect(updates.update(to: page("b", 7)) == nil)
        #expect(updates.rev == 7)
    }
}
