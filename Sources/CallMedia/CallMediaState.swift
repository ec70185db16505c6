import PikaCore

/// The state of a call's media session. Pure; guarded by its owner.
struct CallMediaState: Sendable {
    private let keys: CallMediaKeys
    var isMuted: Bool
    var isCameraOn: Bool
    var isOver = false
    var statistics = CallStatistics()
    /// Audio frames waiting to be sent, and the incomplete last frame.
    var outgoing: [[UInt8]] = []
    private var rest: [UInt8] = []
    private var jitter = JitterBuffer()
    /// The number of the newest audio frame that was played.
    private(set) var newestAudio: UInt64?

    /// The frame counters: first for the keys of audio and data, then for those of video.
    private var counters = [CallFrameCounter(), CallFrameCounter()]
    private var sequences: [String: UInt64] = [:]
    /// Replay windows by track, and by counter under each key: the relay could replay a frame on another track.
    private var trackWindows: [String: ReplayWindow] = [:]
    private var counterWindows = [ReplayWindow(), ReplayWindow()]

    init(_ keys: CallMediaKeys, isMuted: Bool, isCameraOn: Bool) {
        self.keys = keys
        self.isMuted = isMuted
        self.isCameraOn = isCameraOn
    }

    var currentStatistics: CallStatistics {
        var statistics = self.statistics
        statistics.jitterDepth = self.jitter.depth
        return statistics
    }

    // MARK: Outgoing audio

    mutating func cut(_ pcm: [UInt8], into length: Int) -> [[UInt8]] {
        let all = self.rest + pcm
        let whole = all.count / length
        self.rest = Array(all[(whole * length)...])
        return (0..<whole).map { Array(all[$0 * length..<($0 + 1) * length]) }
    }

    mutating func removeRemainder(filledTo length: Int) -> [UInt8]? {
        guard !self.rest.isEmpty else { return nil }
        defer { self.rest = [] }
        return self.rest + [UInt8](repeating: 0, count: length - self.rest.count)
    }

    // MARK: Frames

    /// The number of video frames between keyframes in Pika's encoders.
    private static let keyframeInterval: UInt64 = 60

    /// Seals the next frame of a track; throws when the key's counters are used up.
    mutating func seal(_ payload: [UInt8], track: String, isVideo: Bool) throws -> CallMediaGroup {
        guard let counter = self.counters[isVideo ? 1 : 0].nextNumber() else {
            throw AppCoreError(.callMediaFailed, "the call's key has no unused frame numbers left: call again")
        }
        let sequence = self.sequences[track, default: 0]
        self.sequences[track] = sequence + 1
        let frame = CallFrame(
            counter: counter, sequence: sequence,
            isKeyframe: !isVideo || sequence.isMultiple(of: Self.keyframeInterval), payload: payload)
        let keys = isVideo ? self.keys.video.own : self.keys.audio.own
        return CallMediaGroup(sequence: sequence, payload: try frame.sealed(with: keys))
    }

    /// Opens a received frame of a track; returns nil, and counts it as dropped, if it is invalid or a replay.
    mutating func open(_ group: CallMediaGroup, track: String, isVideo: Bool) -> CallFrame? {
        let keys = isVideo ? self.keys.video.peer : self.keys.audio.peer
        // The last sequence number is refused, because it has no successor.
        guard let frame = try? CallFrame(sealed: group.payload, with: keys), frame.sequence < .max,
            self.trackWindows[track, default: ReplayWindow()].admit(frame.sequence),
            self.counterWindows[isVideo ? 1 : 0].admit(UInt64(frame.counter))
        else {
            self.statistics.dropped += 1
            return nil
        }
        self.statistics.received += 1
        return frame
    }

    // MARK: Incoming audio

    mutating func buffer(_ frame: CallFrame) {
        switch self.jitter.insert(frame.payload, sequence: frame.sequence) {
        case .kept: break
        case .late: self.statistics.late += 1
        case .overflowed(let count): self.statistics.dropped += count
        }
    }

    var hasBufferedAudio: Bool { !self.jitter.isIdle }

    /// Returns the audio of one turn: silence of this length for a missing frame, nil if nothing is due.
    mutating func play(silence length: Int) -> CallAudioChunk? {
        let chunk = self.nextChunk(silence: length)
        self.newestAudio = chunk?.sequence ?? self.newestAudio
        return chunk
    }

    private mutating func nextChunk(silence length: Int) -> CallAudioChunk? {
        switch self.jitter.pop() {
        case nil: return nil
        case .frame(let sequence, let pcm)?: return CallAudioChunk(sequence: sequence, pcm: pcm, isConcealed: false)
        case .missing(let sequence)?:
            self.statistics.lost += 1
            let silence = [UInt8](repeating: 0, count: length)
            return CallAudioChunk(sequence: sequence, pcm: silence, isConcealed: true)
        case .skipped(let count, let sequence, let pcm)?:
            self.statistics.lost = self.statistics.lost.addingReportingOverflow(count).partialValue
            return CallAudioChunk(sequence: sequence, pcm: pcm, isConcealed: false)
        }
    }
}
