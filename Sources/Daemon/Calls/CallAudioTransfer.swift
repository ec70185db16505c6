import CallMedia
import Nostr
import PikaCore

/// The sending of an audio file over a call; its result is the command's delayed reply.
struct CallAudioTransfer: Sendable {
    let callID: String
    /// The file: 16-bit little-endian PCM in the format of ``source``.
    let bytes: [UInt8]
    let source: CallAudio.Format
    let target: CallAudio.Format
    /// Name of the call's audio track.
    let track: String
    let media: CallMediaSession

    func run() async -> Result<JSONObject, DaemonFailure> {
        guard let pcm = CallAudio.converted(self.bytes, from: self.source, to: self.target) else {
            return .failure(DaemonFailure(.badRequest, "the audio file is too long"))
        }
        do {
            let before = self.media.statistics.sent
            try await self.media.sendAudio(pcm)
            try await self.media.endAudio()
            let frames = self.media.statistics.sent - before
            return .success([
                "call_id": .string(self.callID), "frames_published": .integer(Int64(frames)),
                "publish_path": .string(self.media.publishPath), "subscribe_path": .string(self.media.subscribePath),
                "track": .string(self.track),
            ])
        } catch {
            return .failure(DaemonFailure(.runtimeError, "audio file publish failed: \(error)"))
        }
    }
}
