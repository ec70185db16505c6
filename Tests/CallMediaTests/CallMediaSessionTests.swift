import BotTesting
import CallMedia
import LiveTesting
import Testing

/// Calls between two accounts: signals over the lab's relay, sound and data over its media relay.
@Suite(.bounded) struct CallMediaSessionTests {
    private static let frameBytes = 1920

    /// Sound with distinct frames, and a rest that fills half a frame if requested.
    private static func sound(frames: Int, rest: Int = 0) -> [UInt8] {
        (0..<frames * self.frameBytes + rest).map { UInt8(truncatingIfNeeded: $0 / self.frameBytes &+ $0 &* 7) }
    }

    private static func frame(_ sequence: UInt64, of sound: [UInt8]) -> [UInt8] {
        let start = Int(sequence) * self.frameBytes
        let bytes = Array(sound[start..<min(sound.count, start + self.frameBytes)])
        return bytes + [UInt8](repeating: 0, count: self.frameBytes - bytes.count)
    }

    struct Pair {
        let lab: GroupLab
        let alice: LabMember
        let bob: LabMember
        let chat: ChatID
        let callID: String

        func hangUp(_ member: LabMember) async throws {
            try await member.perform(.endCall(chatID: self.chat, callID: self.callID, reason: "user_hangup"))
        }
    }

    /// Alice has called Bob, who has accepted.
    static func talking(seed: UInt64, tracks: [CallSession.Track] = [.audio]) async throws -> Pair {
        let lab = try GroupLab(seed: seed)
        let alice = try await lab.member("alice")
        let bob = try await lab.member("bob")
        let chat = try await alice.create("friends", inviting: [bob])
        let session = CallSession(moqURL: "https://moq.example/anon", broadcastBase: "pika/calls", tracks: tracks)
        try await alice.perform(.startCall(chatID: chat, session: session))
        let callID = try #require(bob.calls.first?.signal.callID)
        try await bob.perform(.acceptCall(chatID: chat, callID: callID))
        #expect(try await alice.state().activeCall?.phase == .active)
        #expect(try await bob.state().activeCall?.phase == .active)
        return Pair(lab: lab, alice: alice, bob: bob, chat: chat, callID: callID)
    }

    @Test func deliversAudioBothWays() async throws {
        let pair = try await Self.talking(seed: 100)
        let alice = try await pair.alice.call()
        let bob = try await pair.bob.call()
        let sound = Self.sound(frames: 50, rest: 100)
        try await alice.say(sound, taking: .seconds(2))
        #expect(bob.chunks.map(\.sequence) == Array(0...50))
        #expect(bob.chunks.allSatisfy { !$0.isConcealed && $0.pcm == Self.frame($0.sequence, of: sound) })
        #expect(alice.chunks.isEmpty)
        // Both speak at the same time.
        try await bob.say(Self.sound(frames: 5), taking: .seconds(1))
        #expect(alice.chunks.map(\.sequence) == Array(0..<5))
        let statistics = alice.media.statistics
        #expect(statistics.sent == 51 && statistics.received == 5)
        #expect(statistics.dropped + statistics.late + statistics.lost + statistics.jitterDepth == 0)
        #expect(try await pair.alice.state().activeCall?.statistics == statistics)
        // The relay sees only header, ciphertext and tag.
        let written = try #require(pair.lab.calls.written[.init(path: alice.media.publishPath, track: "audio0")])
        #expect(written.map(\.sequence) == Array(0...50))
        #expect(written.allSatisfy { $0.payload.count == 35 + Self.frameBytes + 16 })
        #expect(Set(written.map { Array($0.payload.dropFirst(35).prefix(16)) }).count == 51)
        #expect(alice.media.publishPath == bob.media.subscribePath)
        #expect(alice.media.publishPath == "pika/calls/\(pair.callID)/\(alice.media.ownLabel)")
    }

    @Test func sendsAudioAtItsPace() async throws {
        let pair = try await Self.talking(seed: 101)
        let alice = try await pair.alice.call()
        let bob = try await pair.bob.call()
        let sending = Task { try await alice.media.sendAudio(Self.sound(frames: 100)) }
        _ = try await sending.value
        try await pair.lab.advance(by: .milliseconds(500))
        #expect((24...26).contains(alice.media.statistics.sent))
        // Three frames are buffered before the first is played.
        #expect((20...26).contains(bob.chunks.count))
        try await pair.lab.advance(by: .seconds(2))
        #expect(alice.media.statistics.sent == 100)
        #expect(bob.chunks.count == 100)
    }

