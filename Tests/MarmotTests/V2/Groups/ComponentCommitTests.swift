import LiveTesting
import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

/// Own operations, judged by the other members.
struct ComponentCommitTests {
    private func types(_ staged: StagedComponentCommit, _ lab: ComponentLab) throws -> [UInt16] {
        let message = try lab.message(staged.message)
        var types: [UInt16] = []
        for case .proposal(let proposal) in message.proposals ?? [] { types.append(proposal.type) }
        return types
    }

    private func hasPath(_ staged: StagedComponentCommit, _ lab: ComponentLab) throws -> Bool {
        try lab.message(staged.message).pathLeaf != nil
    }

    @Test func settingsNeedNoPath() throws {
        var lab = try ComponentLab(3, admins: [0, 1])
        let image = try BlossomImage.Reference(
            hash: try V2Vectors.bytes32(String(repeating: "ab", count: 32)),
            key: Secret([UInt8](repeating: 1, count: 32)), nonce: [UInt8](repeating: 2, count: 12),
            uploadKey: Secret([UInt8](repeating: 3, count: 32)),
            type: try CanonicalMediaType(canonical: "image/png"))
        let changes: [ComponentChange] = [
            .profile(try GroupProfileState(name: "Renamed", description: "")), .image(image),
            .avatar(try AvatarURL(url: "https://img.example.com/a.png")), .retention(seconds: 60),
            .routing(try ComponentLab.routing(0x33, relays: ["wss://relay.three.example"])),
            .admins(try AdminPolicy([lab.keys[0].publicKey, lab.keys[1].publicKey, lab.keys[2].publicKey])),
            .avatar(nil), .image(nil), .retention(seconds: 0),
        ]
        for change in changes {
            let staged = try lab.commit(change, by: 0)
            #expect(try self.types(staged, lab) == [8] && !self.hasPath(staged, lab))
            #expect(staged.judged.priority == .privileged && staged.event.tags.map(\.name) == ["h"])
            expectError(.unchanged) { _ = try lab.stage(change, by: 0) }
        }
        let group = lab.groups[2]
        #expect(group.name == "Renamed" && group.description == "" && group.retentionSeconds == 0 && group.isAdmin)
        #expect(group.relays == ["wss://relay.three.example"] && group.picture.avatar == nil)
        try lab.expectAgreement()
    }

