import BotTesting
import CallMedia
import Foundation
import Nostr
import PikaCore
import Testing

@testable import Daemon

@Suite struct CallCommandTests {
    private struct Scene {
        let daemon: DaemonLab
        let bob: LabMember
        let chat: ChatID

        var lab: GroupLab { self.daemon.lab }
    }

    private static func scene(_ seed: UInt64, allowed: Bool = true, files: String? = nil) async throws -> Scene {
        let daemon = try await DaemonLab.make(seed: seed, mediaDirectory: files)
        let bob = try await daemon.lab.member("bob")
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
        return Scene(daemon: daemon, bob: bob, chat: try #require(made["nostr_group_id"]?.chatID))
    }

    private static let session = CallSession(
        moqURL: "https://moq.example", broadcastBase: "pika/calls", tracks: [.audio])

    /// Places a call from Bob; returns its id.
    private static func ring(_ scene: Scene) async throws -> JSONValue {
        try await scene.bob.perform(.startCall(chatID: scene.chat, session: self.session))
        let received = try #require(scene.daemon.events("call_invite_received").last)
        #expect(received["from_pubkey"]?.string == scene.bob.publicKey.hex)
        #expect(received["nostr_group_id"]?.chatID == scene.chat)
        return try #require(received["call_id"])
    }

    @Test func acceptsHearsAndEndsACall() async throws {
        let files = NSTemporaryDirectory() + "daemon-calls-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: files) }
        let scene = try await Self.scene(1, files: files)
        let call = try await Self.ring(scene)
        let first = scene.daemon.lines.count
        #expect(try await scene.daemon.failure("accept_call", ["call_id": "other"]) == "not_found")
        #expect(
            try await scene.daemon.result("accept_call", ["call_id": call])
                == ["call_id": call, "nostr_group_id": .string(scene.chat.rawValue)])
        #expect(scene.daemon.types(from: first + 1) == ["ok", "call_session_started"])
        try await scene.lab.advance(by: .seconds(1))
        #expect(try await scene.daemon.failure("accept_call", ["call_id": call]) == "busy")
        #expect(
            try await scene.daemon.failure("send_call_data", ["call_id": call, "payload_hex": "00"]) == "bad_request")

        // One second of loud audio, then silence: one speech segment.
        let loud = [UInt8]([0x00, 0x20]).repeated(48_000)
        let line = try await scene.bob.call()
        try await line.say(loud + [UInt8](repeating: 0, count: 96_000), taking: .seconds(4))
        let chunk = try #require(scene.daemon.events("call_audio_chunk").first)
        let path = try #require(chunk["audio_path"]?.string)
        let wav = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(path.hasPrefix(files) && wav.starts(with: Array("RIFF".utf8)) && wav.count > 96_000)
        #expect(chunk["sample_rate"] == 48_000 && chunk["channels"] == 1)

