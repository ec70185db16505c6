import CallMedia
import LiveTesting
import Testing

/// The in-process media relay. On the main actor, so that a subscriber runs only while its test waits.
@Suite(.bounded) @MainActor struct CallLoopbackTests {
    private static let url = "https://moq.example/anon"

    @Test func subscriberSeesEndOfShortBroadcast() async throws {
        let loopback = CallLoopback()
        let address = CallTrackAddress(path: "pika/calls/1/a", track: "audio0")
        let subscriber = try await loopback.connect(to: Self.url)
        let publisher = try await loopback.connect(to: Self.url)
        let reading = Task {
            var groups: [CallMediaGroup] = []
            for try await group in try await subscriber.subscribe(address) { groups.append(group) }
            return groups
        }
        // The subscriber waits for the announcement, and resumes only after the broadcast has ended.
        await Task.yield()
        let group = CallMediaGroup(sequence: 0, payload: [1])
        let writer = try await publisher.publish(address)
        try await writer.write(group)
        await publisher.close()
        let groups = try await reading.value
        #expect(groups == [group])
    }

    @Test func cancellationEndsSubscription() async throws {
        let loopback = CallLoopback()
        let address = CallTrackAddress(path: "pika/calls/1/b", track: "audio0")
        let subscriber = try await loopback.connect(to: Self.url)
        let subscribing = Task { _ = try await subscriber.subscribe(address) }
        await Task.yield()
        subscribing.cancel()
        await #expect(throws: CancellationError.self) { try await subscribing.value }
    }
}
