import Marmot
import Testing

struct MediaTypeTests {
    private static let listed = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/x-icon", "image/tiff",
        "image/x-farbfeld", "image/avif", "image/qoi", "video/mp4", "video/quicktime", "video/x-matroska",
        "video/webm", "video/x-msvideo", "video/ogg", "audio/ogg", "audio/flac", "audio/x-flac", "audio/aac",
        "audio/mp4", "audio/webm", "audio/mpeg", "audio/wav", "audio/x-matroska", "application/pdf", "text/plain",
    ]

    @Test(arguments: listed)
    func listedTypesAreNormalized(type: String) throws {
        #expect(try MediaType(type).description == type)
        #expect(try MediaType("\t\(type.uppercased()) ; q=1; r=2\r\n").description == type)
        #expect(MediaType(sending: type).description == type)
    }

    @Test(arguments: [
        "image/heic", "image/svg+xml", "text/html", "", ";", "/", "text", "image/ png", "image/png/", "image/pn\u{130}",
        "text/plain\u{37e} charset=utf-8", "text/plain\0", String(repeating: "a", count: 10_000),
    ])
    func sendsOtherTypesAsOctetStream(type: String) {
        expectError(.badMedia, "list") { _ = try MediaType(type) }
        #expect(MediaType(sending: type) == .octetStream)
    }

    @Test func readsOctetStream() throws {
        #expect(try MediaType("Application/Octet-Stream") == .octetStream)
        #expect(!MediaType.octetStream.isImage)
    }

    private static let beginnings: [(String, [UInt8])] = [
        ("image/png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), ("image/jpeg", [0xFF, 0xD8, 0xFF]),
        ("image/gif", Array("GIF87a".utf8)), ("image/gif", Array("GIF89a".utf8)),
        ("image/webp", Array("RIFF????WEBP".utf8)), ("image/bmp", Array("BM".utf8)), ("image/x-icon", [0, 0, 1, 0]),
        ("image/tiff", [0x49, 0x49, 0x2A, 0]), ("image/tiff", [0x4D, 0x4D, 0, 0x2A]),
        ("image/x-farbfeld", Array("farbfeld".utf8)), ("image/avif", [0, 0, 0, 32] + Array("ftypavif".utf8)),
        ("image/qoi", Array("qoif".utf8)),
    ]

    @Test func imageSignaturesMatchOnlyTheirType() throws {
        for (type, beginning) in Self.beginnings {
            for other in Self.listed where other.hasPrefix("image/") {
                let matches = try MediaType(other).matches(beginning + [1, 2, 3])
                #expect(matches == (other == type), "\(beginning) as \(other)")
            }
            #expect(try !MediaType(type).matches(Array(beginning.dropLast())), "\(type) cut short")
            #expect(try !MediaType(type).matches([]))
        }
    }

    @Test func otherFilesNeedNoSignature() throws {
        #expect(try MediaType("text/plain").matches([0xFF, 0xD8, 0xFF]))
        #expect(MediaType.octetStream.matches([]))
    }
}
