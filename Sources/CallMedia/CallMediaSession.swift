package import PikaCore
import Synchronization

/// The media of one call, for the host: it sends outgoing media here, and reads incoming media from ``received``.
///
/// Available from `AppState.ActiveCall.Phase.active` on, through `AppCore.callMedia(callID:)`. It ends with the
/// call: then ``received`` ends, and sending throws `AppCoreError.Code.unknownCall`.
package final class CallMediaSession: Sendable {
    package let callID: String
    /// The tracks of the call as the invite named them.
    package let tracks: [CallSession.Track]
    /// `<broadcast base>/<label>`: the paths where this side and the other side publish.
    package let publishPath: String
    package let subscribePath: String
    /// Labels of the two sides in the paths: 64 hex digits.
    package let ownLabel: String
    package let peerLabel: String
    /// Audio in order and at playout speed, data and video as they arrive. One consumer; if more than ``backlog``
    /// events are unread, the oldest are dropped.
    package let received: AsyncStream<CallMediaEvent>

    /// The maximum number of unread events.
    package static let backlog = 512
    /// The maximum number of pieces of data or video waiting to be sent.
    static let maximumPieces = 256
    /// The maximum number of audio frames waiting to be sent: 5 s of audio.
    static let maximumFrames = 250

    /// A piece of data or video, sent as soon as possible.
    struct Piece: Sendable {
        let track: String
        let bytes: [UInt8]
        let isVideo: Bool
    }

    let shape: CallAudioShape
    let clock: any CoreClock
    let state: Mutex<CallMediaState>
    let receivedContinuation: AsyncStream<CallMediaEvent>.Continuation
    let pieces: AsyncStream<Piece>
    private let pieceContinuation: AsyncStream<Piece>.Continuation
    /// Wake the task that sends audio, and the one that plays it.
    let frameSignal = WakeSignal()
    let playoutSignal = WakeSignal()
    let endSignal = WakeSignal()
    /// Ends once the other side publishes a track.
    private let arrival: AsyncStream<Void>
    private let arrivalContinuation: AsyncStream<Void>.Continuation

    init(_ plan: CallMediaPlan, clock: any CoreClock) {
        let keys = CallMediaKeys(
            plan.session, callID: plan.callID, own: plan.account, peer: plan.peer, secret: plan.secret,
            epoch: plan.epoch)
        self.callID = plan.callID
        self.tracks = plan.session.tracks
        self.publishPath = "\(plan.session.broadcastBase)/\(keys.ownLabel)"
        self.subscribePath = "\(plan.session.broadcastBase)/\(keys.peerLabel)"
        self.ownLabel = keys.ownLabel
        self.peerLabel = keys.peerLabel
        self.clock = clock
        self.shape = CallAudioShape(plan.session.tracks.first(where: \.isAudio) ?? .audio)
        self.state = Mutex(CallMediaState(keys, isMuted: plan.isMuted, isCameraOn: plan.isCameraOn))
        (self.received, self.receivedContinuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(Self.backlog))
        (self.pieces, self.pieceContinuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingOldest(Self.maximumPieces))
        (self.arrival, self.arrivalContinuation) = AsyncStream.makeStream()
    }

    /// The number of the newest audio frame in ``received``; nil before the first one.
    package var newestAudio: UInt64? { self.state.withLock { $0.newestAudio } }

    package var statistics: CallStatistics { self.state.withLock { $0.currentStatistics } }

    // MARK: Sending

    /// Sends audio of any length: 16-bit PCM, little-endian, in the rate and channels of the call's audio track.
    ///
    /// It is cut into frames, which are sent in real time; an incomplete last frame waits for more audio, or for
    /// ``endAudio()``. Returns the number of frames, once all of them are queued. While the call is muted, frames are
    /// dropped when their turn comes. One caller at a time.
    @discardableResult
    package func sendAudio(_ pcm: [UInt8]) async throws -> Int {
        guard self.tracks.contains(where: \.isAudio) else {
            throw AppCoreError(.notAllowed, "the call has no audio track")
        }
        let frames = try self.state.withLock { state in
            guard !state.isOver else { throw AppCoreError.unknownCall }
            return state.cut(pcm, into: self.shape.frameBytes)
        }
        for frame in frames { try await self.enqueue(frame) }
        return frames.count
    }

    /// Pads the last frame with silence and returns when all frames have been sent.
    package func endAudio() async throws {
        let rest = self.state.withLock { state in state.removeRemainder(filledTo: self.shape.frameBytes) }
        if let rest { try await self.enqueue(rest) }
        while self.state.withLock({ !$0.isOver && !$0.outgoing.isEmpty }) { try await self.pause() }
    }

    /// Sends a piece of data unchanged, at most 1 MiB, on the first data track unless another is named.
    ///
    /// Throws `AppCoreError.Code.busy` when too many pieces are waiting, and `AppCoreError.Code.notAllowed` when it
    /// is too long or the call has no data track.
    package func sendData(_ bytes: [UInt8], track: String? = nil) throws(AppCoreError) {
        let dataTrack = self.tracks.first { !$0.isAudio && !$0.isVideo }
        guard let name = track ?? dataTrack?.name else {
            throw AppCoreError(.notAllowed, "the call has no data track")
        }
        try self.send(Piece(track: name, bytes: bytes, isVideo: false))
    }

    /// Sends an H.264 access unit (Annex B), unless the camera is off. Throws as ``sendData(_:track:)``.
    package func sendVideo(_ accessUnit: [UInt8]) throws(AppCoreError) {
        guard let track = self.tracks.first(where: \.isVideo) else {
            throw AppCoreError(.notAllowed, "the call has no video track")
        }
        try self.send(Piece(track: track.name, bytes: accessUnit, isVideo: true))
    }

    private func send(_ piece: Piece) throws(AppCoreError) {
        guard piece.bytes.count <= CallFrame.maximumPayload else {
            throw AppCoreError(.notAllowed, "a piece can have at most \(CallFrame.maximumPayload) bytes")
        }
        switch self.pieceContinuation.yield(piece) {
        case .enqueued: return
        case .dropped: throw AppCoreError(.busy, "\(Self.maximumPieces) pieces are already waiting to be sent")
        case .terminated: throw AppCoreError.unknownCall
        @unknown default: throw AppCoreError.unknownCall
        }
    }

    private func enqueue(_ frame: [UInt8]) async throws {
        while true {
            let isQueued = try self.state.withLock { state in
                guard !state.isOver else { throw AppCoreError.unknownCall }
                guard state.outgoing.count < Self.maximumFrames else { return false }
                state.outgoing.append(frame)
                return true
            }
            if isQueued { return self.frameSignal.send() }
            try await self.pause()
        }
    }

    /// Sleeps for the duration of one frame.
    private func pause() async throws {
        try await self.clock.sleep(untilMilliseconds: self.clock.nowMilliseconds + self.shape.frameMilliseconds)
    }

    // MARK: Control

    /// Returns once the other side publishes a track, or the session has ended. One caller.
    package func peerArrival() async { for await _ in self.arrival {} }

    func notePeer() { self.arrivalContinuation.finish() }

    func set(isMuted: Bool, isCameraOn: Bool) {
        self.state.withLock { state in
            state.isMuted = isMuted
            state.isCameraOn = isCameraOn
        }
    }

    /// Ends the session; its task returns soon after.
    func stop() {
        self.state.withLock { $0.isOver = true }
        self.pieceContinuation.finish()
        self.receivedContinuation.finish()
        self.arrivalContinuation.finish()
        self.endSignal.send()
    }

    func emit(_ event: CallMediaEvent) {
        if case .dropped = self.receivedContinuation.yield(event) { self.state.withLock { $0.statistics.dropped += 1 } }
    }
}

/// The frame size and duration of a call's audio.
struct CallAudioShape: Sendable, Hashable {
    let frameBytes: Int
    let frameMilliseconds: Int64

    /// Falls back to Pika's shape if the track's own is invalid.
    init(_ track: CallSession.Track) {
        let milliseconds = track.frameMilliseconds
        let (perSecond, overflow) = track.sampleRate.multipliedReportingOverflow(by: track.channels)
        guard !overflow, (1...1000).contains(milliseconds), (1000...1_000_000).contains(perSecond),
            perSecond * milliseconds >= 1000
        else {
            self.frameBytes = 1920
            self.frameMilliseconds = 20
            return
        }
        self.frameBytes = Int(perSecond * milliseconds / 1000) * 2
        self.frameMilliseconds = milliseconds
    }
}

/// Wakes one waiting task; if sent while no task waits, the next wait returns at once.
struct WakeSignal: Sendable {
    let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (self.signals, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func send() { self.continuation.yield() }
}
