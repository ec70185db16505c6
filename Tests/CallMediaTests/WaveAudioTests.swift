import BotTesting
import CallMedia
import LiveTesting
import Testing

@Suite struct WaveAudioTests {
    private static let second = WaveAudio(
        pcm: (0..<96_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }, sampleRate: 48_000, channels: 1)

    private static func header(
        tag: UInt8 = 1, channels: UInt8 = 1, rate: UInt32 = 8000, bits: UInt8 = 16, length: UInt32 = 4
    ) -> [UInt8] {
        let block = channels &* 2
        let size = (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        let rates = (0..<4).map { UInt8(truncatingIfNeeded: rate >> (8 * $0)) }
        return Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WAVEfmt ".utf8) + [16, 0, 0, 0, tag, 0, channels, 0] + rates
            + [0, 0, 0, 0, block, 0, bits, 0] + Array("data".utf8) + size
    }

    @Test func fileKeepsAudio() throws {
        let file = Self.second.file
        #expect(file.count == 96_044)
        #expect(try WaveAudio(file: file) == Self.second)
        #expect(Self.second.duration == .seconds(1))
        let stereo = WaveAudio(pcm: [1, 2, 3, 4], sampleRate: 44_100, channels: 2)
        #expect(try WaveAudio(file: stereo.file) == stereo)
    }

    @Test func readsFilesOfOtherPrograms() throws {
        // An odd chunk before the samples, and more after them.
        let file = Self.header() + [1, 2, 3, 4]
        let list = Array("LIST".utf8) + [3, 0, 0, 0, 9, 9, 9, 0]
        var mixed = Array(file[..<36])
        mixed += list
        mixed += file[36...]
        mixed += list
        #expect(try WaveAudio(file: mixed).pcm == [1, 2, 3, 4])
        // A program that writes to a pipe does not know the length.
        let piped = Self.header(length: .max) + [1, 2, 3, 4, 5]
        #expect(try WaveAudio(file: piped).pcm == [1, 2, 3, 4])
    }

    @Test func everyTruncationIsRefused() {
        let file = Self.header() + [1, 2, 3, 4]
        for count in 0..<file.count {
            #expect(throws: WaveAudioError.self, "\(count) bytes") { try WaveAudio(file: Array(file[..<count])) }
        }
    }

    @Test(arguments: [
        (header(tag: 7), WaveAudioError.unsupportedFormat), (header(bits: 24), .unsupportedFormat),
        (header(channels: 0), .unsupportedFormat), (header(channels: 9), .unsupportedFormat),
        (header(rate: 0), .unsupportedFormat), (header(rate: .max), .unsupportedFormat),
        (header(length: 0xffff_fffe), .truncated), (header(length: 1), .noSamples),
        (Array("RIFX".utf8) + header(), .notWave), ([UInt8](repeating: 0, count: 44), .notWave),
    ])
    func otherFilesAreRefused(_ start: [UInt8], _ expected: WaveAudioError) {
        let error = #expect(throws: WaveAudioError.self) { try WaveAudio(file: start + [1, 2, 3, 4]) }
        #expect(error == expected)
    }

    @Test func randomBytesNeverTrap() {
        var random = SplitMix64(seed: 5)
        for _ in 0..<2_000 {
            var file = Self.header() + [1, 2, 3, 4]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                file[Int.random(in: 0..<file.count, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            _ = try? WaveAudio(file: file)
        }
    }

    @Test func convertsRateAndChannels() throws {
        let half = try #require(Self.second.converted(sampleRate: 24_000, channels: 1))
        #expect(half.duration == .seconds(1) && half.pcm.count == 48_000)
        let stereo = try #require(Self.second.converted(sampleRate: 48_000, channels: 2))
        #expect(stereo.pcm.count == 192_000 && stereo.duration == .seconds(1))
        #expect(Array(stereo.pcm[..<4]) == Array(Self.second.pcm[..<2] + Self.second.pcm[..<2]))
        #expect(Self.second.converted(sampleRate: 7_999, channels: 1) == nil)
        #expect(Self.second.converted(sampleRate: 48_000, channels: 0) == nil)
        #expect(WaveAudio(pcm: [1], sampleRate: 0, channels: 0).duration == .zero)
    }

    @Test func toneHasItsPitch() {
        let tone = WaveAudio.tone(hertz: 1000, for: .seconds(1))
        #expect(tone.pcm.count == 96_000)
        let samples = stride(from: 0, to: tone.pcm.count, by: 2).map {
            Int16(bitPattern: UInt16(tone.pcm[$0]) | UInt16(tone.pcm[$0 + 1]) << 8)
        }
        let rises = zip(samples, samples.dropFirst()).count { $0 <= 0 && $1 > 0 }
        #expect(rises == 1000)
        #expect(samples.max() == 6500 && samples.min() == -6500)
        #expect(WaveAudio.tone(hertz: -5, for: .seconds(-1)).pcm.isEmpty)
    }
}