        // Half a second at half the rate, which Bob hears as half a second.
        let source = files + "/reply.pcm"
        try Data(loud.prefix(24_000)).write(to: URL(fileURLWithPath: source))
        #expect(
            try await scene.daemon.command(
                "send_audio_file", ["call_id": call, "audio_path": .string(source), "sample_rate": 24_000]) == nil)
        try await scene.lab.advance(by: .seconds(2))
        let sent = try #require(scene.daemon.lines.last { $0["result"]?["frames_published"] != nil }?["result"])
        #expect(sent["frames_published"] == 25 && sent["track"] == "audio0" && sent["call_id"] == call)
        #expect(line.chunks.filter { !$0.isConcealed }.count >= 25)
        #expect(
            try await scene.daemon.failure(
                "send_audio_file", ["call_id": call, "audio_path": "/nonexistent", "sample_rate": 8000]) == "io_error")
        try await Self.expectRefusals(scene, call, source)
        try await Self.expectOnce(scene, call, source)
        #expect(
            try await scene.daemon.failure("send_audio_response", ["call_id": call, "tts_text": " "]) == "bad_request")
        #expect(
            try await scene.daemon.failure("send_audio_response", ["call_id": call, "tts_text": "x"])
                == "runtime_error")
        #expect(!scene.daemon.events("call_debug").isEmpty)

        let end = scene.daemon.lines.count
        #expect(try await scene.daemon.failure("end_call", ["call_id": "other"]) == "not_found")
        #expect(try await scene.daemon.result("end_call", ["call_id": call]) == ["call_id": call])
        #expect(scene.daemon.types(from: end + 1).filter { $0 != "call_debug" } == ["ok", "call_session_ended"])
        #expect(scene.daemon.events("call_session_ended").last?["reason"] == "user_hangup")
        #expect(try await scene.bob.state().activeCall?.phase == .ended(reason: "user_hangup"))
    }

    /// Under an idempotency key, a file is sent once.
    private static func expectOnce(_ scene: Scene, _ call: JSONValue, _ source: String) async throws {
        _ = try await scene.daemon.result("hello", ["protocol": 2])
        let fields: JSONObject = [
            "call_id": call, "audio_path": .string(source), "sample_rate": 24_000, "idempotency_key": "sound",
        ]
        _ = try await scene.daemon.command("send_audio_file", fields)
        try await scene.lab.advance(by: .seconds(2))
        let first = try #require(scene.daemon.lines.last { $0["result"]?["frames_published"] != nil }?["result"])
        let sent = try await scene.daemon.account.state().activeCall?.statistics.sent
        #expect(try await scene.daemon.result("send_audio_file", fields) == first)
        try await scene.lab.advance(by: .seconds(2))
        #expect(try await scene.daemon.account.state().activeCall?.statistics.sent == sent)
    }

    private static func expectRefusals(_ scene: Scene, _ call: JSONValue, _ source: String) async throws {
        for (rate, channels) in [(1, 1), (7999, 1), (192_001, 1), (4_000_000_000, 1), (48_000, 0), (48_000, 9)] {
            let fields: JSONObject = [
                "call_id": call, "audio_path": .string(source), "sample_rate": .integer(Int64(rate)),
                "channels": .integer(Int64(channels)),
            ]
            #expect(try await scene.daemon.failure("send_audio_file", fields) == "bad_request", "\(rate) \(channels)")
        }
        let fields: JSONObject = ["call_id": call, "audio_path": "/dev/zero", "sample_rate": 8000]
        #expect(try await scene.daemon.failure("send_audio_file", fields) == "io_error")
    }

    @Test func rejectsACall() async throws {
        let scene = try await Self.scene(2)
        let call = try await Self.ring(scene)
        #expect(try await scene.daemon.result("reject_call", ["call_id": call]) == ["call_id": call])
        #expect(try await scene.bob.state().activeCall?.phase == .ended(reason: "declined"))
        #expect(try await scene.daemon.failure("reject_call", ["call_id": call]) == "not_found")
        #expect(scene.daemon.events("call_session_ended").isEmpty, "a call that never started must not end")
    }

    @Test func transfersDataBothWays() async throws {
        let scene = try await Self.scene(3)
        let invitation: JSONObject = [
            "nostr_group_id": .string(scene.chat.rawValue), "peer_pubkey": .string(scene.bob.publicKey.hex),
            "moq_url": "https://moq.example", "call_id": "550e8400-e29b-41d4-a716-446655440010",
        ]
        let made = try await scene.daemon.result("invite_call", invitation)
        let call = try #require(made["call_id"])
        #expect(call == invitation["call_id"] && made["nostr_group_id"]?.chatID == scene.chat)
        let session = try #require(made["session"])
        #expect(session["broadcast_base"]?.string == "pika/pty/550e8400-e29b-41d4-a716-446655440010")
        #expect(session["relay_auth"]?.string?.hasPrefix("capv1_") == true)
        #expect(
            session["tracks"]
                == [["name": "pty0", "codec": "bytes", "sample_rate": 1, "channels": 1, "frame_ms": 1]])
        #expect(try await scene.daemon.failure("invite_call", invitation) == "busy")
        try await scene.bob.perform(.acceptCall(chatID: scene.chat, callID: call.string ?? ""))
        try await scene.lab.advance(by: .seconds(1))
        #expect(
            scene.daemon.events("call_session_started")
                == [
                    [
                        "type": "call_session_started", "call_id": call, "nostr_group_id": .string(scene.chat.rawValue),
                        "from_pubkey": .string(scene.bob.publicKey.hex),
                    ]
                ])
        let line = try await scene.bob.call()
        #expect(try await scene.daemon.result("send_call_data", ["call_id": call, "payload_hex": "00FF"]) == .null)
        try line.media.sendData([1, 2, 3])
        try await scene.lab.advance(by: .seconds(1))
        #expect(line.data == [[0, 255]])
        #expect(
            scene.daemon.events("call_data")
                == [["type": "call_data", "call_id": call, "payload_hex": "010203", "track_name": "pty0"]])
        #expect(
            try await scene.daemon.failure("send_call_data", ["call_id": call, "payload_hex": "x"]) == "bad_request")
        try await scene.bob.perform(.endCall(chatID: scene.chat, callID: call.string ?? "", reason: "enough"))
        #expect(scene.daemon.events("call_session_ended").map { $0["reason"] } == ["enough"])
        #expect(
            try await scene.daemon.failure("send_call_data", ["call_id": call, "payload_hex": "00"]) == "not_found")
    }

    @Test func refusesInvalidCallInvitations() async throws {
        let scene = try await Self.scene(4)
        func code(_ changes: JSONObject) async throws -> String? {
            var fields: JSONObject = [
                "nostr_group_id": .string(scene.chat.rawValue), "peer_pubkey": .string(scene.bob.publicKey.hex),
                "moq_url": "https://moq.example",
            ]
            for change in changes.members { fields[change.name] = change.value }
            return try await scene.daemon.failure("invite_call", fields)
        }
        #expect(try await code(["peer_pubkey": "x"]) == "bad_pubkey")
        #expect(try await code(["nostr_group_id": "x"]) == "runtime_error")
        #expect(try await code(["moq_url": " "]) == "runtime_error")
        #expect(try await code(["peer_pubkey": .string(scene.daemon.account.publicKey.hex)]) == "runtime_error")
        #expect(try await scene.daemon.failure("end_call", ["call_id": "x"]) == "not_found")
    }
}

