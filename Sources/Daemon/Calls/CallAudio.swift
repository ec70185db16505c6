/// Conversions of 16-bit little-endian PCM audio.
enum CallAudio {
    struct Format: Sendable {
        static let rates = 8000...192_000
        static let channelCounts = 1...8

        /// Samples per second.
        var rate: Int
        var channels: Int

        /// Whether rate and channel count are in the usual ranges. Reject other formats from untrusted input.
        var isSupported: Bool { Self.rates.contains(self.rate) && Self.channelCounts.contains(self.channels) }
    }

    /// Maximum size of a conversion's output in bytes: 90 minutes of mono audio at 24 kHz, or the equivalent.
    static let maximumBytes = 256 << 20

    /// Mixes all channels to one, resamples it by linear interpolation, and copies the result to every target channel.
    /// Drops an odd last byte and an incomplete last frame. Returns nil if a format is invalid or if the output would
    /// exceed ``maximumBytes``.
    static func converted(_ bytes: [UInt8], from source: Format, to target: Format) -> [UInt8]? {
        guard source.rate > 0, source.channels > 0, target.rate > 0, target.channels > 0 else { return nil }
        let (scaled, isTooLong) = (bytes.count / source.channels).multipliedReportingOverflow(by: target.rate)
        let (size, isTooWide) = (scaled / source.rate).multipliedReportingOverflow(by: target.channels)
        guard !isTooLong, !isTooWide, size <= self.maximumBytes else { return nil }
        let mono = self.mixed(bytes, channels: source.channels)
        let samples = source.rate == target.rate ? mono : self.resampled(mono, from: source.rate, to: target.rate)
        var output: [UInt8] = []
        output.reserveCapacity(samples.count * target.channels * 2)
        for sample in samples {
            let bits = UInt16(bitPattern: sample)
            for _ in 0..<target.channels { output += [UInt8(truncatingIfNeeded: bits), UInt8(bits >> 8)] }
        }
        return output
    }

    private static func mixed(_ bytes: [UInt8], channels: Int) -> [Int16] {
        let count = bytes.count / 2 / channels
        return (0..<count).map { frame in
            var sum = 0
            for channel in 0..<channels { sum += Int(self.sample(bytes, frame * channels + channel)) }
            return Int16(clamping: sum / channels)
        }
    }

    static func sample(_ bytes: [UInt8], _ index: Int) -> Int16 {
        Int16(bitPattern: UInt16(bytes[2 * index]) | UInt16(bytes[2 * index + 1]) << 8)
    }

    private static func resampled(_ input: [Int16], from: Int, to: Int) -> [Int16] {
        guard let last = input.last else { return [] }
        let (product, overflows) = input.count.multipliedReportingOverflow(by: to)
        guard !overflows else { return [] }
        return (0..<product / from).map { index in
            let position = Double(index) * Double(from) / Double(to)
            let left = min(Int(position), input.count - 1)
            let right = left + 1 < input.count ? input[left + 1] : last
            let value = Double(input[left]) + (Double(right) - Double(input[left])) * (position - Double(left))
            return Int16(clamping: Int(value.rounded()))
        }
    }

    /// Encodes PCM as a WAV file (RIFF, format 1).
    static func wav(_ pcm: [UInt8], rate: Int64, channels: Int64) -> [UInt8] {
        func number(_ value: Int64, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * Int64($0))) }
        }
        let size = Int64(pcm.count)
        return Array("RIFF".utf8) + number(size &+ 36, 4) + Array("WAVEfmt ".utf8) + number(16, 4) + number(1, 2)
            + number(channels, 2) + number(rate, 4) + number(rate &* channels &* 2, 4) + number(channels &* 2, 2)
            + number(16, 2) + Array("data".utf8) + number(size, 4) + pcm
    }
}

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
