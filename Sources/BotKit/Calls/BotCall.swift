/// The media of a call that a bot is in, from ``BotContext/answerCall(_:)`` or ``BotContext/call(_:in:tracks:_:)``.
///
/// Audio is 16-bit PCM, little-endian, in the format of ``audioFormat``. In calls of Pika, the track named `opus` carries
/// such audio too, so bots need no codec.
public protocol BotCall: Sendable {
    /// The call's id.
    var callID: String { get }
    /// The other side.
    var peer: PublicKey { get }
    /// The tracks as the invitation named them.
    var tracks: [CallSession.Track] { get }
    /// Received media: audio in order and at playout speed, data and video as they arrive. For a single reader; ends with
    /// the call. If more than 512 events are unread, the oldest are dropped.
    var received: AsyncStream<CallMediaEvent> { get }
    /// The number of the newest audio frame in ``received``; nil before the first one.
    var newestAudio: UInt64? { get }
    /// The progress of the call; `ended` once it is over.
    var phase: AppState.ActiveCall.Phase { get }

    /// Sends audio of any length; it leaves in real time. Returns once all of it is queued; at most five seconds are, so
    /// that a longer piece waits. An incomplete last frame waits for more audio, or for ``finishAudio()``. One caller at
    /// a time. Throws `BotError.Code.callFailed`.
    func send(audio pcm: [UInt8]) async throws(BotError)

    /// Fills the last frame with silence, and returns when all audio has been sent. Throws `BotError.Code.callFailed`.
    func finishAudio() async throws(BotError)

    /// Sends a piece of data, at most 1 MiB, on a data track: the first one, unless another is named. At most 256 pieces
    /// wait. Throws `BotError.Code.callFailed`.
    func send(data bytes: [UInt8], track: String?) throws(BotError)

    /// Sends an H.264 access unit (Annex B) on the video track, as ``send(data:track:)`` does.
    func send(video accessUnit: [UInt8]) throws(BotError)

    /// Ends the call; does nothing if it is over.
    func end(reason: String)
}

extension BotCall {
    /// Sends a piece of data on the first data track.
    public func send(data bytes: [UInt8]) throws(BotError) { try send(data: bytes, track: nil) }

    /// Ends the call as a user does; does nothing if it is over.
    public func end() { end(reason: "user_hangup") }

    /// The rate and channels of the call's audio; nil if it has no audio track, or one of unusual shape.
    public var audioFormat: (sampleRate: Int, channels: Int)? {
        guard let track = tracks.first(where: \.isAudio) else { return nil }
        let format = CallAudio.Format(rate: Int(clamping: track.sampleRate), channels: Int(clamping: track.channels))
        return format.isSupported ? (format.rate, format.channels) : nil
    }

    /// Plays audio to the other side, converted to the format of the call. Returns when all of it has been sent.
    ///
    /// Throws `BotError.Code.callFailed`, also when the call ends meanwhile or has no audio.
    public func play(_ audio: WaveAudio) async throws(BotError) {
        guard let format = audioFormat,
            let converted = audio.converted(sampleRate: format.sampleRate, channels: format.channels)
        else { throw BotError(.callFailed, "the call has no audio in a format that the recording converts to") }
        try await send(audio: converted.pcm)
        try await finishAudio()
    }

    /// Returns the other side's audio from now on, until the call ends or `limit` has passed; silence replaces lost
    /// frames. Nothing can be received afterwards.
    ///
    /// Throws `BotError.Code.callFailed` for a call without audio.
    ///
    /// - Parameters:
    ///   - limit: The longest time. The result also has at most this playing time, and at most 64 MiB.
    ///   - clock: The clock of the limit, such as that of ``BotContext/services``.
    public func record(for limit: Duration, clock: any CoreClock) async throws(BotError) -> WaveAudio {
        guard let format = audioFormat else { throw BotError(.callFailed, "the call has no audio") }
        let most = WaveAudio.size(of: limit, sampleRate: format.sampleRate, channels: format.channels)
        let end = clock.monotonicMilliseconds.addingReportingOverflow(limit.wholeMilliseconds)
        let received = received
        // Frames that arrived earlier and were not read are still there.
        let earlier = newestAudio
        let pcm = await withTaskGroup(of: [UInt8]?.self) { group in
            group.addTask {
                var pcm: [UInt8] = []
                for await event in received {
                    guard case .audio(let chunk) = event, earlier.map({ $0 < chunk.sequence }) ?? true else { continue }
                    pcm += chunk.pcm.prefix(most - pcm.count)
                    if pcm.count >= most { break }
                }
                return pcm
            }
            group.addTask {
                try? await clock.sleep(untilMonotonicMilliseconds: end.overflow ? .max : end.partialValue)
                return nil
            }
            var pcm: [UInt8]?
            for await part in group {
                pcm = pcm ?? part
                group.cancelAll()
            }
            return pcm ?? []
        }
        return WaveAudio(pcm: pcm, sampleRate: format.sampleRate, channels: format.channels)
    }
}
