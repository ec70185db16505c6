import LiveTesting
import Testing

@testable import Appliance

@Suite struct MJPEGParserTests {
    private static func part(_ picture: [UInt8], hasLength: Bool, newline: String = "\r\n") -> [UInt8] {
        let length = hasLength ? "Content-Length: \(picture.count)\(newline)" : ""
        let head = "--frame\(newline)Content-Type: image/jpeg\(newline)\(length)\(newline)"
        return Array(head.utf8) + picture + Array(newline.utf8)
    }

    private static func pictures(_ count: Int, _ random: inout SplitMix64) -> [[UInt8]] {
        (0..<count).map { _ in
            let length = Int.random(in: 0...300, using: &random)
            return Samples.jpeg((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
    }

    @Test func splitsAnywhere() throws {
        var random = SplitMix64(seed: 1)
        for round in 0..<200 {
            let pictures = Self.pictures(5, &random)
            var stream = Array("preamble\r\n".utf8)
            for picture in pictures {
                let newline = round % 3 == 0 ? "\n" : "\r\n"
                stream += Self.part(picture, hasLength: Bool.random(using: &random), newline: newline)
            }
            stream += Array("--frame--\r\nepilogue".utf8)
            var parser = try MJPEGParser(boundary: "frame")
            var found: [[UInt8]] = []
            while !stream.isEmpty {
                let count = min(stream.count, Int.random(in: 1...64, using: &random))
                found += parser.consume(stream.prefix(count))
                stream.removeFirst(count)
            }
            #expect(found == pictures)
            #expect(parser.hasEnded && parser.losses == MJPEGParser.Losses())
        }
    }

    @Test func everySplitGivesTheSamePictures() throws {
        let pictures = [Samples.jpeg([1, 2, 3]), Samples.jpeg([])]
        let stream =
            Self.part(pictures[0], hasLength: false) + Self.part(pictures[1], hasLength: true) + Array("--frame".utf8)
        for split in 0...stream.count {
            var parser = try MJPEGParser(boundary: "frame")
            let found = parser.consume(stream[..<split])
            let rest = parser.consume(stream[split...])
            #expect(found + rest == pictures)
        }
    }

    @Test(arguments: [true, false])
    func dropsLongPicturesAndContinues(hasLength: Bool) throws {
        var parser = try MJPEGParser(boundary: "frame", limits: MJPEGParser.Limits(pictureBytes: 1_000))
        let long = Samples.jpeg([UInt8](repeating: 7, count: 50_000))
        let short = Samples.jpeg([1])
        var most = 0
        var found: [[UInt8]] = []
        let stream =
            Self.part(long, hasLength: hasLength) + Self.part(short, hasLength: hasLength) + Array("--frame".utf8)
        for byte in stream {
            found += parser.consume([byte])
            most = max(most, parser.heldBytes)
        }
        #expect(found == [short] && parser.losses.tooLong == 1)
        #expect(most <= 1_000 + 4_096 + 64)
    }

    @Test func resynchronizesAfterFaults() throws {
        var parser = try MJPEGParser(boundary: "frame")
        let picture = Samples.jpeg([9])
        var stream = Array("--frame\r\nContent-Length: none\r\n\r\nxx".utf8)
        stream += Array("\r\n--frame\r\nContent-Length: 99999999999999999999\r\n\r\nxx".utf8)
        stream += Array("\r\n--frame\r\n\r\nno picture\r\n".utf8)
        stream += Array("--frame\r\n".utf8) + [UInt8](repeating: UInt8(ascii: "h"), count: 20_000) + [0x0D, 0x0A]
        stream += Self.part(picture, hasLength: true)
        let found = parser.consume(stream)
        #expect(found == [picture])
        let losses = parser.losses
        #expect(losses.tooLong == 1 && losses.notPictures == 1 && losses.badHeaders == 2)
    }

    @Test func boundaryInsideCountedPictureIsContent() throws {
        var parser = try MJPEGParser(boundary: "frame")
        let picture = Samples.jpeg(Array("\r\n--frame\r\n".utf8))
        let found = parser.consume(Self.part(picture, hasLength: true))
        #expect(found == [picture])
    }

    @Test func randomBytesNeverExceedTheLimits() throws {
        var random = SplitMix64(seed: 3)
        for _ in 0..<300 {
            var parser = try MJPEGParser(
                boundary: "b", limits: MJPEGParser.Limits(pictureBytes: 200, headerBytes: 64))
            for _ in 0..<20 {
                let alphabet = Array("--b\r\n\r\nContent-Length: 12".utf8) + [0xFF, 0xD8, 0xFF, 0xD9]
                let bytes = (0..<100).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] }
                let found = parser.consume(bytes)
                #expect(found.allSatisfy { $0.count <= 200 })
                #expect(parser.heldBytes <= 200 + 200 + 4_096)
            }
        }
    }

    @Test func readsBoundaryOfContentType() throws {
        for type in [
            "multipart/x-mixed-replace; boundary=frame", "Multipart/X-Mixed-Replace;boundary=\"frame\"",
            "multipart/x-mixed-replace; charset=x; boundary=--frame",
        ] {
            var parser = try MJPEGParser(contentType: type)
            let found = parser.consume(Self.part(Samples.jpeg([]), hasLength: true))
            #expect(found.count == 1)
        }
        for type in ["image/jpeg", "multipart/x-mixed-replace", "multipart/x; boundary=", ""] {
            #expect(code { _ = try MJPEGParser(contentType: type) } == .malformed)
        }
    }
}

@Suite struct FramePacerTests {
    @Test func limitsTheRate() {
        var pacer = FramePacer(rate: 10)
        var admitted = 0
        for milliseconds in stride(from: 0, to: 10_000, by: 33) {
            let isAdmitted = pacer.admits(at: .milliseconds(milliseconds))
            if isAdmitted {
                admitted += 1
                pacer.finished()
            }
        }
        #expect((95...101).contains(admitted))
    }

    @Test func dropsWhileTheReaderIsBusy() {
        var pacer = FramePacer(rate: 15)
        let first = pacer.admits(at: .zero)
        let second = pacer.admits(at: .seconds(5))
        pacer.finished()
        let third = pacer.admits(at: .seconds(5))
        #expect(first && !second && third && pacer.dropped == 1)
    }
}
