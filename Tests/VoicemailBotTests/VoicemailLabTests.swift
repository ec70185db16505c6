import BotDispatch
import BotKit
import BotTesting
import CallMedia
import LiveTesting
import PikaCore
import Testing

@testable import VoicemailBot

/// Callers of an answering machine: signals over the lab's relay, sound over its media relay.
@Suite(.bounded) struct VoicemailLabTests {
    @Test func postsRecordingToChat() async throws {
        let stage = try await Stage()
        let alice = try await stage.call()
        try await stage.lab.advance(by: .seconds(2))
        let tone = WaveAudio.tone(hertz: 880, for: .milliseconds(400))
        #expect(alice.chunks.flatMap(\.pcm) == tone.pcm)
        let sound = Stage.sound(frames: 150)
        try await alice.say(sound, taking: .seconds(4))
        try await stage.hangUp()
        let message = try #require(try await stage.messages().last)
        #expect(message.content == "Voicemail from nostr:\(stage.alice.publicKey.npub), 3 s")
        #expect(message.media.map(\.filename) == ["voicemail.wav"])
        let file = try await stage.alice.download(of: message.id, in: stage.chat)
        let recording = try WaveAudio(file: file)
        #expect(recording.sampleRate == 48_000 && recording.channels == 1)
        #expect(recording.pcm == sound)
    }

    @Test func talkDuringGreetingIsNotRecorded() async throws {
        let files = GreetingFiles([
            "hello.wav": WaveAudio(pcm: Stage.sound(frames: 100), sampleRate: 48_000, channels: 1).file
        ])
        let stage = try await Stage(settings: ["greeting": .string("hello.wav")], services: files.services)
        let alice = try await stage.call()
        try await alice.say(Stage.sound(frames: 50), taking: .seconds(4))
        #expect(alice.chunks.count == 120)
        #expect(alice.chunks.prefix(100).flatMap(\.pcm) == Stage.sound(frames: 100))
        try await alice.say(Stage.sound(frames: 60), taking: .seconds(2))
        try await stage.hangUp()
        let message = try #require(try await stage.messages().last)
        let recording = try WaveAudio(file: try await stage.alice.download(of: message.id, in: stage.chat))
        #expect(recording.pcm == Stage.sound(frames: 60))
    }

    @Test func missingGreetingLeavesTone() async throws {
        let stage = try await Stage(
            settings: ["greeting": .string("other.wav")], services: GreetingFiles([:]).services)
        let alice = try await stage.call()
        try await stage.lab.advance(by: .seconds(2))
        #expect(alice.chunks.count == 20)
    }

    @Test func callerWhoSaysNothingIsNamed() async throws {
        let stage = try await Stage()
        _ = try await stage.call()
        try await stage.lab.advance(by: .seconds(2))
        try await stage.hangUp()
        #expect(try await stage.texts() == ["Missed call from nostr:\(stage.alice.publicKey.npub)"])
    }

    @Test func callerWhoHangsUpEarlyIsNamed() async throws {
        let stage = try await Stage()
        _ = try await stage.call()
        try await stage.hangUp()
        try await stage.lab.advance(by: .seconds(2))
        #expect(try await stage.texts() == ["Missed call from nostr:\(stage.alice.publicKey.npub)"])
    }

    @Test func machineEndsLongRecording() async throws {
        let stage = try await Stage(settings: ["longest": .string("3s")])
        let alice = try await stage.call()
        try await stage.lab.advance(by: .seconds(1))
        try await alice.say(Stage.sound(frames: 100), taking: .seconds(8))
        #expect(try await stage.alice.state().activeCall?.phase == .ended(reason: "user_hangup"))
        let message = try #require(try await stage.messages().last)
        #expect(message.content.hasPrefix("Voicemail from"))
        // The account can be called again.
        _ = try await stage.call()
    }