    @Test func rowsTellChanges() throws {
        var lab = try ComponentLab(3)
        let actor = lab.keys[0].publicKey
        let renamed = try lab.commit(.profile(GroupProfileState(name: "B", description: "of members")), by: 0)
        #expect(renamed.judged.rows == [.init(change: .renamed(to: "B", from: "Lab"), actor: actor)])
        let described = try lab.commit(.profile(GroupProfileState(name: "B", description: "new")), by: 0)
        #expect(described.judged.rows.isEmpty)
        let timed = try lab.commit(.retention(seconds: 60), by: 0)
        #expect(timed.judged.rows == [.init(change: .retentionChanged(to: 60, from: 0), actor: actor)])
        let promoted = try lab.commit(.admins(AdminPolicy([actor, lab.keys[1].publicKey])), by: 0)
        #expect(promoted.judged.rows == [.init(change: .adminAdded(lab.keys[1].publicKey), actor: actor)])
        let pictured = try lab.commit(.avatar(AvatarURL(url: "https://img.example.com/a.png")), by: 0)
        #expect(pictured.judged.rows == [.init(change: .pictureChanged, actor: actor)])
        let removed = try lab.commit(.remove([lab.keys[1].publicKey]), by: 0)
        #expect(
            removed.judged.rows == [
                .init(change: .memberRemoved(lab.keys[1].publicKey), actor: actor),
                .init(change: .adminRemoved(lab.keys[1].publicKey), actor: actor),
            ])
    }

    @Test func membersComeAndGo() throws {
        var lab = try ComponentLab(3, admins: [0, 1])
        let newcomer = try lab.newcomer()
        try lab.add(newcomer, by: 1)
        #expect(lab.groups[3].joinEpoch == 2 && lab.groups[3].members.count == 4)
        expectError(.incompatible) { _ = try lab.stage(.add([newcomer.invitee]), by: 1) }
        let staged = try lab.commit(.remove([lab.keys[2].publicKey]), by: 0)
        #expect(try self.types(staged, lab) == [3] && self.hasPath(staged, lab))
        #expect(staged.judged.removed == [lab.keys[2].publicKey] && staged.judged.left.isEmpty)
        try lab.expectAgreement()
    }

    @Test func removedAdminLosesRoleInSameCommit() throws {
        var lab = try ComponentLab(3, admins: [0, 1])
        let staged = try lab.commit(.remove([lab.keys[1].publicKey]), by: 0)
        #expect(try self.types(staged, lab) == [8, 3])
        #expect(lab.groups[0].admins == [lab.keys[0].publicKey])
        try lab.expectAgreement()
    }

    @Test func removedAccountMayReturn() throws {
        var lab = try ComponentLab(3)
        let staged = try lab.commit(.remove([lab.keys[2].publicKey]), by: 0)
        #expect(staged.judged.removed.count == 1)
        let bundle = try lab.devices[2].keyPackage(now: lab.now, using: &lab.rng)
        let event = try DeviceKey.announcement(of: bundle.keyPackage, slot: ComponentLab.slot)
            .draft(by: lab.keys[2].publicKey, now: lab.now).signed(by: lab.keys[2], using: &lab.rng)
        let returning = ComponentLab.Newcomer(
            keys: lab.keys[2], device: lab.devices[2], bundle: bundle,
            invitee: try ComponentInvitee(examining: event, now: lab.now))
        let welcome = try #require(try lab.commit(.add([returning.invitee]), by: 0).welcomes.first)
        lab.groups[2] = try ComponentLab.join(returning, welcome).group
        try lab.expectAgreement()
    }

    @Test func selfUpdateKeepsSignatureKey() throws {
        var lab = try ComponentLab(3)
        let before = lab.groups[1].mls.ownLeaf
        let device = lab.devices[1]
        let staged = try lab.commit(.selfUpdate(device), by: 1)
        #expect(try self.types(staged, lab).isEmpty && self.hasPath(staged, lab))
        let after = lab.groups[1].mls.ownLeaf
        #expect(after.signatureKey == before.signatureKey && after.encryptionKey != before.encryptionKey)
        try lab.expectAgreement()
    }

    @Test func otherDeviceKeyLeavesProof() throws {
        var lab = try ComponentLab(3)
        let before = lab.groups[1].mls.ownLeaf
        // The device's key was lost and replaced: the leaf keeps its own key and proof.
        let other = try DeviceKey.generate(for: lab.keys[1], now: lab.now, using: &lab.rng)
        try lab.commit(.selfUpdate(other), by: 1)
        let after = lab.groups[1].mls.ownLeaf
        #expect(after.signatureKey == before.signatureKey && after.encryptionKey != before.encryptionKey)
        #expect(after.extensions == before.extensions)
        try lab.expectAgreement()
    }

    @Test func adminDemotesItselfAndLeaves() throws {
        var lab = try ComponentLab(3, admins: [0, 1])
        expectError(.adminStays) { _ = try lab.groups[1].leave(now: lab.now, using: &lab.rng) }
        try lab.commit(.selfDemote, by: 1)
        #expect(!lab.groups[1].isAdmin)
        let departure = try lab.groups[1].leave(now: lab.now, using: &lab.rng)
        expectError(.unchanged) { _ = try lab.groups[1].leave(now: lab.now, using: &lab.rng) }
        expectError(.inactive) { _ = try lab.say("more", from: 1) }
        expectError(.inactive) { _ = try lab.stage(.selfUpdate(nil), by: 1) }
        _ = try lab.groups[2].admit(lab.open(departure.event, at: 2))
        _ = try lab.groups[0].admit(lab.open(departure.event, at: 0))
        // An unrelated commit ends the epoch; the departure must be proposed anew.
        try lab.commit(.profile(GroupProfileState(name: "B")), by: 0)
        #expect(!lab.groups[1].isLeaving && lab.groups[2].dueDepartures.isEmpty)
        let again = try lab.groups[1].leave(now: lab.now, using: &lab.rng)
        #expect(again.epoch == departure.epoch.next)
        _ = try lab.groups[2].admit(lab.open(again.event, at: 2))
        _ = try lab.groups[0].admit(lab.open(again.event, at: 0))
        try lab.commit(.commitDepartures, by: 2)
        #expect(lab.groups[0].members.count == 2)
        try lab.expectAgreement()
    }

    @Test func lastAdminStays() throws {
        var lab = try ComponentLab(2)
        expectError(.noAdminLeft) { _ = try lab.stage(.selfDemote, by: 0) }
        expectError(.incompatible) { _ = try lab.stage(.remove([lab.keys[0].publicKey]), by: 0) }
        expectError(.notAdmin) { _ = try lab.stage(.remove([lab.keys[0].publicKey]), by: 1) }
        expectError(.notFound) { _ = try lab.stage(.commitDepartures, by: 1) }
        var solo = try ComponentLab(1)
        expectError(.lastMember) { _ = try solo.groups[0].leave(now: solo.now, using: &solo.rng) }
    }

    @Test func disbandingIsOneCommit() throws {
        var lab = try ComponentLab(3)
        let staged = try lab.stage(.disband, by: 0)
        #expect(try self.types(staged, lab) == [8, 8, 3, 3] && self.hasPath(staged, lab))
        #expect(staged.judged.disbands)
        expectError(.notAdmin) { _ = try lab.stage(.disband, by: 1) }
    }

    @Test func oldGroupLearnsDisbanding() throws {
        var lab = try ComponentLab(1, bare: true)
        expectError(.unchanged) { _ = try lab.stage(.enableDisbanding, by: 0) }
        var dictionary = lab.groups[0].state.dictionary
        dictionary[KnownComponent.lifecycle.id] = nil
        dictionary[.appComponents] = ComponentsList([0x8001, 0x8003, 0x8004, 0x8009]).tlsEncoded()
        let extensions = [lab.groups[0].state.required.asExtension, dictionary.asExtension]
        let mls = try MLSGroup.create(
            groupID: [9], member: lab.devices[0].keyPackage(now: lab.now, using: &lab.rng), extensions: extensions,
            configuration: MarmotProfile.components.groupConfiguration, using: &lab.rng)
        lab.groups[0] = ComponentGroup(
            mls, try ComponentState(extensions), account: lab.keys[0].publicKey, joinEpoch: 0)
        try lab.add(try lab.newcomer(), by: 0)
        expectError(.incompatible) { _ = try lab.stage(.disband, by: 0) }
        let mixed = try lab.forge(by: 0) {
            $0.appDataUpdates = [
                .requiring([0x8001, 0x8003, 0x8004, 0x8009, 0x800C]), .setting(.lifecycle, [0]),
                .setting(.profile, [0, 0]),
            ]
        }
        let group = lab.groups[1]
        expectViolation(.lifecycleStart) { _ = try group.judging(mixed, now: nil) }
        let early = try lab.forge(by: 0) { $0.appDataUpdates = [.setting(.lifecycle, [0])] }
        expectViolation(.lifecycle) { _ = try group.judging(early, now: nil) }
        let staged = try lab.commit(.enableDisbanding, by: 0)
        #expect(try self.types(staged, lab) == [8, 8] && !self.hasPath(staged, lab))
        #expect(lab.groups[1].lifecycle == .active)
        #expect(try lab.stage(.disband, by: 0).judged.disbands)
    }

    @Test func routingChangeTravelsUnderOldID() throws {
        var lab = try ComponentLab(2)
        let old = lab.groups[0].nostrGroupID
        let late = try lab.say("late", from: 1)
        let staged = try lab.commit(.routing(ComponentLab.routing(0x44)), by: 0)
        #expect(staged.event.firstTag("h")?.value == old.hex)
        #expect(lab.groups[1].nostrGroupID != old && lab.groups[1].formerNostrGroupIDs == [old])
        #expect(try lab.read(late.event, at: 0).payload.get().event.content == "late")
        #expect(try lab.say("new", from: 0).event.firstTag("h")?.value == lab.groups[0].nostrGroupID.hex)
        // Going back forgets the id that is in use again.
        try lab.commit(.routing(NostrRouting(nostrGroupID: old, relays: ComponentLab.relays)), by: 0)
        #expect(lab.groups[1].nostrGroupID == old && !lab.groups[1].formerNostrGroupIDs.contains(old))
        // Former relays are kept even if the id stays.
        try lab.commit(.routing(NostrRouting(nostrGroupID: old, relays: ["wss://relay.four.example"])), by: 0)
        #expect(lab.groups[1].formerRoutings.last?.relays == ComponentLab.relays)
    }

    @Test func formerIDsAreBounded() throws {
        var lab = try ComponentLab(1)
        for number in 0..<40 {
            let staged = try lab.stage(.routing(ComponentLab.routing(UInt8(0x50 + number))), by: 0)
            lab.groups[0] = staged.next
        }
        #expect(lab.groups[0].formerNostrGroupIDs.count == ComponentGroup.maximumFormerRoutings)
        #expect(lab.groups[0].past.count == 5)
    }

    @Test func ownCommitIsNotReplayed() throws {
        var lab = try ComponentLab(2)
        let staged = try lab.stage(.selfUpdate(nil), by: 1)
        let commit = try lab.open(staged.event, at: 1)
        do {
            _ = try lab.groups[1].judging(commit, now: nil)
            Issue.record("expected a refusal")
        } catch HandshakeRefusal.own {}
        #expect(staged.judged.digest == commit.digest && staged.judged.priority == .ordinary)
        #expect(staged.judged.committer == lab.keys[1].publicKey && staged.judged.rows.isEmpty)
    }

    @Test func lowestProposalOfLeafIsCommitted() throws {
        var lab = try ComponentLab(3)
        // The same departure twice, with different authenticated data.
        var leaver = lab.groups[2].mls
        var messages: [GroupMessage] = []
        let variants: [[UInt8]] = [[], [1], [2]]
        for data in variants {
            let bytes = try leaver.propose(.selfRemove, authenticatedData: data, using: &lab.rng).message
            messages.append(try lab.message(bytes))
        }
        for message in messages { _ = try lab.groups[0].admit(message) }
        let lowest = try #require(messages.min { $0.digest < $1.digest })
        let due = lab.groups[0].dueDepartures
        #expect(due.count == 1)
        #expect(lab.groups[0].proposalDigests[try #require(due.first).reference] == lowest.digest)
    }

    @Test func pendingProposalsAreBounded() throws {
        var lab = try ComponentLab(3)
        var leaver = lab.groups[2].mls
        for number in 0...ComponentGroup.maximumProposals {
            let data = [UInt8(number)]
            let bytes = try leaver.propose(.selfRemove, authenticatedData: data, using: &lab.rng).message
            let message = try lab.message(bytes)
            guard number == ComponentGroup.maximumProposals else {
                _ = try lab.groups[0].admit(message)
                continue
            }
            do {
                _ = try lab.groups[0].admit(message)
                Issue.record("expected a refusal")
            } catch HandshakeRefusal.tooMany {}
        }
        #expect(lab.groups[0].mls.pendingProposals.count == ComponentGroup.maximumProposals)
    }
}
