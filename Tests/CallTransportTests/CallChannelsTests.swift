import CallMedia
import CallWire
import Testing

@testable import CallTransport

@Suite struct CallChannelsTests {
    private static func track(_ name: String) -> CallTrackID {
        CallTrackAddress(path: "pika/calls/1/label", track: name).trackID
    }

    private static func open(
        _ role: CallChannels.Role, _ track: CallTrackID, in channels: inout CallChannels
    ) throws -> (number: UInt16, message: CallClientMessage) {
        let opened = channels.open(role, track)
        return try #require(opened)
    }

    @Test func distinguishesTracksByPathAndName() {
        let audio = Self.track("audio0")
        #expect(audio == Self.track("audio0"))
        #expect(audio != Self.track("video0"))
        // The parts are delimited: moving a byte between them makes another track.
        #expect(
            CallTrackAddress(path: "a", track: "bc").trackID != CallTrackAddress(path: "ab", track: "c").trackID)
    }

    @Test func opensEveryChannelAgainAfterReconnect() throws {
        var channels = CallChannels()
        let audio = Self.track("audio0")
        let first = try Self.open(.publisher, audio, in: &channels)
        let second = try Self.open(.subscriber, audio, in: &channels)
        #expect(channels.greeting == [first.message, second.message])
        let closing = channels.close(first.number)
        #expect(closing == .close(channel: first.number))
        #expect(channels.greeting == [second.message])
        let again = channels.close(first.number)
        #expect(again == nil)
    }

    @Test func confirmsAChannelOnce() throws {
        var channels = CallChannels()
        let (number, _) = try Self.open(.publisher, Self.track("audio0"), in: &channels)
        let effects = [channels.receive(.ready(channel: number)), channels.receive(.ready(channel: number))]
        #expect(effects == [.opened(number), nil])
        #expect(channels.isPublisher(number))
    }

    @Test func passesFramesToSubscribersOnly() throws {
        var channels = CallChannels()
        let publisher = try Self.open(.publisher, Self.track("a"), in: &channels).number
        let subscriber = try Self.open(.subscriber, Self.track("b"), in: &channels).number
        let group = CallGroup(sequence: 3, payload: [1])
        let effects = [publisher, subscriber, 999].map { channels.receive(.group(channel: $0, group)) }
        #expect(effects == [nil, .received(subscriber, CallMediaGroup(sequence: 3, payload: [1])), nil])
    }

    @Test func endsChannelsThatTheRelayCloses() throws {
        var channels = CallChannels()
        let publisher = try Self.open(.publisher, Self.track("a"), in: &channels).number
        let subscriber = try Self.open(.subscriber, Self.track("b"), in: &channels).number
        let ended = channels.receive(.ended(channel: subscriber))
        #expect(ended == .ended(subscriber))
        let replaced = channels.receive(.ended(channel: publisher))
        #expect(replaced == .failed(publisher, reason: "another connection publishes the call's track"))
        #expect(channels.greeting.isEmpty)
    }

    @Test func keepsAChannelThatIsInUse() throws {
        var channels = CallChannels()
        let number = try Self.open(.subscriber, Self.track("a"), in: &channels).number
        let repeated = channels.receive(.refused(channel: number, .channelInUse))
        #expect(repeated == nil && channels.greeting.count == 1)
        let refused = channels.receive(.refused(channel: number, .tooManyTracks))
        #expect(refused == .failed(number, reason: "the call relay has refused: too many calls"))
    }

    @Test func boundsTheNumberOfChannels() {
        var channels = CallChannels()
        for _ in 0..<CallChannels.maximum {
            let opened = channels.open(.subscriber, Self.track("a"))
            #expect(opened != nil)
        }
        let refused = channels.open(.subscriber, Self.track("a"))
        #expect(refused == nil)
    }
}
