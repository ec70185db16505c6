import LiveTesting
import Testing

@testable import Nostr

struct BlossomAuthorizationTests {
    private func event(_ action: BlossomAuthorization.Action = .upload) throws -> (Event, Bytes32) {
        var generator = SplitMix64(seed: 1)
        let key = KeyPair.generate(using: &generator)
        let hash = try #require(Bytes32([UInt8](repeating: 7, count: 32)))
        let event = BlossomAuthorization.event(
            action, hashes: [hash], content: "c", by: key, now: 1000, lifetime: 60, using: &generator)
        return (event, hash)
    }

    @Test func headerRoundTrips() throws {
        let (event, hash) = try event()
        let header = BlossomAuthorization.header(event)
        let read = try BlossomAuthorization.event(header: header)
        #expect(read == event)
        try BlossomAuthorization.verify(read, for: .upload, now: 1059)
        #expect(BlossomAuthorization.allows(read, hash))
        #expect(!BlossomAuthorization.allows(read, try #require(Bytes32([UInt8](repeating: 8, count: 32)))))
        let urlSafe = header.dropFirst(6).map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }.filter { $0 != "=" }
        #expect(try BlossomAuthorization.event(header: "nostr " + String(urlSafe)) == event)
    }

    @Test func refusesWrongTimeAndAction() throws {
        let (event, _) = try event()
        for (action, now) in [
            (BlossomAuthorization.Action.upload, UnixTime(1060)), (.upload, 939), (.delete, 1000),
            (.upload, .distantFuture), (.upload, .distantPast),
        ] {
            #expect(throws: NostrError(.authenticationRejected, "")) {
                try BlossomAuthorization.verify(event, for: action, now: now)
            }
        }
    }

    @Test(arguments: [
        "", "Nostr", "Nostr a b", "Basic abcd", "Nostr e30=x", "Nostr \u{301}abc", "Nostr =", "Nostr AA==",
    ])
    func refusesOtherHeaders(header: String) {
        #expect(throws: NostrError.self) { try BlossomAuthorization.event(header: header) }
    }
}
