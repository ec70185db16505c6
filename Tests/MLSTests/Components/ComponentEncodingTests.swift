import TLSCodec
import Testing

@testable import MLS

/// Encodings of the MLS extensions draft, byte for byte.
struct ComponentEncodingTests {
    private func bytes(_ hex: String) throws -> [UInt8] {
        try #require(HexBytes.decode(hex.filter { $0 != " " }))
    }

    private func code(_ body: () throws -> Void) -> TLSCodecError.Code? {
        do {
            try body()
            return nil
        } catch let error as TLSCodecError { return error.code } catch { return nil }
    }

    private func encoding(_ entry: Extension) -> String { hex(entry.tlsEncoded()) }

    @Test func extensionHasTwoLengthHeaders() throws {
        #expect(self.encoding(AppDataDictionary().asExtension) == "00060100")
        #expect(self.encoding(AppDataDictionary([.lastResortKeyPackage: []]).asExtension) == "00060403000400")
        #expect(hex(AppDataDictionary([.safeAAD: [0]]).tlsEncoded()) == "0400020100")
    }

    @Test func dictionaryKeepsAscendingOrder() throws {
        let list = ComponentsList([0x8003, 0x0001, 0x800C, 0x8001, 0x8009, 0x8001])
        #expect(list.components.map(\.description) == ["0x0001", "0x8001", "0x8003", "0x8009", "0x800c"])
        var dictionary = AppDataDictionary([0x8009: [UInt8](repeating: 7, count: 104)])
        dictionary[.appComponents] = list.tlsEncoded()
        // The leaf of a recorded key package, except for the data of 0x8009.
        let encoded = self.encoding(dictionary.asExtension)
        #expect(encoded.hasPrefix("0006407c407a00010b0a0001800180038009800c80094068"))
        #expect(encoded.utf8.count == 2 * (2 + 2 + 124))
        #expect(try AppDataDictionary(tlsEncoded: dictionary.tlsEncoded()) == dictionary)
        #expect(try dictionary.list(of: .appComponents) == list)
        #expect(try dictionary.list(of: .contentMediaTypes) == nil)
        dictionary[.safeAAD] = [0]
        dictionary[.safeAAD] = [0, 1]
        dictionary[0x8009] = nil
        dictionary[0x9000] = nil
        #expect(dictionary.entries.map(\.component) == [.appComponents, .safeAAD])
        #expect(dictionary[.safeAAD] == [0, 1])
    }

    @Test func refusesUnsortedOrRepeatedEntries() throws {
        for text in ["06 8001 00 8001 00", "06 8002 00 8001 00", "09 8001 00 8003 00 8002 00"] {
            #expect(self.code { _ = try AppDataDictionary(tlsEncoded: self.bytes(text)) } == .invalidValue)
            #expect(self.code { _ = try SafeAAD(tlsEncoded: self.bytes(text)) } == .invalidValue)
        }
        for text in ["04 8001 8001", "04 8002 8001", "06 0001 8002 8001"] {
            #expect(self.code { _ = try ComponentsList(tlsEncoded: self.bytes(text)) } == .invalidValue)
        }
        #expect(self.code { _ = try ComponentsList(tlsEncoded: self.bytes("03 8001 80")) } == .unevenVector)
    }

    @Test func refusesTruncatedAndTrailingBytes() throws {
        let dictionary = try self.bytes("07 8001 04 01020304")
        for count in 0..<dictionary.count {
            #expect(throws: TLSCodecError.self) { try AppDataDictionary(tlsEncoded: Array(dictionary[..<count])) }
        }
        #expect(self.code { _ = try AppDataDictionary(tlsEncoded: dictionary + [0]) } == .trailingBytes)
        #expect(self.code { _ = try ComponentsList(tlsEncoded: [2, 0, 1, 0]) } == .trailingBytes)
        // An entry may not cross the end of its vector, and headers have their shortest form.
        #expect(self.code { _ = try AppDataDictionary(tlsEncoded: self.bytes("05 8001 04 0102 0304")) } == .truncated)
        #expect(self.code { _ = try AppDataDictionary(tlsEncoded: self.bytes("4003 8001 00")) } == .nonMinimalLength)
        #expect(self.code { _ = try AppDataDictionary(tlsEncoded: self.bytes("bfffffff 8001 00")) } == .truncated)
        expectError(.malformed) {
            _ = try AppDataDictionary(in: [Extension(type: .appDataDictionary, data: dictionary + [0])])
        }
        expectError(.malformed) { _ = try AppDataDictionary([.appComponents: [1]]).list(of: .appComponents) }
        #expect(try AppDataDictionary(in: []) == nil)
    }

