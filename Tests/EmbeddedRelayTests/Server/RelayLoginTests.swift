import LiveTesting
import Nostr
import Testing

@testable import EmbeddedRelay

@Suite(.live)
struct RelayLoginTests {
    private let now: UnixTime = 1_700_000_000

    @Test func requiresLogin() async throws {
        var configuration = RelayConfiguration()
        configuration.requireAuthentication = true
        try await withEmbeddedRelay(configuration: configuration, now: { now }) { _, address in
            let client = try await TestClient.connect(address)
            guard case .authentication(let challenge) = try await client.next() else { return #expect(Bool(false)) }
            #expect(challenge.count == 32)
            let event = Author.alice.event()
            #expect(try await client.publish(event) == (false, "auth-required: log in before publishing"))
            let login = try Author.alice.login(challenge, at: address, now: now)
            try await client.send(.authenticate(login))
            #expect(try await client.next() == .ok(login.id, accepted: true, message: ""))
            #expect(try await client.publish(event) == (true, ""))
            #expect(try await client.request("a", Filter()) == [event])
        }
    }

    @Test func acceptsProtectedEventsFromAuthorOnly() async throws {
        try await withEmbeddedRelay(now: { now }) { _, address in
            let client = try await TestClient.connect(address)
            let event = Author.alice.event("mine", tags: [.protected])
            try await client.send(.event(event))
            guard case .authentication(let challenge) = try await client.next() else { return #expect(Bool(false)) }
            let refusal = "auth-required: only its author may publish a protected event"
            #expect(try await client.next() == .ok(event.id, accepted: false, message: refusal))
            try await client.send(.authenticate(try Author.bob.login(challenge, at: address, now: now)))
            guard case .ok(_, true, _) = try await client.next() else { return #expect(Bool(false)) }
            #expect(
                try await client.publish(event) == (
                    false, "restricted: only its author may publish a protected event"
                ))
            try await client.send(.authenticate(try Author.alice.login(challenge, at: address, now: now)))
            guard case .ok(_, true, _) = try await client.next() else { return #expect(Bool(false)) }
            #expect(try await client.publish(event) == (true, ""))
        }
    }
}
