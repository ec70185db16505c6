import Nostr
import Testing

@testable import Marmot

struct GroupDataTests {
    private let example =
        "0002" + String(repeating: "11", count: 32) + "0454657374" + "00" + "20" + String(repeating: "aa", count: 32)
        + "1817" + "7773733a2f2f72656c61792e6578616d706c652e636f6d" + "00000000"

    private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }
    private func read(_ hex: String) throws -> GroupData { try GroupData(encoded: self.bytes(hex)) }

    /// The example with another version and other bytes after its tenth field.
    private func version(_ version: String, _ rest: String = "") -> String {
        version + self.example.dropFirst(4) + rest
    }

    private func key(_ byte: UInt8) throws -> PublicKey { try PublicKey(bytes: [UInt8](repeating: byte, count: 32)) }

    @Test func workedExampleRoundTrips() throws {
        #expect(self.bytes(self.example).count == 102)
        let data = try self.read(self.example)
        #expect(data.name == "Test" && data.description.isEmpty && data.image == nil && data.disappearingSeconds == nil)
        #expect(data.nostrGroupIDHex == String(repeating: "11", count: 32))
        #expect(data.admins == [try self.key(0xAA)])
        #expect(data.relays.map(\.string) == ["wss://relay.example.com"])
        #expect(Hex.encode(data.encoded()) == self.example)
    }

    @Test func onlyVersionThreeHasATimer() throws {
        #expect(try self.read(self.version("0001")) == self.read(self.example))
        #expect(try self.read(self.version("0003", "08000000000000003c")).disappearingSeconds == 60)
        #expect(try self.read(self.version("0003", "00")).disappearingSeconds == nil)
        let timed = try self.read(self.version("0003", "08000000000000003c"))
        #expect(Hex.encode(timed.encoded()) == self.version("0003", "08000000000000003c"))
        #expect(Hex.encode(try self.read(self.version("0003", "00")).encoded()) == self.example)
    }

    @Test func keepsUnknownFieldsOfLaterVersions() throws {
        for rest in ["00", "00ff", "08000000000000003c010203"] {
            var data = try self.read(self.version("0007", rest))
            #expect(Hex.encode(data.encoded()) == self.version("0007", rest))
            data.name = "More"
            let again = try GroupData(encoded: data.encoded())
            #expect(again == data && again.name == "More")
        }
    }

    @Test(arguments: ["0001", "0002", "0003"])
    func refusesTrailingBytesUpToVersionThree(version: String) {
        let rest = version == "0003" ? "00" : ""
        expectError(.badGroupData, "follow after the end") { _ = try self.read(self.version(version, rest + "00ff")) }
    }

    @Test func refusesVersionZero() {
        expectError(.badGroupData, "version 0") { _ = try self.read(self.version("0000")) }
    }

    @Test(arguments: ["0002", "0003", "0004"])
    func refusesEveryTruncation(version: String) {
        let whole = self.bytes(self.version(version, version == "0002" ? "" : "08000000000000003c"))
        for length in 0..<whole.count {
            expectError(.badGroupData) { _ = try GroupData(encoded: Array(whole[..<length])) }
        }
    }

    @Test func refusesWrongFieldLengths() {
        let start = String(self.example.dropLast(8))
        let ff = { (count: Int) in String(repeating: "ff", count: count) }
        let badFields = [
            "1f" + ff(31) + "000000", "0020" + ff(32).dropLast(2) + "0000", "0021" + ff(33) + "0000",
            "00000b" + ff(11) + "00",
            "000020" + ff(32) + "00", "0000001f" + ff(31), "00000001ff",
        ]
        for field in badFields { expectError(.badGroupData) { _ = try self.read(start + field) } }
        // Admins that do not divide into keys, an inner vector longer than its outer one, a length that is not minimal.
        let head = "0002" + ff(32) + "0000"
        for rest in ["1f" + ff(31) + "0000000000", "00" + "02" + "0577" + "00000000", "4000" + "0000000000"] {
            expectError(.badGroupData) { _ = try self.read(head + rest) }
        }
        // The timer.
        expectError(.badGroupData, "is 0") { _ = try self.read(self.version("0003", "080000000000000000")) }
        expectError(.badGroupData) { _ = try self.read(self.version("0003", "040000003c")) }
        expectError(.badGroupData) { _ = try self.read(self.version("0003", "09000000000000003c00")) }
        expectError(.badGroupData) { _ = try self.read(self.version("0002", "08000000000000003c")) }
    }

    @Test func refusesInvalidUTF8AndRelays() {
        let head = "0002" + String(repeating: "11", count: 32)
        expectError(.badGroupData, "name is not UTF-8") { _ = try self.read(head + "01ff" + "000000" + "00000000") }
        expectError(.badGroupData, "description is not UTF-8") {
            _ = try self.read(head + "0002c328" + "0000" + "00000000")
        }
        for relay in ["http://relay.example", "wss://", "relay", "", "wss://a://b"] {
            let url = Hex.encode(Array(relay.utf8))
            let field = self.format(relay.utf8.count + 1) + self.format(relay.utf8.count) + url
            expectError(.badGroupData) { _ = try self.read(head + "0000" + "00" + field + "00000000") }
        }
    }

    private func format(_ length: Int) -> String { Hex.encode([UInt8(length)]) }

    @Test func writesAdminsAndRelaysSortedAndUnique() throws {
        var data = try self.read(self.example)
        data.admins = [try self.key(3), try self.key(1), try self.key(3), try self.key(2)]
        data.relays = try ["wss://b.example", "wss://a.example", "wss://b.example"].map { try RelayURL($0) }
        let again = try GroupData(encoded: data.encoded())
        #expect(again.admins == [try self.key(1), try self.key(2), try self.key(3)])
        #expect(again.relays.map(\.string) == ["wss://a.example", "wss://b.example"])
    }

    @Test func imageRequiresHashKeyAndNonce() throws {
        var data = try self.read(self.example)
        data.image = GroupImage(
            hash: [UInt8](repeating: 1, count: 32), key: [UInt8](repeating: 2, count: 32),
            nonce: [UInt8](repeating: 3, count: 12), uploadKey: [])
        #expect(try GroupData(encoded: data.encoded()) == data)
        let start = String(self.example.dropLast(8))
        let hash = "20" + String(repeating: "01", count: 32)
        #expect(try self.read(start + hash + "000000").image == nil)
    }

    @Test func refusesGroupDataPeersCannotStore() throws {
        func refused(_ what: String, _ change: (inout GroupData) throws -> Void) throws {
            var data = try self.read(self.example)
            try data.validateForWriting()
            try change(&data)
            expectError(.badGroupData, what) { try data.validateForWriting() }
        }
        try refused("name") { $0.name = String(repeating: "é", count: 128) }
        try refused("description") { $0.description = String(repeating: "x", count: 2001) }
        try refused("admins") { data in data.admins = try (0...100).map { try self.key($0) } }
        try refused("relays") { data in data.relays = try (0...100).map { try RelayURL("wss://\($0).example") } }
        try refused("relay's length") { data in
            data.relays = [try RelayURL("wss://a.example/" + String(repeating: "p", count: 500))]
        }
        try refused("timer") { $0.disappearingSeconds = 0 }
        try refused("image") { $0.image = GroupImage(hash: [1], key: [], nonce: [], uploadKey: []) }
    }
}