    @Test func safeAADIsVectorOfItems() throws {
        #expect(SafeAAD().tlsEncoded() == [0])
        let data = SafeAAD([0x8002: [9], 0x8001: []])
        #expect(hex(data.tlsEncoded()) == "078001008002" + "0109")
        #expect(try SafeAAD(tlsEncoded: data.tlsEncoded()) == data)
    }

    @Test func proposalsOfTheDraftRoundTrip() throws {
        let rename =
            "00088001011d" + "0d" + hex(Array("W24-H renamed".utf8)) + "0e" + hex(Array("renamed by MDK".utf8))
        let cases: [(String, Proposal)] = [
            ("0008800302", .appDataUpdate(AppDataUpdate(0x8003, .remove))),
            ("000880010100", .appDataUpdate(AppDataUpdate(0x8001, .update([])))),
            ("0009800502aabb", .appEphemeral(ComponentData(0x8005, [0xAA, 0xBB]))), ("000a", .selfRemove),
        ]
        for (text, proposal) in cases {
            #expect(try Proposal(tlsEncoded: self.bytes(text)) == proposal)
            #expect(hex(proposal.tlsEncoded()) == text)
        }
        let update = try Proposal(tlsEncoded: self.bytes(rename))
        #expect(hex(update.tlsEncoded()) == rename)
        #expect(update.type == 8 && !update.requiresPath && !update.isDefault)
    }

    @Test func refusesUnknownOperationAndProposal() throws {
        for operation in ["00", "03", "ff"] {
            #expect(self.code { _ = try Proposal(tlsEncoded: self.bytes("00088001\(operation)00")) } == .invalidValue)
        }
        #expect(self.code { _ = try Proposal(tlsEncoded: self.bytes("0008800102" + "00")) } == .trailingBytes)
        for type in ["0000", "000b", "0a0a", "f00d"] {
            #expect(self.code { _ = try Proposal(tlsEncoded: self.bytes(type + "0000")) } == .unknownType)
        }
    }

    /// A commit by MDK 0.11 that changes component 0x8001 in epoch 1, without a path.
    private static let rename =
        "0001000110e636b8b634d4b630ae1e141deafb6865000000000000000101000000000003240100088001011d0d5732342d482072656e61"
        + "6d65640e72656e616d6564206279204d444b004040ccfe7b210532976032ef67d4bdcc675f8bb57db39d3830be4d4ce131f54199f81c62"
        + "ddb9bfa265d5a61d3b774bc3e55d0b670917cf3220496644758be0a6e30920f50e08f0cf0e7b0d15022816843f704fa7242f78f9effc85"
        + "7fe87275cae59cd920608dba9c44f1bb68e0648165c6c443b7fd252e97f1c1e0e1e661d793fbbb6864"

    @Test func recordedCommitRoundTrips() throws {
        let bytes = try self.bytes(Self.rename)
        #expect(bytes.count == 206)
        guard case .publicMessage(let message) = try MLSMessage(bytes),
            case .commit(let commit) = message.authenticated.content.body,
            case .proposal(.appDataUpdate(let update))? = commit.proposals.first
        else {
            Issue.record("expected a commit with an AppDataUpdate")
            return
        }
        #expect(MLSMessage.publicMessage(message).tlsEncoded() == bytes)
        #expect(commit.proposals.count == 1 && commit.path == nil && update.component == 0x8001)
        #expect(message.authenticated.content.epoch == 1)
        #expect(message.authenticated.content.sender == .member(LeafIndex(0)))
        #expect(message.authenticated.content.authenticatedData.isEmpty)
        // Messages are told apart by this digest.
        #expect(
            hex(SHA256Derivation.digest(bytes)) == "ccd127d9440c1367ea9a7470ef6f451ead218c48dd1ca18a9902ae4810985527")
    }
}
