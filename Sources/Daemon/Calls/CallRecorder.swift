import CallMedia
import Crypto
import Foundation
import Logging
import Nostr
import PikaCore

/// Receives the media of a call: sends data as events, and writes speech to files.
struct CallRecorder: Sendable {
    /// Directory for the files; nil discards the audio.
    let directory: String?
    let logger: Logger
    /// Sends an event that has no cursor and is never replayed.
    let announce: @Sendable (DaemonEvent) async -> Void

    /// Receives until the call ends.
    func receive(_ media: CallMediaSession) async {
        let track = media.tracks.first { $0.codec.lowercased() == "opus" } ?? .audio
        var segments = SpeechSegments(rate: Int(clamping: track.sampleRate), channels: Int(clamping: track.channels))
        var count = 0
        for await event in media.received {
            switch event {
            case .data(let track, let bytes):
                await self.announce(.callData(callID: media.callID, payload: bytes, track: track))
            case .audio(let chunk):
                guard let segment = segments.append(chunk.pcm) else { continue }
                await self.record(segment, &count, media.callID, track)
            case .video: continue
            }
        }
        if let rest = segments.finish() { await self.record(rest, &count, media.callID, track) }
    }

    /// Writes a speech segment to a WAV file, and sends an event with its path.
    private func record(_ pcm: [UInt8], _ count: inout Int, _ callID: String, _ track: CallSession.Track) async {
        guard let directory = self.directory else { return }
        // The caller chooses the call id, so hash it: it must not choose a path.
        let folder = "\(directory)/calls/\(Hex.encode(Array(SHA256.hash(data: Array(callID.utf8)))).prefix(16))"
        let path = "\(folder)/chunk_\(count).wav"
        count += 1
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let audio = WaveAudio(
                pcm: pcm, sampleRate: Int(clamping: track.sampleRate), channels: Int(clamping: track.channels))
            try Data(audio.file).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            return self.logger.warning("a call's audio could not be written", metadata: ["reason": "\(error)"])
        }
        await self.announce(
            .callAudioChunk(callID: callID, path: path, sampleRate: track.sampleRate, channels: track.channels))
    }
}
