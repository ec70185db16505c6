import Foundation
import LiveTesting
import NIOCore
import NIOPosix
import Nostr
import Testing

@testable import EmbeddedRelay

@Suite(.live)
struct BlossomRefusalTests {
    @Test func refusesUploadsWithoutValidAuthorization() async throws {
        let now = BlossomRequests.now
        let forged = BlossomAuthorization.header(
            Author.alice.event(
                kind: 24242, at: now,
                tags: [Tag("t", "upload"), Tag("expiration", (now + 60).description)]
            ).forged)
        let withoutExpiration = BlossomAuthorization.header(
            Author.alice.event(kind: 24242, at: now, tags: [Tag("t", "upload")]))
        let otherKind = BlossomAuthorization.header(
            Author.alice.event(kind: 1, at: now, tags: [Tag("t", "upload"), Tag("expiration", (now + 60).description)]))
        let refused = [
            "", "Nostr", "Nostr ###", "Nostr bm9uc2Vuc2U=", "Bearer abc", forged, withoutExpiration, otherKind,
            BlossomRequests.authorization(.delete, of: ["hello"]),
            BlossomRequests.authorization(.upload, of: ["hello"], lifetime: -1),
            BlossomRequests.authorization(.upload, of: ["hello"], at: now + 61),
            BlossomRequests.authorization(.upload, of: ["hello"], at: .distantFuture - 10, lifetime: 5),
        ]
        try await withBlossom { blossom in
            for authorization in refused {
                let reply = try await blossom.upload("hello", authorization: authorization)
                #expect(reply.status == 401, "\(authorization)")
                #expect(reply.header("X-Reason") != nil)
            }
            let hash = try #require(BlossomRequests.hash("hello")).hex
            #expect(try await blossom.send("GET /\(hash)").status == 404)
        }
    }

    @Test func refusesFileOtherThanAuthorized() async throws {
        try await withBlossom { blossom in
            let reply = try await blossom.upload(
                "evil", authorization: BlossomRequests.authorization(.upload, of: ["good"]))
            #expect(reply.status == 403)
            #expect(try await blossom.send("GET /\(try #require(BlossomRequests.hash("evil")).hex)").status == 404)
            // An authorization without a hash is for any file, as BUD-01 permits.
            let any = BlossomRequests.authorization(.upload, of: [])
            #expect(try await blossom.upload("good", authorization: any).status == 200)
        }
    }

    @Test func refusesOversizedFiles() async throws {
        try await withBlossom(blobBytes: 10) { blossom in
            #expect(try await blossom.upload("0123456789").status == 200)
            #expect(try await blossom.upload("0123456789a").status == 413)
            // Declared as small, or without a length, but sent large.
            let authorization = "Authorization: " + BlossomRequests.authorization(.upload, of: [])
            let chunked = try await blossom.send(
                "PUT /upload", [authorization, "Transfer-Encoding: chunked"],
                body: "8\r\n01234567\r\n8\r\n01234567\r\n0\r\n\r\n")
            #expect(chunked.status == 413)
        }
    }

    @Test(arguments: [
        "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/draft/1-1", "//etc/passwd",
        "/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824/../x",
        "/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824.json/x",
        "/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824.a.b",
        "/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b982", "/2CF%00", "/é",
        "/2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824.%2e",
    ])
    func refusesPathTraversal(path: String) async throws {
        #expect(BlossomRoutes.hash(path: path) == nil)
        try await withBlossom { blossom in
            _ = try await blossom.upload("hello")
            #expect([400, 404].contains(try await blossom.send("GET \(path)").status))
        }
    }

    @Test func fileExtensionCannotReadTheDescriptor() async throws {
        try await withBlossom { blossom in
            _ = try await blossom.upload("hello")
            let hash = try #require(BlossomRequests.hash("hello")).hex
            #expect(try await blossom.send("GET /\(hash).json").body == "hello")
        }
    }

    @Test func truncatedBodyLeavesNoFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("blossom-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withBlossom(directory: folder) { blossom in
            let url = try RelayURL(blossom.address)
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: url.host, port: url.port).get()
            let authorization = BlossomRequests.authorization(.upload, of: ["hello"])
            let head = "PUT /upload HTTP/1.1\r\nHost: x\r\nAuthorization: \(authorization)\r\nContent-Length: 5\r\n\r\n"
            try await channel.writeAndFlush(ByteBuffer(string: head + "hel")).get()
            try await channel.close()
        }
        // The relay has closed every connection; a draft is deleted with its connection or at the next start.
        try await withBlossom(directory: folder) { blossom in
            let hash = try #require(BlossomRequests.hash("hel")).hex
            let reply = try await blossom.send("GET /\(hash)")
            #expect(reply.status == 404)
            // The folder is missing if the connection closed before the upload began.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let drafts = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/draft")) ?? []
            #expect((names == [] || names == ["draft"]) && drafts == [])
        }
    }

    @Test func doesNotForwardUploaderHeaders() async throws {
        try await withBlossom { blossom in
            for type in ["text/html\u{1}", "a/b/c", "/", "text", "x y/z", ""] {
                let text = "file \(type)"
                let reply = try await blossom.upload(text, type: type)
                if reply.status == 400 { continue }
                #expect(reply.json?["type"]?.string == "application/octet-stream")
            }
            let authorization = "Authorization: " + BlossomRequests.authorization(.upload, of: ["x"])
            let reply = HTTPReply(
                try await exchange(
                    "PUT /upload HTTP/1.1\r\nHost: a b\"<>\r\n\(authorization)\r\nConnection: close\r\n"
                        + "Content-Length: 1\r\n\r\nx", address: blossom.address))
            #expect(reply.status == 400)
        }
    }

    @Test func answersCORSPreflight() async throws {
        try await withBlossom { blossom in
            let reply = try await blossom.send("OPTIONS /upload")
            #expect(reply.status == 204)
            #expect(reply.header("Access-Control-Allow-Methods") == "HEAD, OPTIONS, PUT")
            #expect(reply.header("Access-Control-Allow-Headers")?.contains("Authorization") == true)
            #expect(try await blossom.send("GET /upload").status == 405)
        }
    }
}
