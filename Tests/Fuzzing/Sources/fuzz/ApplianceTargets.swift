import Nostr

@testable import Appliance

extension Target {
    /// Everything that an appliance or its cloud sends: values, events, pictures and chunks.
    static func appliance() -> Target {
        let event = LiveEvent(sequence: 5, at: 9, applianceID: "a1", body: .timerFired(sessionID: "s", label: "dal"))
        let preferences = Preferences(
            version: 1, values: ["spice": PreferenceValue(text: "hot", updatedAt: 1)],
            people: [PersonAllergens(person: "A", allergens: [.milk], updatedAt: 1)])
        let recipe =
            #"{"id":"d","revision":1,"language":"en","title":"D","summary":"","servings":1,"ingredients":[],"#
            + #""steps":[{"text":"x","seconds":1,"needsAttention":false}],"tags":[]}"#
        let part = Array("--f\r\nContent-Length: 5\r\n\r\n".utf8) + [0xFF, 0xD8, 0, 0xFF, 0xD9]
        return Target(
            "appliance",
            [
                self.value(LiveEvent.self, [(try? APICoding.encode(event)) ?? []]),
                self.value(Preferences.self, [(try? APICoding.encode(preferences)) ?? []]),
                self.value(Recipe.self, [Array(recipe.utf8)]),
                self.value(ProvisioningStatus.self, [Array(#"{"state":"joined","claimToken":"t"}"#.utf8)]),
                Reader([[3] + part + Array("\r\n--f\r\n\r\n".utf8) + part]) { bytes in try self.readPictures(bytes) },
                Reader([[5, 1, 0, 2, 9, 9, 4, 1, 1, 2, 9]]) { bytes in
                    var reassembler = GATTReassembler()
                    var rest = bytes[...]
                    while let length = rest.popFirst() {
                        let message = reassembler.consume(Array(rest.prefix(Int(length))))
                        precondition((message?.count ?? 0) <= GATTChunks.maximumBytes, "messages must be bounded")
                        rest = rest.dropFirst(Int(length))
                    }
                },
                Reader([Array("2026-11-23 19:30".utf8), Array("दाल तड़का".utf8)]) { bytes in
                    let text = String(decoding: bytes, as: UTF8.self)
                    _ = RecipeSearch.query(text)
                    _ = Texts.allergen(parsing: text)
                    _ = try LocalTime(parsing: text).instant(in: "Asia/Kolkata")
                },
            ])
    }

    private static func value<Value: APIValue & SendableMetatype>(_ type: Value.Type, _ seeds: [[UInt8]]) -> Reader {
        Reader(seeds) { bytes in
            let value = try APICoding.decode(Value.self, from: bytes)
            let written = try APICoding.encode(value)
            precondition((try? APICoding.decode(Value.self, from: written)) == value, "a \(Value.self) must round-trip")
        }
    }

    /// The first byte is the size of the portions. Split at different places, a picture at a limit may be dropped, but no
    /// other one appears.
    private static func readPictures(_ bytes: [UInt8]) throws {
        let limits = MJPEGParser.Limits(pictureBytes: 2_000, headerBytes: 200)
        var whole = try MJPEGParser(boundary: "f", limits: limits)
        var parts = try MJPEGParser(boundary: "f", limits: limits)
        let size = max(1, Int(bytes.first ?? 1))
        let stream = Array(bytes.dropFirst())
        let expected = whole.consume(stream)
        var found: [[UInt8]] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            found += parts.consume(stream[start..<min(stream.count, start + size)])
            precondition(parts.heldBytes <= 2_000 + 200 + 4_096 + 8, "the parser must be bounded")
        }
        precondition(
            expected.allSatisfy { $0.count <= 2_000 } && found.allSatisfy { $0.count <= 2_000 },
            "pictures must be bounded")
        if whole.losses == MJPEGParser.Losses(), parts.losses == whole.losses {
            precondition(found == expected, "portions must not change pictures")
        }
    }
}
