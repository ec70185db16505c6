import Nostr
import Testing

@testable import PikaCore

@Suite struct RelaySelectionTests {
    private let own: [RelayURL]

    init() throws { self.own = try ["wss://home.example", "wss://other.example"].map { try RelayURL($0) } }

    private func relays(_ group: Int, _ count: Int) throws -> [RelayURL] {
        try (0..<count).map { try RelayURL("wss://r\($0).g\(group).example") }
    }

    @Test func ownRelaysComeFirstAndEachOnce() throws {
        let group = try self.relays(1, 3)
        let selection = RelaySelection(own: self.own + self.own, ofGroups: [group + self.own, group])
        #expect(selection.relays == self.own + group)
        #expect(selection.ignored == 0)
    }

    @Test func limitsRelaysOfOneGroup() throws {
        let selection = RelaySelection(own: self.own, ofGroups: [try self.relays(1, 500)])
        #expect(selection.relays.count == 2 + RelaySelection.perGroup)
        #expect(selection.ignored == 500 - RelaySelection.perGroup)
    }

    @Test func limitsRelaysOfAllGroups() throws {
        let selection = RelaySelection(own: self.own, ofGroups: try (1...20).map { try self.relays($0, 100) })
        #expect(selection.relays.count == 2 + RelaySelection.ofGroups)
        #expect(selection.ignored == 20 * 100 - RelaySelection.ofGroups)
    }

    @Test func largeRelayListLeavesRoomForOthers() throws {
        let small = try (2...30).map { try self.relays($0, 2) }
        let selection = RelaySelection(own: self.own, ofGroups: [try self.relays(1, 5000)] + small)
        #expect(Set(small.joined()).isSubset(of: selection.relays))
        #expect(selection.relays.count == 2 + RelaySelection.ofGroups)
    }

    @Test func groupKeepsTheRelaysOfTheAccount() throws {
        let list = try self.relays(1, 300) + self.own
        let kept = RelaySelection.relays(ofGroup: list, own: self.own)
        #expect(kept.count == RelaySelection.perGroup)
        #expect(kept.prefix(2) == self.own[...])
    }
}
