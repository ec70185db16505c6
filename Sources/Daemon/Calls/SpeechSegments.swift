import CallMedia

/// Splits speech at pauses, as the pikachat daemon does: after 700 ms of silence, and after 20 s at the latest. Drops
/// segments with less than 500 ms of speech.
struct SpeechSegments: Sendable {
    private static let silence = 500.0
    private let samplesPerSecond: Int
    private var pcm: [UInt8] = []
    private var silentSamples = 0
    private var spokenSamples = 0

    init(rate: Int, channels: Int) {
        let (product, overflows) = rate.multipliedReportingOverflow(by: channels)
        self.samplesPerSecond = overflows ? 48_000 : max(1, min(product, 1_000_000))
    }

    /// Appends a frame; returns a segment when the frame completes one.
    mutating func append(_ frame: [UInt8]) -> [UInt8]? {
        let samples = frame.count / 2
        guard samples > 0 else { return nil }
        if Self.loudness(frame) < Self.silence {
            self.silentSamples += samples
        } else {
            self.silentSamples = 0
            self.spokenSamples += samples
        }
        // Drop the silence before the first word.
        if self.spokenSamples > 0 { self.pcm += frame }
        let isPause = self.silentSamples * 10 >= self.samplesPerSecond * 7
        let isLong = self.pcm.count / 2 >= self.samplesPerSecond * 20
        return (isPause && self.spokenSamples > 0) || isLong ? self.finish() : nil
    }

    /// Returns the last, unfinished segment if it contains enough speech.
    mutating func finish() -> [UInt8]? {
        let isSpeech = self.spokenSamples * 2 >= self.samplesPerSecond
        let piece = self.pcm
        self.pcm = []
        self.silentSamples = 0
        self.spokenSamples = 0
        return isSpeech ? piece : nil
    }

    /// Returns the root mean square of the samples.
    private static func loudness(_ frame: [UInt8]) -> Double {
        let count = frame.count / 2
        var sum = 0.0
        for index in 0..<count {
            let sample = Double(CallAudio.sample(frame, index))
            sum += sample * sample
        }
        return (sum / Double(count)).squareRoot()
    }
}
