import Foundation
import LiveTesting
import Nostr
import Testing

/// Ten thousand damaged messages: each is decoded or refused with a code, and decoded values survive a round trip.
@Test func damagedJSONNeverCrashes() throws {
    var generator = SplitMix64(seed: 20_250_101)
    let event = Samples.event()
    let filter = Filter(ids: [event.id], authors: [event.pubkey], kinds: [1], since: 1, limit: 5, tags: ["p": ["x"]])
    let originals = [
        event.json(), ClientMessage.event(event).json(), RelayMessage.event(subscription: "s", event).json(),
        ClientMessage.request(subscription: "s", filters: [filter, filter]).json(),
        RelayMessage.ok(event.id, accepted: true, message: "duplicate: é").json(),
        RelayMessage.count(subscription: "s", 5).json(),
    ]
    var (read, refused) = (0, 0)
    for round in 0..<10_000 {
        let damaged = damage(originals[round % originals.count], using: &generator)
        let outcomes = [
            outcome {
                try Event(json: damaged)
            } again: {
                try Event(json: $0.json())
            },
            outcome {
                try ClientMessage(json: damaged)
            } again: {
                try ClientMessage(json: $0.json())
            },
            outcome {
                try RelayMessage(json: damaged)
            } again: {
                try RelayMessage(json: $0.json())
            },
            outcome {
                try JSONValue(json: damaged)
            } again: {
                try JSONValue(json: $0.json())
            },
        ]
        #expect(outcomes.allSatisfy { $0 != nil }, "round \(round)")
        // Accepted JSON must also be accepted by another parser.
        if outcomes[3] == true {
            #expect((try? JSONSerialization.jsonObject(with: Data(damaged), options: [.fragmentsAllowed])) != nil)
        }
        if outcomes.contains(true) { read += 1 } else { refused += 1 }
    }
    #expect(read > 500)
    #expect(refused > 5_000)
}

/// True if decoded, and equal after a round trip; false if refused with a code; nil for anything else.
private func outcome<Value: Equatable>(
    _ read: () throws -> Value, again: (Value) throws -> Value
) -> Bool? {
    do {
        let value = try read()
        return try again(value) == value ? true : nil
    } catch {
        return error is NostrError ? false : nil
    }
}

private func damage(_ original: [UInt8], using generator: inout SplitMix64) -> [UInt8] {
    let pieces = [
        "\"", "\\", "\\u", "\\ud800", "{", "}", "[", "]", ",", ":", "-", ".", "e", "99999999999999999999", "null",
        "true",
        "\u{0}", "\n", " ", "é", "1e999",
    ]
    var bytes = original
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
        guard !bytes.isEmpty else { return bytes }
        let at = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[at] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: at)
        case 2: bytes.insert(contentsOf: pieces[Int.random(in: 0..<pieces.count, using: &generator)].utf8, at: at)
        case 3: bytes.removeSubrange(at...)
        case 4: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        default:
            let end = min(bytes.count, at + Int.random(in: 1...40, using: &generator))
            bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &generator))
        }
    }
    return bytes
}

@Test func refusesTruncationAtEveryByte() throws {
    let event = Samples.event()
    let client = ClientMessage.event(event).json()
    let relay = RelayMessage.event(subscription: "sub", event).json()
    let request = ClientMessage.request(subscription: "sub", filters: [Filter(kinds: [1], tags: ["p": ["é"]])]).json()
    let ok = RelayMessage.ok(event.id, accepted: false, message: "invalid: é").json()
    for length in 0..<client.count {
        #expect(code { _ = try ClientMessage(json: client[..<length]) } == .truncatedJSON, "\(length)")
    }
    for length in 0..<relay.count {
        #expect(code { _ = try RelayMessage(json: relay[..<length]) } == .truncatedJSON, "\(length)")
    }
    for length in 0..<request.count {
        #expect(code { _ = try ClientMessage(json: request[..<length]) } == .truncatedJSON, "\(length)")
    }
    for length in 0..<ok.count {
        #expect(code { _ = try RelayMessage(json: ok[..<length]) } == .truncatedJSON, "\(length)")
    }
}

@Test func controlCharactersMustBeEscaped() throws {
    for value in UInt8(0)..<0x20 {
        let raw: [UInt8] = [0x5b, 0x22] + Array("NOTICE".utf8) + [0x22, 0x2c, 0x22, 0x61, value, 0x22, 0x5d]
        #expect(code { _ = try RelayMessage(json: raw) } == .malformedJSON)
        let escaped = "[\"NOTICE\",\"\\u00\(Hex.encode([value]))\"]"
        let expected = RelayMessage.notice(String(Character(Unicode.Scalar(value))))
        #expect(try RelayMessage(json: Array(escaped.utf8)) == expected)
        #expect(try RelayMessage(json: expected.json()) == expected)
    }
}
