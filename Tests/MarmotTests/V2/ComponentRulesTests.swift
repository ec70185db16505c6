import MLS
import Nostr
import Testing

@testable import Marmot

struct ComponentRulesTests {
    /// Splits the dictionary of a recorded GroupContext: each entry is an id, a length and the data.
    private func entries(_ hex: String) throws -> [(id: UInt16, data: [UInt8])] {
        let bytes = try V2Vectors.bytes(hex)
        // Extension 0x0003 has a short length, 0x0006 two lengths of two bytes.
        var rest = bytes[(3 + Int(bytes[2]))...].dropFirst(6)
        var entries: [(id: UInt16, data: [UInt8])] = []
        while rest.count > 3 {
            let id = UInt16(rest.removeFirst()) << 8 | UInt16(rest.removeFirst())
            var count = Int(rest.removeFirst())
            if count >= 0x40 { count = (count & 0x3F) << 8 | Int(rest.removeFirst()) }
            entries.append((id, Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        #expect(rest.isEmpty)
        return entries
    }

    @Test(arguments: [V2Vectors.engineContext, V2Vectors.appContext])
    func acceptsRecordedGroups(hex: String) throws {
        let entries = try self.entries(hex)
        #expect(entries.map(\.id).first == 0x0001 && entries.map(\.id).last == 0x800C)
        for entry in entries { try ComponentRules.validate(id: entry.id, data: entry.data) }
        // The list is a vector of 16-bit ids.
        let list = try #require(entries.first).data.dropFirst()
        let required = stride(from: list.startIndex, to: list.endIndex, by: 2).map {
            UInt16(list[$0]) << 8 | UInt16(list[$0 + 1])
        }
        try ComponentRules.validate(required: required)
        for component in KnownComponent.allCases
        where component.isGroupState && component != .list && required.contains(component.rawValue) {
            #expect(entries.contains { $0.id == component.rawValue }, "\(component)")
        }
    }

    @Test func permissionsFollowTheTable() {
        let table: [(UInt16, ComponentRules.Permission, ComponentRules.Permission)] = [
            (0x0001, .admin, .never), (0x0002, .never, .never), (0x8001, .admin, .adminUnlessRequired),
            (0x8002, .admin, .adminUnlessRequired), (0x8003, .admin, .never), (0x8004, .admin, .adminUnlessRequired),
            (0x8005, .admin, .adminUnlessRequired), (0x8006, .admin, .adminUnlessRequired),
            (0x8007, .admin, .adminUnlessRequired), (0x8008, .never, .withoutEffect), (0x8009, .never, .never),
            (0x800B, .admin, .adminUnlessRequired), (0x800C, .lifecycle, .never),
            (0x0004, .adminUnlessRequired, .adminUnlessRequired), (0x800F, .adminUnlessRequired, .adminUnlessRequired),
        ]
        for (id, update, removal) in table {
            #expect(ComponentRules.update(of: id) == update, "\(id)")
            #expect(ComponentRules.removal(of: id) == removal, "\(id)")
        }
    }

    @Test func keepsUnknownEntriesAndRefusesForbiddenOnes() throws {
        try ComponentRules.validate(id: 0x800A, data: [1, 2, 3])
        try ComponentRules.validate(id: 0x0004, data: [])
        for id: UInt16 in [0x0002, 0x8008, 0x8009] {
            expectError(.badComponent, "not allowed") { try ComponentRules.validate(id: id, data: []) }
        }
        for id: UInt16 in [0x8001, 0x8002, 0x8003, 0x8004, 0x8005, 0x8006, 0x8007, 0x800B, 0x800C] {
            expectError(.badComponent) { try ComponentRules.validate(id: id, data: [0xFF, 0xFF, 0xFF]) }
        }
    }

    @Test func requiredComponentsMustBeKnown() throws {
        try ComponentRules.validate(required: [0x8003, 0x8009])
        expectError(.badComponent, "0x8009") { try ComponentRules.validate(required: [0x8003]) }
        expectError(.badComponent, "0x8003") { try ComponentRules.validate(required: [0x8009]) }
        expectError(.badComponent, "0x8008") { try ComponentRules.validate(required: [0x8003, 0x8008, 0x8009]) }
        expectError(.incompatible, "0x800f") { try ComponentRules.validate(required: [0x8003, 0x8009, 0x800F]) }
        #expect(!KnownComponent.accountProof.needsStateIfRequired && KnownComponent.routing.needsStateIfRequired)
    }

    @Test func recognisesGenerationsOfGroups() throws {
        func generation(
            _ extensions: [UInt16], _ required: [UInt16] = [], _ components: [UInt16]? = nil
        ) throws -> ProtocolGeneration? {
            try ProtocolGeneration.ofGroup(
                extensions: extensions, requiredExtensions: required, requiredComponents: components)
        }
        #expect(try generation([0xF2EE, 3], [0xF2EE]) == .mip)
        #expect(try generation([3, 6], [6], [0x8003, 0x8009]) == .components)
        #expect(try generation([3, 6], [6, 0xF2F1], [0x8003]) == .legacy)
        #expect(try generation([3, 6], [6], [0x8003]) == nil)
        #expect(try generation([3]) == nil)
        expectError(.hybridProfile) { _ = try generation([0xF2EE, 3, 6], [6], [0x8003, 0x8009]) }
        expectError(.hybridProfile) { _ = try generation([3, 6], [6, 0xF2F1], [0x8003, 0x8009]) }
        expectError(.legacyProfile) { try ProtocolGeneration.legacy.requireSupported() }
        try ProtocolGeneration.components.requireSupported()
    }

    @Test func recognisesGenerationsOfEvents() throws {
        #expect(ProtocolGeneration(keyPackage: [0, 1, 0, 1, 0x20]) == .mip)
        #expect(ProtocolGeneration(keyPackage: [0, 1, 0, 5, 0, 1]) == .components)
        for bytes: [UInt8] in [[], [0, 1, 0], [0, 1, 0, 3], [0, 2, 0, 1]] {
            #expect(ProtocolGeneration(keyPackage: bytes) == nil)
        }
        let (e, relays) = (Tag("e", "00"), Tag("relays", "wss://a.example"))
        #expect(ProtocolGeneration(welcomeTags: [e, relays]) == .components)
        #expect(ProtocolGeneration(welcomeTags: [relays, e, Tag("encoding", "base64")]) == .mip)
        #expect(ProtocolGeneration(welcomeTags: [e]) == nil)
        #expect(ProtocolGeneration(groupEventTags: [Tag("h", "00")]) == .components)
        #expect(ProtocolGeneration(groupEventTags: [Tag("h", "00"), Tag("encoding", "base64")]) == .mip)
    }
}
