/// Conversions of 16-bit little-endian PCM audio.
package enum CallAudio {
    package struct Format: Sendable {
        package static let rates = 8000...192_000
        package static let channelCounts = 1...8

        /// Samples per second.
        package var rate: Int
        package var channels: Int

        package init(rate: Int, channels: Int) {
            self.rate = rate
            self.channels = channels
        }

        /// Whether rate and channel count are in the usual ranges. Reject other formats from untrusted input.
        package var isSupported: Bool { Self.rates.contains(self.rate) && Self.channelCounts.contains(self.channels) }
    }

    /// Maximum size of a conversion's output in bytes: 90 minutes of mono audio at 24 kHz, or the equivalent.
    package static let maximumBytes = 256 << 20

    /// Mixes all channels to one, resamples it by linear interpolation, and copies the result to every target channel.
    /// Drops an odd last byte and an incomplete last frame. Returns nil if a format is invalid or if the output would
    /// exceed ``maximumBytes``.
    package static func converted(_ bytes: [UInt8], from source: Format, to target: Format) -> [UInt8]? {
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

    package static func sample(_ bytes: [UInt8], _ index: Int) -> Int16 {
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
}
