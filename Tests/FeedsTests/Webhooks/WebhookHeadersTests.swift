import Nostr
import Testing

@testable import FeedRules
@testable import Feeds

struct WebhookHeadersTests {
    private func headers(_ values: [String: [String]]) -> WebhookHeaders? { WebhookHeaders { values[$0] ?? [] } }

    @Test func readsEveryHeader() throws {
        let signature = [UInt8](repeating: 9, count: 32)
        let headers = try #require(
            self.headers([
                "webhook-id": ["msg_1"], "webhook-timestamp": ["1700000000"],
                "webhook-signature": ["v1,\(Base64.encode(signature)) v2,other"], "authorization": ["bearer token"],
                "content-type": ["application/json"],
            ]))
        #expect(headers.id == "msg_1" && headers.timestamp == 1_700_000_000 && headers.signatures == [signature])
        #expect(headers.token == "token" && headers.contentType == "application/json")
        #expect(self.headers([:]) != nil)
    }

    @Test(
        arguments: [
            ("webhook-id", ["a", "b"]), ("webhook-id", [""]), ("webhook-id", ["a b"]), ("webhook-id", ["a\u{7F}"]),
            ("webhook-id", ["1700000000"]), ("webhook-id", [String(repeating: "a", count: 257)]),
            ("webhook-timestamp", ["-1"]), ("webhook-timestamp", ["1e3"]), ("webhook-timestamp", ["9999999999999"]),
            ("webhook-timestamp", [""]), ("webhook-timestamp", ["1", "1"]), ("webhook-signature", ["v1,x"]),
            ("webhook-signature", ["v1,AAAA"]), ("webhook-signature", [String(repeating: "v", count: 2_049)]),
            ("authorization", ["Basic abc"]), ("authorization", ["Bearer"]), ("authorization", ["Bearer a b"]),
            ("authorization", ["Bearer \(String(repeating: "a", count: 1_025))"]),
        ] as [(String, [String])])
    func refusesMalformedHeaders(name: String, values: [String]) {
        #expect(headers([name: values]) == nil)
    }

    @Test func boundsSignatures() {
        let one = "v1,\(Base64.encode([UInt8](repeating: 1, count: 32)))"
        func text(_ count: Int) -> String { [String](repeating: one, count: count).joined(separator: " ") }
        #expect(headers(["webhook-signature": [text(8)]])?.signatures.count == 8)
        #expect(headers(["webhook-signature": [text(9)]]) == nil)
    }
}
