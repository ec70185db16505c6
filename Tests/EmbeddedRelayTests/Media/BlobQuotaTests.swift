import Foundation
import LiveTesting
import Nostr
import Testing

@testable import EmbeddedRelay

@Suite(.live)
struct BlobQuotaTests {
    private static let block = 4_096

    @Test func refusesUploadsBeyondTheQuota() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("blossom-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // Room for two small files with their descriptors, a block each, and half of a third one.
        let quota = Int64(5 * Self.block)
        try await withBlossom(quota: quota, directory: folder) { blossom in
            for text in ["one", "two"] { #expect(try await blossom.upload(text).status == 200) }
            let full = try await blossom.upload("three")
            #expect(full.status == 507 && full.header("X-Reason") == "the media store is full")
            #expect(try await blossom.upload("one", by: .bob).status == 200, "only its descriptor may grow")
        }
        // Counted again from the folder.
        try await withBlossom(quota: quota, directory: folder) { blossom in
            #expect(try await blossom.upload("three").status == 507)
            let delete = BlossomRequests.authorization(.delete, of: ["two"])
            let path = "DELETE /\(try #require(BlossomRequests.hash("two")).hex)"
            #expect(try await blossom.send(path, ["Authorization: \(delete)"]).status == 200)
            #expect(try await blossom.upload("three").status == 200)
        }
    }

    @Test func refusesBodiesGrowingBeyondQuota() async throws {
        try await withBlossom(quota: Int64(3 * Self.block)) { blossom in
            let authorization = "Authorization: " + BlossomRequests.authorization(.upload, of: [])
            let part = String(repeating: "x", count: 0x3000) + "\r\n"
            let chunked = try await blossom.send(
                "PUT /upload", [authorization, "Transfer-Encoding: chunked"],
                body: "3000\r\n\(part)3000\r\n\(part)0\r\n\r\n")
            #expect(chunked.status == 507)
            // The draft's space is available again.
            #expect(try await blossom.upload(String(repeating: "y", count: 2 * Self.block)).status == 200)
        }
    }

    @Test func headReportsFullStore() async throws {
        try await withBlossom(quota: Int64(2 * Self.block)) { blossom in
            let hash = try #require(BlossomRequests.hash("hello")).hex
            let headers = [
                "Authorization: " + BlossomRequests.authorization(.upload, of: ["hello"]), "X-SHA-256: \(hash)",
            ]
            #expect(try await blossom.send("HEAD /upload", headers + ["X-Content-Length: 8192"]).status == 200)
            #expect(try await blossom.send("HEAD /upload", headers + ["X-Content-Length: 8193"]).status == 507)
            #expect(try await blossom.send("HEAD /upload", headers + ["X-Content-Length: -1"]).status == 400)
        }
    }

    @Test func boundsOwnersOfAFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("blossom-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try BlobStore(directory: folder, maximumBytes: 100, quota: 1 << 20)
        func keep(_ owner: UInt64) throws -> BlobDescriptor {
            let blob = try store.begin()
            let (hash, size) = try blob.complete()
            return try store.keep(
                blob, hash: hash, size: size, type: "a/b", owner: Author(seed: owner).publicKey, now: 1)
        }
        for owner in 0..<UInt64(BlobStore.maximumOwners) { _ = try keep(owner) }
        #expect(throws: HTTPRefusal.self) { try keep(5_000) }
        #expect(try keep(7).owners.count == BlobStore.maximumOwners, "an existing owner must be accepted")
    }

    @Test func countsWholeBlocks() {
        #expect([0, 1, 4_096, 4_097, .max].map { BlobSpace.cost(of: $0) }.prefix(4) == [4_096, 4_096, 4_096, 8_192])
        let space = BlobSpace(quota: 10_000)
        #expect(space.hasRoom(for: 8_192) && !space.hasRoom(for: 8_193) && !space.hasRoom(for: .max))
    }
}