@Suite struct CallAudioTests {
    private static func converted(_ bytes: [UInt8], _ source: (Int, Int), _ target: (Int, Int)) -> [UInt8]? {
        CallAudio.converted(
            bytes, from: CallAudio.Format(rate: source.0, channels: source.1),
            to: CallAudio.Format(rate: target.0, channels: target.1))
    }

    @Test func refusesOversizedConversions() {
        let second = [UInt8](repeating: 0, count: 16_000)
        #expect(Self.converted(second, (8000, 1), (192_000, 8))?.count == 192_000 * 8 * 2)
        #expect(Self.converted(second, (1, 1), (192_000, 8)) == nil)
        #expect(Self.converted(second, (8000, 1), (1_000_000_000_000, 1)) == nil)
        #expect(Self.converted(second, (8000, 1), (.max, 1)) == nil)
        #expect(Self.converted(second, (8000, 1), (8000, 1 << 62)) == nil)
        #expect(Self.converted(second, (8000, 1), (8000, .max)) == nil)
        #expect(!CallAudio.Format(rate: 48_000, channels: 1 << 62).isSupported)
        #expect(!CallAudio.Format(rate: 1_000_000_000_000, channels: 1).isSupported)
        #expect(CallAudio.Format(rate: 48_000, channels: 2).isSupported)
    }

    @Test func mixesAndResamples() {
        let stereo: [UInt8] = [0x00, 0x01, 0x00, 0x03, 0x00, 0x02, 0x00, 0x04]
        #expect(Self.converted(stereo, (8, 2), (8, 1)) == [0, 2, 0, 3])
        #expect(Self.converted(stereo, (8, 2), (8, 2))?.count == 8)
        #expect(
            Self.converted([0, 0, 100, 0], (1, 1), (2, 1))
                == [0, 0, 50, 0, 100, 0, 100, 0])
        #expect(Self.converted([0, 0, 100], (1, 1), (1, 1)) == [0, 0])
        #expect(Self.converted([], (1, 1), (48_000, 1)) == [])
        #expect(Self.converted([1, 2], (0, 1), (1, 1)) == nil)
    }

    @Test func splitsSpeechAtPauses() {
        let loud = [UInt8]([0, 0x20]).repeated(160)
        let silent = [UInt8](repeating: 0, count: 320)
        var segments = SpeechSegments(rate: 8000, channels: 1)
        for _ in 0..<50 { #expect(segments.append(silent) == nil) }
        for _ in 0..<30 { #expect(segments.append(loud) == nil) }
        for _ in 0..<34 { #expect(segments.append(silent) == nil) }
        #expect(segments.append(silent)?.count == 65 * 320)
        // Too short for speech.
        for _ in 0..<20 { #expect(segments.append(loud) == nil) }
        for _ in 0..<35 { #expect(segments.append(silent) == nil) }
        // No pause.
        for _ in 0..<999 { #expect(segments.append(loud) == nil) }
        #expect(segments.append(loud)?.count == 1000 * 320)
        for _ in 0..<25 { #expect(segments.append(loud) == nil) }
        #expect(segments.finish()?.count == 25 * 320)
        #expect(segments.finish() == nil)
    }
}

extension [UInt8] {
    fileprivate func repeated(_ count: Int) -> [UInt8] { Array(repeatElement(self, count: count).joined()) }
}
