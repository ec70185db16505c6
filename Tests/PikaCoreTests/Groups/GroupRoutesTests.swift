import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct GroupRoutesTests {
    private let a: GroupID = [1]
    private let b: GroupID = [2]

    private static func id(_ byte: UInt8) throws -> Bytes32 {
        try #require(Bytes32([UInt8](repeating: byte, count: 32)))
    }

    @Test func keepsEveryClaim() throws {
        var routes = GroupRoutes()
        let (one, two) = (try Self.id(1), try Self.id(2))
        #expect(routes.set([one], of: self.a, enteredAt: 5).changed == [one])
        #expect(routes.set([two], of: self.b, enteredAt: 3).released.isEmpty)
        #expect(routes.set([two, one], of: self.a, enteredAt: 5).changed == [two])
        #expect(routes.groups(claiming: two) == [self.b, self.a], "the group entered first must come first")
        #expect(routes.ids(of: self.a) == [two, one] && routes.ids { $0 == self.a } == [one, two])
        let (changed, released) = routes.set([two], of: self.a, enteredAt: 5)
        #expect(changed == [one] && released == [one])
        #expect(routes.set([], of: self.b, enteredAt: 3).released.isEmpty)
        #expect(routes.groups(claiming: two) == [self.a])
    }

    @Test func boundsCandidatesActiveOnesFirst() throws {
        var routes = GroupRoutes()
        let id = try Self.id(7)
        for byte in UInt8(1)...40 {
            // Groups with low ids were entered last: an attacker can choose its id.
            _ = routes.set([id], of: [byte], enteredAt: 100 - Int64(byte))
        }
        let candidates = routes.candidates(for: id) { $0 != [40] }
        #expect(candidates.count == GroupRoutes.maximumCandidates)
        #expect(candidates.first == [39] && !candidates.contains([40]) && !candidates.contains([1]))
        #expect(routes.candidates(for: id) { $0 == [3] }.first == [3])
        #expect(routes.candidates(for: try Self.id(8)) { _ in true }.isEmpty)
    }

    @Test func resolvesReferencesOfOneGroupOnly() throws {
        var routes = GroupRoutes()
        let (one, two) = (try Self.id(1), try Self.id(2))
        _ = routes.set([one], of: self.a, enteredAt: 0)
        _ = routes.set([two], of: self.b, enteredAt: 0)
        #expect(try routes.group(named: "01") == self.a && routes.group(named: one.hex.uppercased()) == self.a)
        let claimed = ChatID(rawValue: two.hex)
        #expect(routes.chatID(stored: claimed) == "02" && routes.chatID(stored: "02") == "02")
        _ = routes.set([two, one], of: self.a, enteredAt: 0)
        let error = #expect(throws: AppCoreError.self) { try routes.group(named: two.hex) }
        #expect(error?.code == .ambiguousChat && error?.message.hasSuffix("mls_group_id: 01 or 02") == true)
        #expect(try routes.group(named: one.hex) == self.a && routes.group(named: "02") == self.b)
        #expect(routes.chatID(stored: claimed) == claimed)
        for unknown in ["", "03", "x", String(repeating: "7", count: 64)] {
            #expect(throws: AppCoreError(.unknownChat, "no chat has the id \(unknown)")) {
                try routes.group(named: unknown)
            }
        }
    }

    @Test func exactIDTakesPrecedenceOverClaims() throws {
        var routes = GroupRoutes()
        let id = try Self.id(9)
        let victim = GroupID(id.bytes)
        _ = routes.set([try Self.id(1)], of: victim, enteredAt: 9)
        _ = routes.set([id], of: self.a, enteredAt: 0)
        #expect(try routes.group(named: id.hex) == victim)
    }
}
