import Errors
import Foundation
import LiveTesting
import Nostr
import Testing

@testable import EmbeddedRelay

@Suite(.live)
struct BlossomTests {
    @Test func storesAndServesUploads() async throws {
        try await withBlossom { blossom in
            let reply = try await blossom.upload("hello", type: "Text/Plain; charset=utf-8")
            #expect(reply.status == 200)
            let hash = try #require(BlossomRequests.hash("hello")).hex
            #expect(reply.json?["sha256"]?.string == hash)
            #expect(reply.json?["size"]?.integer == 5)
            #expect(reply.json?["type"]?.string == "text/plain")
            #expect(reply.json?["uploaded"]?.integer == BlossomRequests.now.seconds)
            #expect(reply.json?["url"]?.string == "http://media.example:7/\(hash).txt")

            let blob = try await blossom.send("GET /\(hash).txt")
            #expect(blob.status == 200 && blob.body == "hello")
            #expect(blob.header("Content-Type") == "text/plain")
            #expect(blob.header("Access-Control-Allow-Origin") == "*")
            let head = try await blossom.send("HEAD /\(hash)")
            #expect(head.status == 200 && head.body == "" && head.header("Content-Length") == "5")
        }
    }

    @Test func servesByteRanges() async throws {
        try await withBlossom { blossom in
            _ = try await blossom.upload("0123456789")
            let path = "GET /\(try #require(BlossomRequests.hash("0123456789")).hex)"
            let middle = try await blossom.send(path, ["Range: bytes=2-4"])
            #expect(middle.status == 206 && middle.body == "234")
            #expect(middle.header("Content-Range") == "bytes 2-4/10")
            #expect(try await blossom.send(path, ["Range: bytes=7-"]).body == "789")
            #expect(try await blossom.send(path, ["Range: bytes=-3"]).body == "789")
            #expect(try await blossom.send(path, ["Range: bytes=8-99999999999999999999"]).body == "89")
            #expect(try await blossom.send(path, ["Range: bytes=10-"]).status == 416)
            #expect(try await blossom.send(path, ["Range: bytes=1-2,4-5"]).body == "0123456789")
            #expect(try await blossom.send(path, ["Range: bytes=nonsense"]).status == 200)
        }
    }

    @Test func storesFileOfSeveralChunks() async throws {
        try await withBlossom { blossom in
            let text = String(repeating: "0123456789abcdef", count: 60_000)
            #expect(try await blossom.upload(text).status == 200)
            let blob = try await blossom.send("GET /\(try #require(BlossomRequests.hash(text)).hex)")
            #expect(blob.body == text)
        }
    }