    @Test func transcriptFollowsCaption() async throws {
        let program = Transcriber("two words\n")
        let stage = try await Stage(
            settings: ["transcribe": .array([.string("transcribe"), .string("-")])], services: program.services)
        try await stage.leaveMessage()
        #expect(
            try await stage.texts() == ["Voicemail from nostr:\(stage.alice.publicKey.npub), 1 s\ntwo words"])
        let run = try #require(program.runs.first)
        #expect(run.command == ["transcribe", "-"])
        #expect(try WaveAudio(file: run.input).pcm == Stage.sound(frames: 60))
    }

    @Test func failedTranscriptionKeepsRecording() async throws {
        let stage = try await Stage(
            settings: ["transcribe": .array([.string("transcribe")])], services: Transcriber(nil).services)
        try await stage.leaveMessage()
        #expect(try await stage.texts() == ["Voicemail from nostr:\(stage.alice.publicKey.npub), 1 s"])
        #expect(try await stage.messages().last?.media.count == 1)
    }

    @Test func crashDuringCallIsMissedCall() async throws {
        let stage = try await Stage()
        let alice = try await stage.call()
        try await alice.say(Stage.sound(frames: 10), taking: .seconds(3))
        stage.machine.crash()
        try await stage.machine.restart()
        try await stage.lab.advance(by: .seconds(2))
        #expect(try await stage.texts() == ["Missed call from nostr:\(stage.alice.publicKey.npub)"])
        guard case .ended = try await stage.alice.state().activeCall?.phase else {
            Issue.record("the call goes on without the machine")
            return
        }
    }

    @Test func secondCallerIsTurnedAway() async throws {
        let stage = try await Stage()
        _ = try await stage.call()
        let bob = try await stage.lab.member("bob")
        let chat = try await bob.create("other", inviting: [stage.machine])
        try await bob.perform(.startCall(chatID: chat, session: Stage.session, peer: stage.machine.publicKey))
        #expect(try await bob.state().activeCall?.phase == .ended(reason: "busy"))
    }

    @Test func recordingsGoToConfiguredChat() async throws {
        let stage = try await Stage()
        let other = try await stage.alice.create("office", inviting: [stage.machine])
        try await stage.machine.reconfigure([
            LabBots.Entry(
                try VoicemailBot(settings: .object(["chat": .string(other.rawValue)])), label: "voicemail",
                policy: BotPolicy(timeout: .seconds(120)))
        ])
        try await stage.leaveMessage()
        #expect(try await stage.texts().isEmpty)
        #expect(try await stage.alice.messages(in: other).last?.media.count == 1)
    }

    @Test func problemsAreReportedTogether() {
        let wrong: BotSettings = .object([
            "longest": .string("1h"), "transcribe": .array([]), "patience": .string("soon"), "volume": .int(11),
        ])
        let error = #expect(throws: BotSettingsError.self) { try VoicemailSettings(wrong) }
        #expect(error?.problems.count == 4)
    }
}

/// A machine and a caller in one chat.
private struct Stage {
    static let session = CallSession(moqURL: "https://moq.example/anon", broadcastBase: "pika/calls", tracks: [.audio])

    let lab: GroupLab
    let machine: LabMember
    let alice: LabMember
    let chat: ChatID

    init(settings: [String: BotSettings] = [:], services: BotServices = BotServices()) async throws {
        lab = try GroupLab(seed: 1600)
        machine = try await lab.bot(
            VoicemailBot.self, name: "machine", settings: .object(settings), policy: BotPolicy(timeout: .seconds(120)),
            services: services)
        alice = try await lab.member("alice")
        chat = try await alice.create("home", inviting: [machine])
    }

    /// Distinct frames of 20 ms.
    static func sound(frames: Int) -> [UInt8] {
        (0..<frames * 1920).map { UInt8(truncatingIfNeeded: $0 / 1920 &+ $0 &* 7) }
    }

    /// The caller's side of a call that the machine has answered.
    func call() async throws -> LabCall {
        try await alice.perform(.startCall(chatID: chat, session: Self.session, peer: machine.publicKey))
        return try await alice.call()
    }

    func hangUp() async throws {
        let callID = try #require(try await alice.state().activeCall?.callID)
        try await alice.perform(.endCall(chatID: chat, callID: callID, reason: "user_hangup"))
        try await lab.settle()
    }

    /// Leaves a message of 1.2 seconds.
    func leaveMessage() async throws {
        let call = try await call()
        try await lab.advance(by: .seconds(2))
        try await call.say(Self.sound(frames: 60), taking: .seconds(2))
        try await hangUp()
    }

    func messages() async throws -> [AppState.ChatMessage] { try await alice.messages(in: chat) }
    func texts() async throws -> [String] { try await messages().map(\.content) }
}
