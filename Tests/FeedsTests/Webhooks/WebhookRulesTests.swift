import Crypto
import Foundation
import LiveTesting
import Nostr
import PikaCore
import Testing

@testable import FeedRules
@testable import Feeds

private let secret = "0123456789abcdef"
private let other = "whsec_" + Base64.encode([UInt8](repeating: 3, count: 24))
private let start: Int64 = 1_700_000_000

/// The base64 of HMAC-SHA256, computed without the code under test.
private func signature(_ content: String, key: [UInt8] = Array(secret.utf8)) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: Data(content.utf8), using: SymmetricKey(data: key)))
}

private func headers(
    id: String? = "msg_1", at time: Int64? = start, _ body: String, key: [UInt8] = Array(secret.utf8)
) -> WebhookHeaders? {
    var headers = WebhookHeaders { _ in [] }
    headers?.id = id
    headers?.timestamp = time
    let content = (id.map { "\($0)." } ?? "") + (time.map { "\($0)." } ?? "") + body
    headers?.signatures = [signature(content, key: key)]
    return headers
}

struct WebhookRulesTests {
    private func rules(rate: RateLimit? = nil, keys: [String] = [secret]) throws -> WebhookRules {
        let keys = try keys.map { try #require(WebhookKey($0)) }
        return WebhookRules(WebhookSettings(authentication: .hmac(keys), rate: rate))
    }

    private func judge(
        _ rules: inout WebhookRules, _ headers: WebhookHeaders?, _ body: String, at time: Int64 = start
    ) throws -> WebhookRules.Verdict {
        var random = SplitMix64(seed: 3)
        let headers = try #require(headers)
        return rules.judge(headers, body: Array(body.utf8), nowMilliseconds: time * 1_000, using: &random)
    }

    @Test func admitsSignedRequest() throws {
        var rules = try rules()
        #expect(try judge(&rules, headers("{}"), "{}") == .admitted(id: "msg_1"))
        #expect(try judge(&rules, headers("{}"), "{}", at: start + 300) == .admitted(id: "msg_1"))
    }

    @Test func refusesForgedRequest() throws {
        var rules = try rules()
        #expect(try judge(&rules, headers("{}"), "{ }") == .refused(.forged))
        #expect(try judge(&rules, headers("{}", key: Array("another key of 16".utf8)), "{}") == .refused(.forged))
        var renamed = headers("{}")
        renamed?.id = "msg_2"
        #expect(try judge(&rules, renamed, "{}") == .refused(.forged))
        var moved = headers("{}")
        moved?.timestamp = start + 1
        #expect(try judge(&rules, moved, "{}") == .refused(.forged))
        var unnamed = headers("{}")
        unnamed?.id = nil
        #expect(try judge(&rules, unnamed, "{}") == .refused(.forged))
    }

    @Test func refusesUnsignedRequest() throws {
        var rules = try rules()
        var plain = headers("{}")
        plain?.signatures = []
        #expect(try judge(&rules, plain, "{}") == .refused(.unsigned))
        #expect(try judge(&rules, headers(at: nil, "{}"), "{}") == .refused(.unsigned))
    }

    @Test(arguments: [-301, 301, -1_700_000_000] as [Int64])
    func refusesRequestOutsideTheWindow(offset: Int64) throws {
        var rules = try rules()
        #expect(try judge(&rules, headers("{}"), "{}", at: start + offset) == .refused(.expired))
    }

    @Test func recognizesReplays() throws {
        var rules = try rules()
        // A request that was not stored may come again.
        #expect(try judge(&rules, headers("{}"), "{}") == .admitted(id: "msg_1"))
        #expect(try judge(&rules, headers("{}"), "{}") == .admitted(id: "msg_1"))
        rules.stored("msg_1")
        #expect(try judge(&rules, headers("{}"), "{}") == .repeated(id: "msg_1"))
    }

    @Test func requestWithoutIDIsNamedByItsContent() throws {
        var rules = try rules()
        let first = try judge(&rules, headers(id: nil, "{}"), "{}")
        guard case .admitted(let id) = first else {
            Issue.record("expected an admitted request, found \(first)")
            return
        }
        #expect(id.count == 64)
        #expect(try judge(&rules, headers(id: nil, "{}"), "{}") == first)
        #expect(try judge(&rules, headers(id: nil, at: start + 1, "{}"), "{}") != first)
    }

    @Test func acceptsEitherKeyDuringRotation() throws {
        var rules = try rules(keys: [secret, other])
        let key = [UInt8](repeating: 3, count: 24)
        #expect(try judge(&rules, headers("{}", key: key), "{}") == .admitted(id: "msg_1"))
        #expect(try judge(&rules, headers("{}"), "{}") == .admitted(id: "msg_1"))
    }

    @Test func limitsGenuineRequestsOnly() throws {
        var rules = try rules(rate: RateLimit(2, per: .seconds(60)))
        for _ in 0..<10 { #expect(try judge(&rules, headers("{}"), "x") == .refused(.forged)) }
        for id in ["a", "b"] { #expect(try judge(&rules, headers(id: id, "{}"), "{}") == .admitted(id: id)) }
        #expect(try judge(&rules, headers(id: "c", "{}"), "{}") == .refused(.tooMany(retryAfter: 30)))
        #expect(try judge(&rules, headers(id: "c", "{}"), "{}", at: start + 30) == .admitted(id: "c"))
    }

    @Test func admitsTokenOnly() throws {
        let token = try #require(WebhookToken(secret))
        var rules = WebhookRules(WebhookSettings(authentication: .bearer(token)))
        var request = WebhookHeaders { $0 == "authorization" ? ["Bearer \(secret)"] : [] }
        let first = try judge(&rules, request, "{}")
        guard case .admitted(let id) = first else {
            Issue.record("expected an admitted request, found \(first)")
            return
        }
        #expect(!id.isEmpty)
        request?.id = "order-1"
        #expect(try judge(&rules, request, "{}") == .admitted(id: "order-1"))
        request?.token = secret + "x"
        #expect(try judge(&rules, request, "{}") == .refused(.forged))
        request?.token = nil
        #expect(try judge(&rules, request, "{}") == .refused(.unsigned))
    }

    @Test func refusesShortSecrets() {
        #expect(WebhookKey("0123456789abcde") == nil && WebhookToken("0123456789abcde") == nil)
        #expect(WebhookKey("whsec_!") == nil && WebhookKey("whsec_AAAA") == nil)
        #expect(WebhookKey(other) != nil)
        #expect(WebhookKey(secret).map { "\($0)" } == "a webhook key")
        #expect(WebhookToken(secret).map { "\($0)" } == "a webhook token")
    }

    @Test func statusesFollowTheContract() throws {
        let id = try EventID(hex: String(repeating: "a", count: 64))
        let answers: [(WebhookAnswer, Int, Int64?)] = [
            (.stored(id), 202, nil), (.duplicate(id: "x"), 200, nil), (.refused(.unknownFeed), 404, nil),
            (.refused(.notPost), 405, nil), (.refused(.malformed), 400, nil), (.refused(.unsigned), 401, nil),
            (.refused(.forged), 401, nil), (.refused(.expired), 401, nil), (.refused(.tooLarge(limit: 1)), 413, nil),
            (.refused(.tooSlow), 408, nil), (.refused(.tooMany(retryAfter: 3)), 429, 3), (.refused(.full), 503, 30),
            (.refused(.ending), 503, 5),
        ]
        for (answer, status, wait) in answers {
            #expect(answer.status == status)
            guard case .refused(let refusal) = answer else { continue }
            #expect(refusal.retryAfter == wait)
        }
    }
}