    @Test func acceptsChunkedBodyAndExpectContinue() async throws {
        try await withBlossom { blossom in
            let authorization = BlossomRequests.authorization(.upload, of: ["hello"])
            let reply = try await blossom.send(
                "PUT /upload",
                ["Authorization: \(authorization)", "Transfer-Encoding: chunked", "Expect: 100-continue"],
                body: "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n")
            #expect(reply.status == 100)
            #expect(reply.body.hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    @Test func deletesFileWithItsLastOwner() async throws {
        try await withBlossom { blossom in
            let path = "/\(try #require(BlossomRequests.hash("shared")).hex)"
            _ = try await blossom.upload("shared", by: .alice)
            _ = try await blossom.upload("shared", by: .bob)
            func delete(_ author: Author, of text: String = "shared") async throws -> Int {
                let authorization = BlossomRequests.authorization(.delete, of: [text], by: author)
                return try await blossom.send("DELETE \(path)", ["Authorization: \(authorization)"]).status
            }
            #expect(try await delete(Author(seed: 7)) == 403)
            #expect(try await delete(.alice, of: "another") == 403)
            #expect(try await delete(.alice) == 200)
            #expect(try await delete(.alice) == 403)
            #expect(try await blossom.send("GET \(path)").status == 200)
            #expect(try await delete(.bob) == 200)
            #expect(try await blossom.send("GET \(path)").status == 404)
            #expect(try await delete(.bob) == 404)
        }
    }

    @Test func listsUploadsOfAKey() async throws {
        try await withBlossom { blossom in
            for text in ["one", "two"] { #expect(try await blossom.upload(text).status == 200) }
            #expect(try await blossom.upload("theirs", by: .bob).status == 200)
            let path = "GET /list/\(Author.alice.keys.publicKey.hex)"
            let own = ["Authorization: " + BlossomRequests.authorization(.list, of: [])]
            func listed(_ query: String = "") async throws -> [String] {
                let reply = try await blossom.send(path + query, own)
                #expect(reply.status == 200 && reply.header("Content-Type") == "application/json")
                return try #require(reply.json?.array).compactMap { $0["sha256"]?.string }.sorted()
            }
            let both = try ["one", "two"].map { try #require(BlossomRequests.hash($0)).hex }.sorted()
            #expect(try await listed() == both)
            #expect(try await listed("?since=\(BlossomRequests.now)&until=\(BlossomRequests.now)") == both)
            #expect(try await listed("?since=\(BlossomRequests.now + 1)").isEmpty)
            #expect(try await listed("?until=\(BlossomRequests.now - 1)").isEmpty)
            for wrong in ["GET /list/", "GET /list/../x", path + "0", path + "?since=x"] {
                #expect(try await blossom.send(wrong, own).status == 400, "\(wrong)")
            }
        }
    }

    @Test func listsOnlyForOwner() async throws {
        try await withBlossom { blossom in
            #expect(try await blossom.upload("one").status == 200)
            let path = "GET /list/\(Author.alice.keys.publicKey.hex)"
            #expect(try await blossom.send(path).status == 401)
            for (authorization, status) in [
                (BlossomRequests.authorization(.list, of: [], by: .bob), 403),
                (BlossomRequests.authorization(.get, of: []), 401),
                (BlossomRequests.authorization(.list, of: [], lifetime: -1), 401),
            ] {
                let reply = try await blossom.send(path, ["Authorization: \(authorization)"])
                #expect(reply.status == status && reply.json?.array == nil)
            }
        }
    }

    @Test func fileURLsUseTheServiceURL() async throws {
        var configuration = RelayConfiguration()
        configuration.serviceURL = "https://media.example/store"
        try await withEmbeddedRelay(configuration: configuration, now: { BlossomRequests.now }) { _, address in
            let hash = try #require(BlossomRequests.hash("hello")).hex
            let reply = try await BlossomRequests(address: address).upload("hello")
            #expect(reply.json?["url"]?.string == "https://media.example/store/\(hash).txt")
        }
    }

    @Test func headPredictsUploadOutcome() async throws {
        try await withBlossom(blobBytes: 10) { blossom in
            let hash = try #require(BlossomRequests.hash("hello")).hex
            let authorization = "Authorization: " + BlossomRequests.authorization(.upload, of: ["hello"])
            let ok = try await blossom.send(
                "HEAD /upload", [authorization, "X-SHA-256: \(hash)", "X-Content-Length: 5"])
            #expect(ok.status == 200)
            let large = try await blossom.send(
                "HEAD /upload", [authorization, "X-SHA-256: \(hash)", "X-Content-Length: 11"])
            #expect(large.status == 413 && large.header("X-Reason") == "the file exceeds the maximum of 10 bytes")
            #expect(try await blossom.send("HEAD /upload", [authorization]).status == 400)
            #expect(try await blossom.send("HEAD /upload").status == 401)
        }
    }

    @Test func createsFolderAtFirstUpload() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("blossom-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withBlossom(directory: folder) { blossom in
            #expect(!FileManager.default.fileExists(atPath: folder))
            let uploaded = try await blossom.upload("hello")
            #expect(uploaded.status == 200)
            #expect(FileManager.default.fileExists(atPath: folder))
        }
    }

    @Test func refusesFileInPlaceOfFolder() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("blossom-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(throws: RelayError(.storageFailed, "")) {
            _ = try BlobStore(directory: path, maximumBytes: 100, quota: 1 << 20)
        }
    }

    @Test func mediaSurvivesRestart() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("blossom-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withBlossom(directory: folder) { blossom in
            let reply = try await blossom.upload("kept")
            #expect(reply.status == 200)
        }
        // A crash ended an upload and left its draft.
        _ = FileManager.default.createFile(atPath: folder + "/draft/1-1", contents: Data([1]))
        try await withBlossom(directory: folder) { blossom in
            let hash = try #require(BlossomRequests.hash("kept")).hex
            #expect(try await blossom.send("GET /\(hash)").body == "kept")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/draft") == [])
        }
    }
}
