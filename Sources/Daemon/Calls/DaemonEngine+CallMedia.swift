import Foundation
import Logging
import Nostr
import PikaCore

/// Audio and data of calls: reads files to send, and writes received media as files and lines.
extension DaemonEngine {
    func soundCall(_ id: String) throws(DaemonFailure) -> (call: AppState.ActiveCall, track: CallSession.Track) {
        let call = try self.liveCall(id)
        guard let track = call.soundTrack else {
            throw DaemonFailure(.badRequest, "active call is not an audio call")
        }
        return (call, track)
    }

    private func media(of id: String) throws(DaemonFailure) -> CallMedia {
        guard let media = self.core.callMedia(callID: id) else {
            throw DaemonFailure(.runtimeError, "the call's media are not connected")
        }
        return media
    }

    private static let usual = "\(CallSound.Shape.rates) Hz and \(CallSound.Shape.channelCounts) channels"

    /// Sends an audio file. The reply follows once all of it has been sent; other commands run meanwhile.
    func sendAudio(_ id: String, _ path: String, rate: UInt32, channels: UInt16) throws(DaemonFailure) -> Done {
        let (_, track) = try self.soundCall(id)
        let source = CallSound.Shape(rate: Int(rate), channels: Int(channels))
        guard source.isUsual else { throw DaemonFailure(.badRequest, "sample_rate and channels must be \(Self.usual)") }
        // The peer chooses the track's sample rate and channel count.
        let target = CallSound.Shape(rate: Int(clamping: track.sampleRate), channels: Int(clamping: track.channels))
        guard target.isUsual else {
            throw DaemonFailure(.runtimeError, "the call's sample rate and channels are not \(Self.usual)")
        }
        let bytes: [UInt8]
        do { bytes = try RegularFile.read(path) } catch {
            throw DaemonFailure(.ioError, "failed to read audio file \(path): \(error)")
        }
        let media = try self.media(of: id)
        var done = Done(repliesToStandard: true)
        done.later = {
            guard let pcm = CallSound.converted(bytes, from: source, to: target) else {
                return .failure(DaemonFailure(.badRequest, "the audio file is too long"))
            }
            do {
                let before = media.statistics.sent
                try await media.sendAudio(pcm)
                try await media.endAudio()
                let frames = media.statistics.sent - before
                return .success([
                    "call_id": .string(id), "frames_published": .integer(Int64(frames)),
                    "publish_path": .string(media.publishPath), "subscribe_path": .string(media.subscribePath),
                    "track": .string(track.name),
                ])
            } catch {
                return .failure(DaemonFailure(.runtimeError, "audio file publish failed: \(error)"))
            }
        }
        return done
    }

    func sendData(_ id: String, _ hex: String, _ track: String?) throws(DaemonFailure) -> Done {
        let call = try self.liveCall(id)
        guard call.soundTrack == nil else { throw DaemonFailure(.badRequest, "active call is not a data call") }
        guard let bytes = Hex.decode(hex.trimmed.lowercased()) else {
            throw DaemonFailure(.badRequest, "payload_hex must be valid hex")
        }
        let name = track?.trimmed ?? ""
        do { try self.media(of: id).sendData(bytes, track: name.isEmpty ? nil : name) } catch {
            throw (error as? DaemonFailure)
                ?? DaemonFailure(.runtimeError, "publish call data failed: \((error as? AppCoreError)?.message ?? "")")
        }
        return Done()
    }

    // MARK: Received media

    /// Receives the call's media until the call ends.
    func follow(_ media: CallMedia) async {
        let track = media.tracks.first { $0.codec.lowercased() == "opus" } ?? .audio
        var segments = SpeechSegments(rate: Int(clamping: track.sampleRate), channels: Int(clamping: track.channels))
        var count = 0
        for await event in media.received {
            switch event {
            case .data(let track, let bytes):
                await self.tellPassing(.callData(callID: media.callID, payload: bytes, track: track))
            case .audio(let chunk):
                guard let segment = segments.take(chunk.pcm) else { continue }
                await self.tellSegment(segment, &count, media.callID, track)
            case .video: continue
            }
        }
        if let rest = segments.finish() { await self.tellSegment(rest, &count, media.callID, track) }
    }

    /// Writes a speech segment to a WAV file, and sends an event with its path.
    private func tellSegment(
        _ pcm: [UInt8], _ count: inout Int, _ callID: String, _ track: CallSession.Track
    ) async {
        guard let directory = self.settings.mediaDirectory else { return }
        // The caller chooses the call id, so hash it: it must not choose a path.
        let folder = "\(directory)/calls/\(Self.hash(callID).prefix(16))"
        let path = "\(folder)/chunk_\(count).wav"
        count += 1
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let wav = CallSound.wav(pcm, rate: track.sampleRate, channels: track.channels)
            try Data(wav).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch { return self.logger.warning("a call's sound could not be written", metadata: ["reason": "\(error)"]) }
        await self.tellPassing(
            .callAudioChunk(callID: callID, path: path, sampleRate: track.sampleRate, channels: track.channels))
    }
}
