import Foundation

/// Audio as calls carry it, 16-bit PCM, and as WAV files contain it (RIFF, Microsoft 1991).
public struct WaveAudio: Sendable, Hashable {
    /// The samples: signed 16-bit integers, little-endian, the channels of a moment one after the other.
    public var pcm: [UInt8]
    /// The samples of each channel per second.
    public let sampleRate: Int
    /// The number of channels.
    public let channels: Int

    /// Creates audio; checks nothing.
    public init(pcm: [UInt8], sampleRate: Int, channels: Int) {
        self.pcm = pcm
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// The playing time; zero for a format without samples.
    public var duration: Duration {
        guard self.channels > 0, self.sampleRate > 0 else { return .zero }
        return .seconds(Double(self.pcm.count / 2 / self.channels) / Double(self.sampleRate))
    }

    /// Returns the size in bytes of audio of this length, a whole number of frames; at most 64 MiB.
    package static func size(of duration: Duration, sampleRate: Int, channels: Int) -> Int {
        let frame = max(1, channels) * 2
        let seconds = max(0, duration / .seconds(1))
        let bytes = min(seconds * Double(sampleRate) * Double(frame), Double(self.maximumBytes))
        return Int(bytes) / frame * frame
    }

    /// The maximum size of a recording: eleven minutes of a call of Pika.
    private static let maximumBytes = 64 << 20

    /// Returns a tone at a fifth of the full volume: 48 kHz, one channel.
    ///
    /// - Parameters:
    ///   - hertz: The tone's frequency, at most 20,000.
    ///   - duration: Its length, at most a minute.
    public static func tone(hertz: Int, for duration: Duration) -> WaveAudio {
        let rate = 48_000
        let count = self.size(of: min(duration, .seconds(60)), sampleRate: rate, channels: 1) / 2
        // The angle grows by whole cycles modulo the rate, so that it stays exact.
        let cycles = max(0, min(hertz, 20_000))
        var pcm: [UInt8] = []
        pcm.reserveCapacity(count * 2)
        for index in 0..<count {
            let angle = 2 * Double.pi * Double(index * cycles % rate) / Double(rate)
            let sample = UInt16(bitPattern: Int16(6500 * sin(angle)))
            pcm += [UInt8(truncatingIfNeeded: sample), UInt8(sample >> 8)]
        }
        return WaveAudio(pcm: pcm, sampleRate: rate, channels: 1)
    }

    /// Returns the same audio in another format, or nil if a format is unusual (8 to 192 kHz, 1 to 8 channels) or the
    /// result too long. All channels are mixed to one, which every channel of the result repeats.
    public func converted(sampleRate: Int, channels: Int) -> WaveAudio? {
        if sampleRate == self.sampleRate, channels == self.channels { return self }
        let source = CallAudio.Format(rate: self.sampleRate, channels: self.channels)
        let target = CallAudio.Format(rate: sampleRate, channels: channels)
        guard source.isSupported, target.isSupported,
            let pcm = CallAudio.converted(self.pcm, from: source, to: target)
        else { return nil }
        return WaveAudio(pcm: pcm, sampleRate: sampleRate, channels: channels)
    }
}

// MARK: Files

/// The reason why a file is not a WAV file that calls can use.
public enum WaveAudioError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file does not begin as a WAV file does.
    case notWave
    /// The file ends within a chunk.
    case truncated
    /// The samples are compressed, not of 16 bits, or at an unusual rate or number of channels.
    case unsupportedFormat
    /// The file has no samples, or none after their format.
    case noSamples

    /// The failure and its fix.
    public var description: String {
        switch self {
        case .notWave: "not a WAV file"
        case .truncated: "the WAV file ends early"
        case .unsupportedFormat: "expected 16-bit PCM, 8 to 192 kHz, 1 to 8 channels: convert the file"
        case .noSamples: "the WAV file contains no samples"
        }
    }
}

extension WaveAudio {
    /// PCM, and a format with more fields whose first bytes state the same.
    private static let pcmFormat: UInt64 = 1
    private static let extensibleFormat: UInt64 = 0xfffe
    /// Written by programs that do not know the length yet, because they write to a pipe.
    private static let unknownLength: UInt64 = 0xffff_ffff

