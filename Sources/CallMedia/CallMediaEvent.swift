/// Received media of a call.
public enum CallMediaEvent: Sendable, Hashable {
    /// Audio at its playout time.
    case audio(CallAudioChunk)
    /// One piece as sent by the other side; pieces may be missing or reordered.
    case data(track: String, [UInt8])
    /// One H.264 access unit (Annex B).
    case video([UInt8], isKeyframe: Bool)
}

/// The audio of one frame, in the sender's order.
public struct CallAudioChunk: Sendable, Hashable {
    /// The frame's number, from 0.
    public let sequence: UInt64
    /// 16-bit PCM, little-endian, in the rate and channels of the call's audio track.
    public let pcm: [UInt8]
    /// Whether the frame was lost, and this is silence in its place.
    public let isConcealed: Bool

    /// Creates a chunk, for tests.
    public init(sequence: UInt64, pcm: [UInt8], isConcealed: Bool = false) {
        self.sequence = sequence
        self.pcm = pcm
        self.isConcealed = isConcealed
    }
}
