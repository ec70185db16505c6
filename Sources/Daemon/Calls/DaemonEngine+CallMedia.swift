import Crypto
import Foundation
import Logging
import Nostr
import PikaCore

/// Audio and data of calls: reads files to send, and writes received media as files and lines.
extension DaemonEngine {
    private func media(of id: String) throws(DaemonFailure) -> CallMedia {
        guard let media = self.core.callMedia(callID: id) else {
            throw DaemonFailure(.runtimeError, "the call's media connection is not open")
        }
        return media
    }

    /// Sends an audio file. The reply follows once all of it has been sent; other commands run meanwhile.
    func sendAudio(
        _ id: String, _ path: String, rate: UInt32, channels: UInt16
    ) throws(DaemonFailure) -> CommandResult {
        let (_, track) = try self.machine.audioCall(id)
        let (source, target) = try CommandArguments.audioFormats(rate: rate, channels: channels, track)
        let bytes: [UInt8]
        do { bytes = try RegularFile.read(path) } catch {
            throw DaemonFailure(.ioError, "failed to read audio file \(path): \(error)")
        }
        let media = try self.media(of: id)
        var result = CommandResult(repliesToStandard: true)
        result.later = {
            guard let pcm = CallAudio.converted(bytes, from: source, to: target) else {
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
        return result
    }

    func sendData(_ id: String, _ hex: String, _ track: String?) throws(DaemonFailure) -> CommandResult {
        let call = try self.machine.liveCall(id)
        guard call.audioTrack == nil else { throw DaemonFailure(.badRequest, "active call is not a data call") }
        guard let bytes = Hex.decode(hex.trimmed.lowercased()) else {
            throw DaemonFailure(.badRequest, "payload_hex must be valid hex")
        }
        let name = track?.trimmed ?? ""
        do { try self.media(of: id).sendData(bytes, track: name.isEmpty ? nil : name) } catch {
            throw (error as? DaemonFailure)
                ?? DaemonFailure(.runtimeError, "publish call data failed: \((error as? AppCoreError)?.message ?? "")")
        }
        return CommandResult()
    }

    // MARK: Received media

    /// Receives the call's media until the call ends.
    func receiveMedia(_ media: CallMedia) async {
        let track = media.tracks.first { $0.codec.lowercased() == "opus" } ?? .audio
        var segments = SpeechSegments(rate: Int(clamping: track.sampleRate), channels: Int(clamping: track.channels))
        var count = 0
        for await event in media.received {
            switch event {
            case .data(let track, let bytes):
                await self.announceTransient(.callData(callID: media.callID, payload: bytes, track: track))
            case .audio(let chunk):
                guard let segment = segments.append(chunk.pcm) else { continue }
                await self.announceSegment(segment, &count, media.callID, track)
            case .video: continue
            }
        }
        if let rest = segments.finish() { await self.announceSegment(rest, &count, media.callID, track) }
    }

    /// Writes a speech segment to a WAV file, and sends an event with its path.
    private func announceSegment(
        _ pcm: [UInt8], _ count: inout Int, _ callID: String, _ track: CallSession.Track
    ) async {
        guard let directory = self.machine.settings.mediaDirectory else { return }
        // The caller chooses the call id, so hash it: it must not choose a path.
        let folder = "\(directory)/calls/\(Hex.encode(Array(SHA256.hash(data: Array(callID.utf8)))).prefix(16))"
        let path = "\(folder)/chunk_\(count).wav"
        count += 1
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let wav = CallAudio.wav(pcm, rate: track.sampleRate, channels: track.channels)
            try Data(wav).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            return self.logger.warning("a call's audio could not be written", metadata: ["reason": "\(error)"])
        }
        await self.announceTransient(
            .callAudioChunk(callID: callID, path: path, sampleRate: track.sampleRate, channels: track.channels))
    }
}
