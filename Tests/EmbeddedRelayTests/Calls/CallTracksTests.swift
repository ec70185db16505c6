import CallWire
import Testing

@testable import EmbeddedRelay

@Suite struct CallTracksTests {
    private typealias Member = CallTracks.Member
    private typealias Notice = CallTracks.Notice

    private static let alice = Member(connection: 1, channel: 1)
    private static let bob = Member(connection: 2, channel: 1)
    private static let carol = Member(connection: 3, channel: 1)

    private static func track(_ byte: UInt8 = 1) throws -> CallTrackID {
        try #require(CallTrackID([UInt8](repeating: byte, count: CallTrackID.length)))
    }

    @Test func tellsWaitingSubscribersOfThePublisher() throws {
        var tracks = CallTracks(CallLimits())
        let waiting = tracks.open(Self.bob, .subscriber, of: try Self.track())
        #expect(waiting.isEmpty)
        let published = tracks.open(Self.alice, .publisher, of: try Self.track())
        #expect(published == [Notice(member: Self.alice, content: .ready), Notice(member: Self.bob, content: .ready)])
        let late = tracks.open(Self.carol, .subscriber, of: try Self.track())
        #expect(late == [Notice(member: Self.carol, content: .ready)])
    }

    @Test func forwardsOnlyFramesOfThePublisher() throws {
        var tracks = CallTracks(CallLimits())
        _ = tracks.open(Self.alice, .publisher, of: try Self.track())
        _ = tracks.open(Self.bob, .subscriber, of: try Self.track())
        _ = tracks.open(Self.carol, .subscriber, of: try Self.track(2))
        #expect(tracks.subscribers(of: Self.alice) == [Self.bob])
        #expect(tracks.subscribers(of: Self.bob).isEmpty)
        #expect(tracks.subscribers(of: Member(connection: 1, channel: 2)).isEmpty)
    }

    @Test func endsTracksWhosePublisherLeaves() throws {
        var tracks = CallTracks(CallLimits())
        _ = tracks.open(Self.alice, .publisher, of: try Self.track())
        _ = tracks.open(Self.bob, .subscriber, of: try Self.track())
        let notices = tracks.leave(Self.alice.connection)
        #expect(notices == [Notice(member: Self.bob, content: .ended)])
        #expect(tracks.count == 0)
        #expect(!tracks.hasChannels(Self.alice.connection) && !tracks.hasChannels(Self.bob.connection))
    }

    @Test func replacesThePublisherByTheNewest() throws {
        var tracks = CallTracks(CallLimits())
        _ = tracks.open(Self.alice, .publisher, of: try Self.track())
        _ = tracks.open(Self.bob, .subscriber, of: try Self.track())
        let notices = tracks.open(Self.carol, .publisher, of: try Self.track())
        #expect(
            notices == [Notice(member: Self.carol, content: .ready), Notice(member: Self.alice, content: .ended)])
        #expect(tracks.subscribers(of: Self.carol) == [Self.bob])
        #expect(tracks.subscribers(of: Self.alice).isEmpty)
        // The old connection is gone from the track: its end changes nothing.
        let late = tracks.leave(Self.alice.connection)
        #expect(late.isEmpty && tracks.count == 1)
    }

    @Test func refusesWhatExceedsALimit() throws {
        var limits = CallLimits()
        limits.channelsPerConnection = 2
        limits.subscribersPerTrack = 1
        limits.tracks = 2
        var tracks = CallTracks(limits)
        func refused(_ member: Member, _ reason: CallRelayMessage.Refusal) -> [Notice] {
            [Notice(member: member, content: .refused(reason))]
        }
        _ = tracks.open(Self.alice, .subscriber, of: try Self.track())
        let again = tracks.open(Self.alice, .subscriber, of: try Self.track(2))
        #expect(again == refused(Self.alice, .channelInUse))
        let crowded = tracks.open(Self.bob, .subscriber, of: try Self.track())
        #expect(crowded == refused(Self.bob, .tooManySubscribers))
        _ = tracks.open(Member(connection: 1, channel: 2), .publisher, of: try Self.track(2))
        let third = Member(connection: 1, channel: 3)
        let channels = tracks.open(third, .publisher, of: try Self.track(2))
        #expect(channels == refused(third, .tooManyChannels))
        let many = tracks.open(Self.carol, .publisher, of: try Self.track(3))
        #expect(many == refused(Self.carol, .tooManyTracks))
        #expect(tracks.count == 2)
    }

    @Test func forgetsTracksWithoutChannels() throws {
        var tracks = CallTracks(CallLimits())
        _ = tracks.open(Self.bob, .subscriber, of: try Self.track())
        #expect(tracks.count == 1)
        let closed = tracks.close(Self.bob)
        let again = tracks.close(Self.bob)
        #expect(closed.isEmpty && again.isEmpty && tracks.count == 0)
    }
}
