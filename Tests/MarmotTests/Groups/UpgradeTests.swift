import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

/// The upgrade of a group with members of older clients (docs/protocol/marmot.md §3.2).
struct UpgradeTests {
    @Test func upgradesMixedGroupAfterKeyRenewal() throws {
        var lab = try Lab(3, capabilities: Lab.oldCapabilities)
        let names = [1, 2].map { lab.keys[$0].publicKey.hex.prefix(8) }
        #expect(lab.groups[0].membersWithoutSelfRemove == [1, 2].map { lab.keys[$0].publicKey }.sorted())
        let before = lab.groups[0].contents
        for name in names { expectError(.incompatible, "\(name)") { _ = try lab.commit(.upgrade, by: 0) } }
        #expect(lab.groups[0].contents == before && lab.groups[0].pending == nil)
        for member in 1...2 { try lab.change(.selfUpdate, by: member) }
        #expect(lab.groups[0].membersWithoutSelfRemove.isEmpty && !lab.groups[0].requiresSelfRemove)
        expectError(.notAdmin) { _ = try lab.commit(.upgrade, by: 1) }
        try lab.change(.upgrade, by: 0)
        for group in lab.groups {
            #expect(group.mls.extensions.map(\.type.rawValue) == [0xF2EE, 3] && group.requiresSelfRemove)
            #expect(group.mls.extensions.data(of: .requiredCapabilities) == [2, 0xF2, 0xEE, 2, 0, 0x0A, 0])
            #expect(group.data.name == "Lab")
        }
        expectError(.unchanged) { _ = try lab.commit(.upgrade, by: 0) }
        try lab.expectAgreement()
        // From now on members without SelfRemove are refused, and members leave by SelfRemove.
        let old = try lab.newcomer(capabilities: Lab.oldCapabilities)
        expectError(.incompatible) { _ = try lab.commit(.add([old.invitee]), by: 0) }
        let leave = try lab.groups[2].leave(now: lab.now, using: &lab.rng)
        #expect(lab.deliver(leave, to: 1).label == "proposal/commit_due")
    }

    @Test func upgradeKeepsOtherRequirements() throws {
        var lab = try Lab(2, capabilities: Lab.oldCapabilities)
        try lab.change(.selfUpdate, by: 1)
        let data = lab.groups[0].mls.extensions.filter { $0.type.rawValue == 0xF2EE }
        let bare = try lab.forge(by: 0) { $0.extensions = data }
        #expect(lab.deliver(bare, to: 1).label == "commit" && lab.groups[1].mls.extensions.count == 1)
        lab.groups[1].data.admins.append(lab.keys[1].publicKey)
        let upgraded = try lab.groups[1].upgradedExtensions()
        #expect(upgraded.map(\.type.rawValue) == [0xF2EE, 3])
        #expect(
            upgraded.data(of: .requiredCapabilities).flatMap { try? RequiredCapabilities(tlsEncoded: $0) }
                == RequiredCapabilities(extensions: [0xF2EE], proposals: [0x000A]))
    }
}