    @Test func mutedMemberSendsNoAudio() async throws {
        let pair = try await Self.talking(seed: 102)
        let alice = try await pair.alice.call()
        let bob = try await pair.bob.call()
        try await alice.say(Self.sound(frames: 5), taking: .milliseconds(500))
        try await pair.alice.perform(.toggleMute)
        #expect(try await pair.alice.state().activeCall?.isMuted == true)
        try await alice.say(Self.sound(frames: 20), taking: .seconds(1))
        #expect(bob.chunks.count == 5)
        try await pair.alice.perform(.toggleMute)
        try await alice.say(Self.sound(frames: 5), taking: .milliseconds(500))
        // The muted frames have no numbers: nothing is missing.
        #expect(bob.chunks.map(\.sequence) == Array(0..<10))
        #expect(bob.media.statistics.lost == 0)
    }

    /// Loss, repetition and reordering together; the seed makes them reproducible.
    @Test func concealsOnlyLostFrames() async throws {
        let pair = try await Self.talking(seed: 103)
        pair.lab.calls.setFaults(.init(loss: 0.1, duplication: 0.1, delay: 0.2, disorder: 2))
        let alice = try await pair.alice.call()
        let bob = try await pair.bob.call()
        let sound = Self.sound(frames: 500)
        try await alice.say(sound, taking: .seconds(12))
        let chunks = bob.chunks
        #expect(
            zip(chunks, chunks.dropFirst()).allSatisfy { $0.sequence < $1.sequence }, "each must arrive once, in order")
        for chunk in chunks {
            let expected =
                chunk.isConcealed
                ? [UInt8](repeating: 0, count: Self.frameBytes) : Self.frame(chunk.sequence, of: sound)
            #expect(chunk.pcm == expected)
        }
        let received = chunks.count { !$0.isConcealed }
        let statistics = bob.media.statistics
        #expect(statistics.received == received + statistics.late)
        #expect(statistics.lost == chunks.count { $0.isConcealed })
        #expect((400...480).contains(received), "about a tenth must be lost")
        #expect((20...100).contains(statistics.dropped), "about a tenth must arrive twice")
        #expect(alice.media.statistics.sent == 500)
    }

    @Test func dropsFramesReplacedByRelay() async throws {
        let pair = try await Self.talking(seed: 104)
        let alice = try await pair.alice.call()
        let bob = try await pair.bob.call()
        pair.lab.calls.replaceEverything(with: [UInt8](repeating: 1, count: 2000))
        try await alice.say(Self.sound(frames: 10), taking: .seconds(1))
        #expect(bob.chunks.isEmpty)
        #expect(bob.media.statistics.dropped == 10)
        pair.lab.calls.replaceEverything(with: nil)
        try await alice.say(Self.sound(frames: 10), taking: .seconds(1))
        #expect(bob.chunks.map(\.sequence) == Array(10..<20))
        // A recorded frame is replayed.
        let written = try #require(pair.lab.calls.written[.init(path: alice.media.publishPath, track: "audio0")])
        pair.lab.calls.replaceEverything(with: written[12].payload)
        try await alice.say(Self.sound(frames: 3), taking: .seconds(1))
        #expect(bob.chunks.count == 10)
        #expect(bob.media.statistics.dropped == 13)
    }

    @Test func deliversDataBothWays() async throws {
        let pair = try await Self.talking(seed: 105, tracks: [.data])
        let alice = try await pair.alice.call()
        let bob = try await pair.bob.call()
        try alice.media.sendData(Array("ls\n".utf8))
        try alice.media.sendData([], track: "pty0")
        try bob.media.sendData([UInt8](repeating: 7, count: 1 << 20))
        try await pair.lab.settle()
        #expect(bob.data == [Array("ls\n".utf8), []])
        #expect(alice.data == [[UInt8](repeating: 7, count: 1 << 20)])
        // Data frames are encrypted with the keys of audio, and counted like audio frames.
        #expect(alice.media.statistics.sent == 2 && alice.media.statistics.received == 1)
        let tooLong = #expect(throws: AppCoreError.self) {
            try alice.media.sendData([UInt8](repeating: 0, count: 1 << 20 + 1))
        }
        #expect(tooLong?.code == .notAllowed)
        await #expect(throws: AppCoreError.self) { try await alice.media.sendAudio([0, 0]) }
        #expect(#expect(throws: AppCoreError.self) { try alice.media.sendVideo([0]) }?.code == .notAllowed)
    }

    @Test func boundsQueuedData() async throws {
        let pair = try await Self.talking(seed: 106, tracks: [.data])
        let alice = try await pair.alice.call()
        // The sender holds one more, waiting for the lab.
        for _ in 0..<257 { try alice.media.sendData([1]) }
        #expect(#expect(throws: AppCoreError.self) { try alice.media.sendData([1]) }?.code == .busy)
        try await pair.lab.settle()
        try alice.media.sendData([1])
    }

    @Test func videoStopsWithCamera() async throws {
        let pair = try await Self.talking(seed: 107, tracks: [.audio, .video])
        let alice = try await pair.alice.call()
        let bob = try await pair.bob.call()
        for number in 0..<62 { try alice.media.sendVideo([UInt8(number)]) }
        try await pair.lab.settle()
        try await pair.alice.perform(.toggleCamera)
        try alice.media.sendVideo([99])
        try await pair.lab.settle()
        let expected = (0..<62).map { CallMediaEvent.video([UInt8($0)], isKeyframe: $0 % 60 == 0) }
        #expect(bob.events == expected)
        #expect(try await pair.alice.state().activeCall?.isCameraOn == false)
        #expect(try await pair.alice.state().activeCall?.isVideo == true)
    }

    @Test func hangUpEndsMediaOfBoth() async throws {
        let pair = try await Self.talking(seed: 108)
        let alice = try await pair.alice.call()
        let bob = try await pair.bob.call()
        try await alice.say(Self.sound(frames: 5), taking: .seconds(3))
        try await pair.hangUp(pair.bob)
        for member in [pair.alice, pair.bob] {
            let state = try await member.state()
            #expect(state.activeCall?.phase == .ended(reason: "user_hangup"))
            #expect(
                state.callTimeline.map(\.event) == [
                    .invited(byUs: member === pair.alice), .connected, .ended(reason: "user_hangup", seconds: 3),
                ])
            #expect(state.activeCall?.statistics.sent == (member === pair.alice ? 5 : 0))
            #expect(member.core.callMedia(callID: pair.callID) == nil)
        }
        for call in [alice, bob] {
            #expect(
                #expect(throws: AppCoreError.self) { try call.media.sendData([1], track: "x") }?.code == .unknownCall)
            await #expect(throws: AppCoreError.self) { try await call.media.sendAudio([0, 0]) }
        }
        // The next call uses other keys and paths.
        let session = CallSession(moqURL: "https://moq.example/anon", broadcastBase: "pika/calls", tracks: [.audio])
        try await pair.bob.perform(.startCall(chatID: pair.chat, session: session))
        let callID = try #require(try await pair.alice.state().activeCall?.callID)
        try await pair.alice.perform(.acceptCall(chatID: pair.chat, callID: callID))
        let again = try await pair.alice.call()
        #expect(again.media.publishPath != alice.media.publishPath)
        let callee = try await pair.bob.call()
        try await again.say(Self.sound(frames: 5), taking: .seconds(1))
        #expect(callee.chunks.count == 5)
    }

    @Test func relayFailureEndsCall() async throws {
        let pair = try await Self.talking(seed: 109)
        let alice = try await pair.alice.call()
        pair.lab.calls.setDown(true)
        try await alice.say(Self.sound(frames: 1), taking: .seconds(1))
        for member in [pair.alice, pair.bob] {
            #expect(try await member.state().activeCall?.phase == .ended(reason: "runtime_error"))
        }
        // An unreachable one prevents the call.
        let session = CallSession(moqURL: "https://moq.example/anon", broadcastBase: "pika/calls", tracks: [.audio])
        try await pair.alice.perform(.startCall(chatID: pair.chat, session: session))
        let callID = try #require(try await pair.bob.state().activeCall?.callID)
        try await pair.bob.perform(.acceptCall(chatID: pair.chat, callID: callID))
        for member in [pair.alice, pair.bob] {
            #expect(try await member.state().activeCall?.phase == .ended(reason: "runtime_error"))
            #expect(try await member.state().toast != nil)
        }
    }
}
