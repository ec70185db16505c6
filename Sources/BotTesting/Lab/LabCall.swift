package import CallMedia
import PikaCore
import Synchronization

/// One side of a call with media: sends media, and records all received events.
package final class LabCall: Sendable {
    private final class Heard: Sendable {
        let events = Mutex<[CallMediaEvent]>([])
    }

    /// The media of this side of the call, for direct use.
    package let media: CallMediaSession
    private let lab: GroupLab
    private let heard: Heard
    private let reader: Task<Void, Never>

    init(_ media: CallMediaSession, lab: GroupLab) {
        let heard = Heard()
        self.media = media
        self.lab = lab
        self.heard = heard
        self.reader = Task(executorPreference: lab.executor) {
            for await event in media.received { heard.events.withLock { $0.append(event) } }
        }
    }

    deinit { self.reader.cancel() }

    /// All received events, in order.
    package var events: [CallMediaEvent] { self.heard.events.withLock { $0 } }

    /// The received audio frames, in order.
    package var chunks: [CallAudioChunk] {
        self.events.compactMap { if case .audio(let chunk) = $0 { chunk } else { nil } }
    }

    /// The received pieces of data of all data tracks, in the order of arrival.
    package var data: [[UInt8]] {
        self.events.compactMap { if case .data(_, let bytes) = $0 { bytes } else { nil } }
    }

    /// Sends audio and advances the clock by `duration`, so that the other side receives it.
    package func say(_ pcm: [UInt8], taking duration: Duration) async throws {
        let media = self.media
        let task = Task(executorPreference: self.lab.executor) {
            try await media.sendAudio(pcm)
            try await media.endAudio()
        }
        try await self.lab.advance(by: duration)
        try await task.value
    }
}

extension LabMember {
    /// Returns the media of the current call; throws unless it is active.
    package func call() async throws -> LabCall {
        guard let call = try await self.state().activeCall, let media = self.core.callMedia(callID: call.callID) else {
            throw self.lab.error(.unmet, "\(self.name) is not in a call with media")
        }
        return LabCall(media, lab: self.lab)
    }
}
