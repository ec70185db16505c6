import Testing

@testable import CallMedia

@Suite struct JitterBufferTests {
    /// Inserts frames whose payload is their number.
    private static func insert(_ buffer: inout JitterBuffer, _ sequences: UInt64...) -> [JitterBuffer.Arrival] {
        sequences.map { buffer.insert([UInt8(truncatingIfNeeded: $0)], sequence: $0) }
    }

    private static func frame(_ sequence: UInt64) -> JitterBuffer.Playout {
        .frame(sequence: sequence, [UInt8(truncatingIfNeeded: sequence)])
    }

    @Test func releasesFramesInOrderFromDepthThree() {
        var buffer = JitterBuffer()
        #expect(buffer.pop() == nil && buffer.isIdle)
        #expect(Self.insert(&buffer, 2, 0) == [.kept, .kept])
        #expect(buffer.pop() == nil)
        _ = Self.insert(&buffer, 1)
        #expect(buffer.depth == 3)
        #expect(
            [buffer.pop(), buffer.pop(), buffer.pop(), buffer.pop()] == [
                Self.frame(0), Self.frame(1), Self.frame(2), nil,
            ])
    }

    @Test func releasesLastFramesWithoutFullDepth() {
        var buffer = JitterBuffer()
        _ = Self.insert(&buffer, 0)
        #expect([buffer.pop(), buffer.pop(), buffer.pop()] == [nil, nil, nil])
        #expect(buffer.pop() == Self.frame(0))
    }

    @Test func reportsMissingFramesAndRefusesLateOnes() {
        var buffer = JitterBuffer()
        _ = Self.insert(&buffer, 0, 1, 3)
        #expect(buffer.pop() == Self.frame(0))
        #expect(buffer.pop() == Self.frame(1))
        #expect(buffer.pop() == .missing(sequence: 2))
        #expect(Self.insert(&buffer, 2, 1) == [.late, .late])
        #expect(buffer.pop() == Self.frame(3))
    }

    @Test func skipsLongGap() {
        var buffer = JitterBuffer()
        _ = Self.insert(&buffer, 0, 1, 2)
        for sequence in 0..<3 { #expect(buffer.pop() == Self.frame(UInt64(sequence))) }
        _ = Self.insert(&buffer, 1000, 1001, 1002)
        #expect(buffer.pop() == .skipped(997, sequence: 1000, [232]))
        #expect(buffer.pop() == Self.frame(1001))
    }

    @Test func holdsTwelveFrames() {
        var buffer = JitterBuffer()
        for sequence in 0..<12 { #expect(Self.insert(&buffer, UInt64(sequence)) == [.kept]) }
        #expect(Self.insert(&buffer, 12) == [.overflowed(1)])
        #expect(buffer.depth == 12)
        #expect(buffer.pop() == Self.frame(1))
        #expect(Self.insert(&buffer, 0) == [.late])
    }

    @Test func toleratesSequenceNumbersAtMaximum() {
        var buffer = JitterBuffer()
        _ = Self.insert(&buffer, .max - 2, .max - 1, 0)
        for _ in 0..<10 { _ = buffer.pop() }
        #expect(buffer.isIdle)
    }
}
