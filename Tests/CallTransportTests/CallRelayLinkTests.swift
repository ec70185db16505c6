import BotTesting
import CallMedia
import CallWire
import PikaCore
import Testing

@testable import CallTransport

/// What a connection to a call relay does while its socket comes and goes.
@Suite struct CallRelayLinkTests {
    private let clock = ManualClock()
    private let track = CallTrackAddress(path: "pika/calls/1/label", track: "audio0").trackID

    @Test func firstFailureEndsAttempt() throws {
        let link = CallRelayLink(clock: clock)
        link.owner.changed(.connecting)
        try link.check()
        link.owner.changed(.retrying(attempt: 1, reason: "connection refused"))
        let error = #expect(throws: AppCoreError.self) { try link.check() }
        #expect(error?.message == "the call relay cannot be reached: connection refused")
    }

    @Test func silentRelayFailsAfterPatience() throws {
        let link = CallRelayLink(clock: clock)
        link.owner.changed(.connecting)
        clock.advance(by: .milliseconds(29_999))
        try link.check()
        clock.advance(by: .milliseconds(1))
        #expect(throws: AppCoreError.self) { try link.check() }
    }

    @Test func lostConnectionHasPatience() throws {
        let link = CallRelayLink(clock: clock)
        link.owner.changed(.connected)
        clock.advance(by: .seconds(600))
        link.owner.changed(.retrying(attempt: 1, reason: "reset"))
        clock.advance(by: .seconds(20))
        link.owner.changed(.retrying(attempt: 2, reason: "refused"))
        try link.check()
        clock.advance(by: .seconds(10))
        #expect(throws: AppCoreError.self) { try link.check() }
        // A connection that came back starts anew.
        link.owner.changed(.connected)
        try link.check()
        link.owner.changed(.retrying(attempt: 1, reason: "reset"))
        clock.advance(by: .seconds(29))
        try link.check()
    }

    @Test func framesAreDroppedWithoutConnection() async throws {
        let link = CallRelayLink(clock: clock)
        #expect(link.owner.greeting().isEmpty)
        async let opening = link.open(.publisher, track)
        var controls = link.controls.makeAsyncIterator()
        let sent = await controls.next()
        #expect(sent == .publish(channel: 1, track))
        link.owner.receive(.ready(channel: 1))
        let channel = try await opening
        #expect(try link.canWrite(channel))
        link.owner.changed(.retrying(attempt: 1, reason: "reset"))
        #expect(try !link.canWrite(channel))
        #expect(link.owner.greeting() == [.publish(channel: 1, track)])
        #expect(try link.canWrite(channel))
    }

    @Test func refusalFailsChannel() async throws {
        let link = CallRelayLink(clock: clock)
        _ = link.owner.greeting()
        async let opening = link.open(.publisher, track)
        var controls = link.controls.makeAsyncIterator()
        _ = await controls.next()
        link.owner.receive(.refused(channel: 1, .tooManyTracks))
        do {
            _ = try await opening
            Issue.record("a refused channel has opened")
        } catch let error as AppCoreError { #expect(error.code == .callMediaFailed) }
        #expect(throws: AppCoreError.self) { try link.canWrite(1) }
    }

    @Test func subscriberGetsFramesUntilEnd() async throws {
        let link = CallRelayLink(clock: clock)
        _ = link.owner.greeting()
        let (groups, continuation) = CallRelayLink.Groups.makeStream()
        async let opening = link.open(.subscriber, track, groups: continuation)
        var controls = link.controls.makeAsyncIterator()
        let sent = await controls.next()
        #expect(sent == .subscribe(channel: 1, track))
        link.owner.receive(.ready(channel: 1))
        _ = try await opening
        link.owner.receive(.group(channel: 1, CallGroup(sequence: 7, payload: [1, 2])))
        link.owner.receive(.group(channel: 2, CallGroup(sequence: 8, payload: [3])))
        link.owner.receive(.ended(channel: 1))
        var received: [CallMediaGroup] = []
        for try await group in groups { received.append(group) }
        #expect(received == [CallMediaGroup(sequence: 7, payload: [1, 2])])
    }

    @Test func closedLinkRefusesChannels() async {
        let link = CallRelayLink(clock: clock)
        link.close()
        await #expect(throws: AppCoreError.self) { _ = try await link.open(.publisher, track) }
    }
}