    /// The audio as a WAV file.
    ///
    /// Lengths above 4 GiB are cut off by the format; readers then take the rest of the file.
    public var file: [UInt8] {
        let frame = UInt64(truncatingIfNeeded: self.channels) &* 2
        let rate = UInt64(truncatingIfNeeded: self.sampleRate)
        let length = min(UInt64(self.pcm.count), Self.unknownLength)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.pcm.count + 44)
        bytes += Array("RIFF".utf8)
        bytes.append(littleEndian: min(length + 36, Self.unknownLength), bytes: 4)
        bytes += Array("WAVEfmt ".utf8)
        bytes.append(littleEndian: 16, bytes: 4)
        bytes.append(littleEndian: Self.pcmFormat, bytes: 2)
        bytes.append(littleEndian: UInt64(truncatingIfNeeded: self.channels), bytes: 2)
        bytes.append(littleEndian: rate, bytes: 4)
        bytes.append(littleEndian: rate &* frame, bytes: 4)
        bytes.append(littleEndian: frame, bytes: 2)
        bytes.append(littleEndian: 16, bytes: 2)
        bytes += Array("data".utf8)
        bytes.append(littleEndian: length, bytes: 4)
        bytes += self.pcm
        if !self.pcm.count.isMultiple(of: 2) { bytes.append(0) }
        return bytes
    }

    /// Reads a WAV file of 16-bit PCM. Other chunks are skipped, and so is an incomplete last sample.
    public init(file bytes: [UInt8]) throws(WaveAudioError) {
        guard bytes.count >= 12, bytes[..<4].elementsEqual("RIFF".utf8), bytes[8..<12].elementsEqual("WAVE".utf8)
        else { throw .notWave }
        var format: (rate: Int, channels: Int)?
        var offset = 12
        while bytes.count - offset >= 8 {
            let name = bytes[offset..<offset + 4]
            let stated = bytes.littleEndian(at: offset + 4, bytes: 4)
            offset += 8
            let rest = bytes.count - offset
            let isData = name.elementsEqual("data".utf8)
            let length = isData && stated == Self.unknownLength ? rest : Int(stated)
            guard length <= rest else { throw .truncated }
            let chunk = bytes[offset..<offset + length]
            if name.elementsEqual("fmt ".utf8) { format = try Self.format(Array(chunk)) }
            if isData {
                guard let format else { throw .noSamples }
                let frame = format.channels * 2
                let usable = length - length % frame
                guard usable > 0 else { throw .noSamples }
                self.init(pcm: Array(chunk.prefix(usable)), sampleRate: format.rate, channels: format.channels)
                return
            }
            // Chunks begin at even offsets.
            offset = min(offset + length + length % 2, bytes.count)
        }
        throw offset == bytes.count ? .noSamples : .truncated
    }

    private static func format(_ chunk: [UInt8]) throws(WaveAudioError) -> (rate: Int, channels: Int) {
        guard chunk.count >= 16 else { throw .truncated }
        var tag = chunk.littleEndian(at: 0, bytes: 2)
        if tag == self.extensibleFormat {
            guard chunk.count >= 40 else { throw .truncated }
            tag = chunk.littleEndian(at: 24, bytes: 2)
        }
        let channels = Int(chunk.littleEndian(at: 2, bytes: 2))
        let rate = Int(chunk.littleEndian(at: 4, bytes: 4))
        guard tag == self.pcmFormat, chunk.littleEndian(at: 14, bytes: 2) == 16,
            CallAudio.Format(rate: rate, channels: channels).isSupported,
            chunk.littleEndian(at: 12, bytes: 2) == UInt64(channels * 2)
        else { throw .unsupportedFormat }
        return (rate, channels)
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian value: UInt64, bytes count: Int) {
        for place in 0..<count { self.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * place))) }
    }

    fileprivate func littleEndian(at offset: Int, bytes count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64(8 * $1) }
    }
}
