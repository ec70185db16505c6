import Testing

@testable import TLSCodec

@Suite struct TLSCodecTests {
    private func code(_ body: () throws -> Void) -> TLSCodecError.Code? {
        do {
            try body()
            return nil
        } catch let error as TLSCodecError {
            return error.code
        } catch {
            return nil
        }
    }

    @Test func growingKeepsContent() {
        var writer = TLSWriter(capacity: 3)
        var expected: [UInt8] = []
        for number in 0..<1000 {
            writer.write(UInt16(number))
            expected += [UInt8(number >> 8), UInt8(number & 0xFF)]
        }
        // Shares the buffer that the next value outgrows, which is wiped.
        let before = writer.bytes
        writer.writeOpaque([UInt8](repeating: 7, count: 5000))
        #expect(before == expected && writer.bytes.starts(with: expected))
        #expect(writer.bytes.count == 2000 + 2 + 5000)
    }

    @Test(arguments: [
        (0, [0x00]), (63, [0x3F]), (64, [0x40, 0x40]), (16_383, [0x7F, 0xFF]), (16_384, [0x80, 0x00, 0x40, 0x00]),
        ((1 << 30) - 1, [0xBF, 0xFF, 0xFF, 0xFF]),
    ])
    func lengthHeadersUseShortestForm(length: Int, bytes: [UInt8]) throws {
        var writer = TLSWriter()
        writer.writeLength(length)
        #expect(writer.bytes == bytes)
        var reader = TLSReader(bytes)
        #expect(try reader.readLength() == length)
        #expect(reader.isAtEnd)
    }

    @Test(arguments: [
        ([0x40, 0x3F], TLSCodecError.Code.nonMinimalLength), ([0x80, 0x00, 0x3F, 0xFF], .nonMinimalLength),
        ([0xC0, 0, 0, 0, 0, 0, 0, 1], .lengthTooLarge), ([0x40], .truncated), ([0x80, 0, 1], .truncated),
        ([], .truncated),
    ])
    func refusesInvalidLengthHeaders(bytes: [UInt8], expected: TLSCodecError.Code) {
        var reader = TLSReader(bytes)
        #expect(self.code { _ = try reader.readLength() } == expected)
    }

    @Test(arguments: [0, 1, 63, 64, 100, 16_383, 16_384, 70_000])
    func backPatchedVectorsMatchOpaque(count: Int) throws {
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var patched = TLSWriter()
        patched.write(UInt8(0xEE))
        patched.writeVector { $0.writeFixed(body) }
        patched.write(UInt8(0xFF))
        var direct = TLSWriter()
        direct.write(UInt8(0xEE))
        direct.writeOpaque(body)
        direct.write(UInt8(0xFF))
        #expect(patched.bytes == direct.bytes)
    }

    @Test func integersAreBigEndian() throws {
        var writer = TLSWriter()
        writer.write(UInt16(0x0102))
        writer.write(UInt32(0x0304_0506))
        writer.write(UInt64(0x0708_090A_0B0C_0D0E))
        #expect(writer.bytes == Array(1...14))
        var reader = TLSReader(writer.bytes)
        #expect(try reader.readUInt16() == 0x0102)
        #expect(try reader.readUInt32() == 0x0304_0506)
        #expect(try reader.readUInt64() == 0x0708_090A_0B0C_0D0E)
    }

    private struct Pair: TLSEncodable, TLSDecodable, Equatable {
        var first: UInt16
        var second: [UInt8]
        init(first: UInt16, second: [UInt8]) {
            self.first = first
            self.second = second
        }
        init(from reader: inout TLSReader) throws(TLSCodecError) {
            self.first = try reader.readUInt16()
            self.second = try reader.readOpaque()
        }
        func encode(to writer: inout TLSWriter) {
            writer.write(self.first)
            writer.writeOpaque(self.second)
        }
    }

    @Test func refusesTruncatedAndTrailingBytes() throws {
        let pairs = [Pair(first: 7, second: [1, 2, 3]), Pair(first: 9, second: Array(repeating: 5, count: 100))]
        var writer = TLSWriter()
        writer.writeVector(pairs)
        writer.writeOptional(pairs[0])
        writer.writeOptional(Pair?.none)
        let whole = writer.bytes
        func decode(_ bytes: [UInt8]) throws -> [Pair] {
            var reader = TLSReader(bytes)
            let vector = try reader.readVector(of: Pair.self)
            let some = try reader.readOptional(Pair.self)
            let none = try reader.readOptional(Pair.self)
            try reader.finish()
            #expect(some == pairs[0] && none == nil)
            return vector
        }
        #expect(try decode(whole) == pairs)
        for count in 0..<whole.count { #expect(self.code { _ = try decode(Array(whole[..<count])) } == .truncated) }
        #expect(self.code { _ = try decode(whole + [0]) } == .trailingBytes)
    }

    @Test func elementsMayNotCrossVectorEnd() {
        // A vector of 3 bytes that holds a Pair announcing 5 bytes; the bytes exist, but outside.
        var reader = TLSReader([3, 0, 7, 5, 1, 2, 3, 4, 5])
        #expect(self.code { _ = try reader.readVector(of: Pair.self) } == .truncated)
        var uneven = TLSReader([3, 0, 1, 0])
        #expect(self.code { _ = try uneven.readUInt16Vector() } == .unevenVector)
    }

    @Test func refusesHugeLengthBeforeAllocating() {
        var reader = TLSReader([0xBF, 0xFF, 0xFF, 0xFC, 1, 2])
        #expect(self.code { _ = try reader.readUInt32Vector() } == .truncated)
        var opaque = TLSReader([0xBF, 0xFF, 0xFF, 0xFC, 1, 2])
        #expect(self.code { _ = try opaque.readOpaque() } == .truncated)
    }

    @Test func optionalPresenceMustBeZeroOrOne() {
        var reader = TLSReader([2, 0, 1, 0])
        #expect(self.code { _ = try reader.readOptional(Pair.self) } == .invalidValue)
    }

    @Test func errorsNameTheirOffset() {
        var reader = TLSReader([0, 1, 5, 1])
        do {
            _ = try Pair(from: &reader)
            Issue.record("expected a truncated value to be refused")
        } catch {
            #expect(error.offset == 3)
            #expect(error.description == "at byte 3: 5 bytes are needed, 1 are left")
        }
    }
}
