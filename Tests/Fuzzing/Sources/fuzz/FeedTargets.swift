import Crypto
import FeedRules
import Foundation
import Nostr
import PikaCore

extension Target {
    /// Sources of feeds: streams of server-sent events, headers of webhook requests, stored positions, items with ids.
    static func feeds() -> Target {
        Target("feeds", [self.eventStream(), self.webhook(), self.pollState(), self.itemIDs()])
    }

    /// The parser must give the same events however the stream is split, and none above the limit.
    private static func eventStream() -> Reader {
        let limit = 64
        let text =
            "\u{FEFF}: c\r\nid: 1\revent: x\ndata: a\ndata\n\nretry: 5\n\ndata:\(String(repeating: "y", count: 80))\n\n"
        return Reader([Array(text.utf8)]) { bytes in
            var whole = SSEParser(maximumBytes: limit)
            let expected = whole.append(bytes)
            for case .event(_, let data, _, _) in expected {
                // Each invalid byte becomes three.
                precondition(data.utf8.count <= 3 * limit, "an event must stay within the limit")
            }
            var split = SSEParser(maximumBytes: limit)
            var found: [SSEParser.Output] = []
            let place = bytes.first.map { Int($0) % (bytes.count + 1) } ?? 0
            found += split.append(bytes[..<place])
            for byte in bytes[place...] { found += split.append([byte]) }
            precondition(found == expected, "the result must not depend on where the stream is split")
        }
    }

    /// Headers as lines `name: value`; nobody can sign without the key.
    private static func webhook() -> Reader {
        let signature = Base64.encode([UInt8](repeating: 7, count: 32))
        let text =
            "webhook-id: a\nwebhook-timestamp: 1700000000\nwebhook-signature: v1,\(signature)\nauthorization: Bearer t\n"
        guard let key = WebhookKey(String(repeating: "k", count: 32)) else {
            preconditionFailure("the key is long enough")
        }
        return Reader([Array(text.utf8)]) { bytes in
            var values: [String: [String]] = [:]
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { continue }
                values[String(parts[0]), default: []].append(parts[1].trimmingCharacters(in: .whitespaces))
            }
            guard let headers = WebhookHeaders({ values[$0] ?? [] }) else { return }
            var rules = WebhookRules(WebhookSettings(authentication: .hmac([key])))
            var generator = SystemRandomNumberGenerator()
            let verdict = rules.judge(headers, body: bytes, nowMilliseconds: .max, using: &generator)
            guard case .refused = verdict else { preconditionFailure("a forged request must be refused") }
        }
    }

    private static func pollState() -> Reader {
        Reader([PollState().stored, Array(#"{"v":1,"digest":"a","versions":3,"etag":"\"x\""}"#.utf8)]) { bytes in
            guard let state = PollState(stored: bytes) else { return }
            precondition(PollState(stored: state.stored) == state, "a state must round-trip")
            _ = state.receive(status: 200, entityTag: "t", lastModified: nil, body: bytes)
        }
    }

    private static func itemIDs() -> Reader {
        Reader([Array(#"{"id":"a"}"#.utf8), Array(#"{"id":7}"#.utf8)]) { bytes in
            var generator = SystemRandomNumberGenerator()
            var ids = StreamIDs(field: "id", using: &generator)
            let id = ids.next(bytes, given: String(decoding: bytes, as: UTF8.self))
            let item = FeedItem(feed: "f", id: id, payload: Array(bytes.prefix(1_024)))
            precondition(id.isEmpty || item.isWithinLimits, "an id must be within the limits")
        }
    }
}
