import Testing

@testable import FeedRules
@testable import Feeds

struct PollStateTests {
    private func changed(_ outcome: PollState.Outcome) -> (id: String, state: PollState)? {
        if case .changed(let id, let state) = outcome { (id, state) } else { nil }
    }

    private func receive(_ text: String, _ state: PollState, tag: String? = nil) -> PollState.Outcome {
        state.receive(status: 200, entityTag: tag, lastModified: nil, body: Array(text.utf8))
    }

    @Test func sendsValidators() throws {
        let first = try #require(changed(receive("a", PollState(), tag: "\"1\"")))
        #expect(PollState().conditions.isEmpty)
        #expect(first.state.conditions.map(\.name) == ["If-None-Match"])
        #expect(first.state.conditions.map(\.value) == ["\"1\""])
        let dated = first.state.receive(
            status: 200, entityTag: nil, lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", body: [1])
        #expect(changed(dated)?.state.conditions.map(\.name) == ["If-Modified-Since"])
    }

    /// Some servers send a document again, with another tag.
    @Test func comparesContentToo() throws {
        let first = try #require(changed(receive("a", PollState(), tag: "1")))
        #expect(receive("a", first.state, tag: "2") == .unchanged)
        #expect(first.state.receive(status: 304, entityTag: nil, lastModified: nil, body: []) == .unchanged)
    }

    @Test func returningVersionIsNew() throws {
        let first = try #require(changed(receive("a", PollState())))
        let second = try #require(changed(receive("b", first.state)))
        let third = try #require(changed(receive("a", second.state)))
        #expect(Set([first.id, second.id, third.id]).count == 3)
        // The same request after a crash gives the same id.
        #expect(changed(receive("a", second.state))?.id == third.id)
    }

    @Test func storedStateRoundTrips() throws {
        let state = try #require(changed(receive("a", PollState(), tag: "\"é\""))).state
        #expect(PollState(stored: state.stored) == state)
        for length in 0..<state.stored.count { #expect(PollState(stored: Array(state.stored.prefix(length))) == nil) }
        #expect(PollState(stored: Array(#"{"v":1,"digest":"a","versions":-1}"#.utf8)) == nil)
    }

    @Test(arguments: [204, 301, 404, 410, 429, 500, 0, -1])
    func otherStatusIsFailure(status: Int) {
        let outcome = PollState().receive(status: status, entityTag: nil, lastModified: nil, body: [])
        if case .failed = outcome { return }
        Issue.record("expected a failure, found \(outcome)")
    }

    @Test func ignoresLongValidators() throws {
        let long = String(repeating: "x", count: 2_000)
        #expect(try #require(changed(receive("a", PollState(), tag: long))).state.conditions.isEmpty)
    }
}
