/// Received media of a call.
package enum CallMediaEvent: Sendable, Hashable {
    case audio(CallAudioChunk)
    /// One piece as sent by the other side; pieces may be missing or reordered.
    case data(track: String, [UInt8])
    /// One H.264 access unit (Annex B).
    case video([UInt8], isKeyframe: Bool)
}

/// The audio of one frame, in the sender's order.
package struct CallAudioChunk: Sendable, Hashable {
    /// The frame's number, from 0.
    package let sequence: UInt64
    /// 16-bit PCM, little-endian, in the rate and channels of the call's audio track.
    package let pcm: [UInt8]
    /// Whether the frame was lost, and this is silence in its place.
    package let isConcealed: Bool
}
