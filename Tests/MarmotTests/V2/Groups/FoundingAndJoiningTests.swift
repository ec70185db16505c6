import LiveTesting
import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

struct FoundingAndJoiningTests {
    private func expectFailure(
        _ check: JoinCheck, _ code: MarmotError.Code, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        do {
            try body()
            Issue.record("expected a failure of \(check)", sourceLocation: sourceLocation)
        } catch let failure as JoinFailure {
            #expect(failure.check == check, "\(failure)", sourceLocation: sourceLocation)
            #expect(failure.error == MarmotError(code, ""), "\(failure)", sourceLocation: sourceLocation)
        } catch {
            Issue.record("unexpected error \(error)", sourceLocation: sourceLocation)
        }
    }

    // MARK: Founding

    @Test func foundedGroupStartsAtEpochOne() throws {
        var lab = try ComponentLab(4, admins: [0, 2])
        for group in lab.groups {
            #expect(group.epoch == 1 && group.joinEpoch <= 1 && group.name == "Lab")
            #expect(group.mls.extensions.map(\.type) == [.requiredCapabilities, .appDataDictionary])
            #expect(Set(group.members) == Set(lab.keys.map(\.publicKey)))
        }
        #expect(lab.groups[2].isAdmin && !lab.groups[1].isAdmin)
        try lab.expectAgreement()
    }

    @Test func soloGroupStaysAtEpochZero() throws {
        var lab = try ComponentLab(1)
        #expect(lab.groups[0].epoch == 0 && lab.groups[0].members == [lab.keys[0].publicKey])
        try lab.add(try lab.newcomer(), by: 0)
        try lab.expectAgreement()
    }

    @Test func bareGroupRequiresLess() throws {
        var lab = try ComponentLab(2, bare: true)
        #expect(lab.groups[1].state.streams == nil && lab.groups[1].state.media == nil)
        #expect(lab.groups[1].state.required.proposals == [8])
        try lab.expectAgreement()
    }

    @Test func departuresCanBeRequiredAlone() throws {
        var lab = try ComponentLab(1)
        let newcomer = try lab.newcomer()
        var plan = GroupPlan(
            profile: try GroupProfileState(name: "A"), admins: try AdminPolicy([lab.keys[0].publicKey]),
            routing: try ComponentLab.routing(1), features: .bare, requiresDepartures: true)
        let founded = try ComponentGroup.found(
            plan, by: lab.devices[0], inviting: [newcomer.invitee], now: lab.now, using: &lab.rng)
        #expect(founded.group.state.required.proposals == [8, 10])
        let joined = try ComponentLab.join(newcomer, try #require(founded.welcomes.first))
        #expect(joined.group.state == founded.group.state)
        plan.requiresDepartures = false
        #expect(plan.requirement == .bare)
    }

    @Test func refusesInconsistentPlans() throws {
        var lab = try ComponentLab(1)
        let newcomer = try lab.newcomer()
        var plan = GroupPlan(
            profile: try GroupProfileState(name: "A"), admins: try AdminPolicy([newcomer.keys.publicKey]),
            routing: try ComponentLab.routing(1), features: .bare)
        expectError(.notAdmin) {
            _ = try ComponentGroup.found(
                plan, by: lab.devices[0], inviting: [newcomer.invitee], now: lab.now, using: &lab.rng)
        }
        plan.admins = try AdminPolicy([lab.keys[0].publicKey, newcomer.keys.publicKey])
        expectError(.notFound) {
            _ = try ComponentGroup.found(plan, by: lab.devices[0], inviting: [], now: lab.now, using: &lab.rng)
        }
        expectError(.incompatible) {
            _ = try ComponentGroup.found(
                plan, by: lab.devices[0], inviting: [newcomer.invitee, newcomer.invitee], now: lab.now,
                using: &lab.rng)
        }
        plan.features = .whiteNoise(try ComponentLab.media())
        let engine = try ComponentInvitee(
            examining: V2Vectors.event(V2Vectors.engineKeyPackage), now: ComponentInviteeTests.recorded)
        plan.admins = try AdminPolicy([lab.keys[0].publicKey])
        expectError(.incompatible, "\(engine.identity.hex.prefix(8)) lacks extension 0xf2d1") {
            _ = try ComponentGroup.found(plan, by: lab.devices[0], inviting: [engine], now: lab.now, using: &lab.rng)
        }
    }

    @Test func tellsSizeBeforeAnythingIsSent() throws {
        var lab = try ComponentLab(1)
        let newcomer = try lab.newcomer()
        let plan = GroupPlan(
            profile: try GroupProfileState(name: "A"), admins: try AdminPolicy([lab.keys[0].publicKey]),
            routing: try ComponentLab.routing(1), features: .bare)
        expectError(.tooLarge) {
            _ = try ComponentGroup.found(
                plan, by: lab.devices[0], inviting: [newcomer.invitee], limits: SizeLimits(relayEventBytes: 2000),
                now: lab.now, using: &lab.rng)
        }
    }

    @Test func welcomeHasOwnSecretsOnly() throws {
        var lab = try ComponentLab(1)
        let newcomers = [try lab.newcomer(), try lab.newcomer()]
        let staged = try lab.stage(.add(newcomers.map(\.invitee)), by: 0)
        #expect(staged.welcomes.count == 2)
        for (newcomer, welcome) in zip(newcomers, staged.welcomes) {
            let invitation = try WelcomeInvitation(welcome.rumor)
            #expect(invitation.welcome.secrets.map(\.newMember) == [newcomer.bundle.keyPackage.reference])
            #expect(welcome.rumor.tags.map(\.name) == ["e", "relays"])
            let joined = try ComponentLab.join(newcomer, welcome)
            #expect(joined.inviter == lab.keys[0].publicKey)
            #expect(invitation.relays.map(\.string) == ComponentLab.relays)
        }
        let other = try #require(staged.welcomes.last)
        self.expectFailure(.keyPackage, .notForUs) { _ = try ComponentLab.join(newcomers[0], other) }
    }

    // MARK: Joining

    @Test func refusesKnownGroups() throws {
        var lab = try ComponentLab(2)
        let newcomer = try lab.newcomer()
        let welcome = try #require(try lab.stage(.add([newcomer.invitee]), by: 0).welcomes.first)
        let id = lab.groups[0].groupID
        self.expectFailure(.group, .alreadyJoined) {
            _ = try ComponentLab.join(newcomer, welcome, known: KnownGroups(active: [id]))
        }
        self.expectFailure(.group, .disbanded) {
            _ = try ComponentLab.join(newcomer, welcome, known: KnownGroups(disbanded: [id], active: [id]))
        }
        // The key package is still usable.
        #expect(try ComponentLab.join(newcomer, welcome).group.groupID == id)
    }

    /// The Welcome of a commit by `member` that no rule was applied to.
    private func welcome(
        _ lab: inout ComponentLab, for newcomer: ComponentLab.Newcomer, by member: Int = 0,
        _ change: (inout CommitRequest) throws -> Void = { _ in }
    ) throws -> DueWelcome {
        var request = CommitRequest()
        request.adding = [newcomer.invitee.keyPackage]
        try change(&request)
        var mls = lab.groups[member].mls
        let bytes = try #require(try mls.commit(request, using: &lab.rng).welcome)
        return DueWelcome(
            recipient: newcomer.keys.publicKey,
            rumor: try WelcomeInvitation.rumor(
                bytes, keyPackageEvent: newcomer.invitee.event, relays: lab.groups[0].relayURLs,
                from: lab.keys[member].publicKey, now: lab.now))
    }

    @Test func inviterMustBeAdmin() throws {
        var lab = try ComponentLab(2)
        let newcomer = try lab.newcomer()
        let byMember = try self.welcome(&lab, for: newcomer, by: 1)
        self.expectFailure(.inviter, .notAdmin) { _ = try ComponentLab.join(newcomer, byMember) }
        let byAdmin = try self.welcome(&lab, for: newcomer)
        #expect(try ComponentLab.join(newcomer, byAdmin).inviter == lab.keys[0].publicKey)
    }

    @Test func stateMustBeValid() throws {
        var lab = try ComponentLab(2)
        let newcomer = try lab.newcomer()
        let invalid = try self.welcome(&lab, for: newcomer) { $0.appDataUpdates = [.setting(.profile, [1])] }
        self.expectFailure(.state, .badComponent) { _ = try ComponentLab.join(newcomer, invalid) }
        let ended = try self.welcome(&lab, for: newcomer) { $0.appDataUpdates = [.setting(.lifecycle, [1])] }
        self.expectFailure(.state, .disbanded) { _ = try ComponentLab.join(newcomer, ended) }
        let policy = try AdminPolicy([lab.keys[0].publicKey, KeyPair.generate(using: &lab.rng).publicKey]).encoded
        let stranger = try self.welcome(&lab, for: newcomer) { $0.appDataUpdates = [.setting(.adminPolicy, policy)] }
        self.expectFailure(.admins, .noAdminLeft) { _ = try ComponentLab.join(newcomer, stranger) }
    }

    @Test func clientMustSupportRequiredRoles() throws {
        var lab = try ComponentLab(2)
        let newcomer = try lab.newcomer()
        let streams = try AgentTextStream(required: [.receive, .send]).encoded
        let welcome = try self.welcome(&lab, for: newcomer) {
            $0.appDataUpdates = [.setting(.agentTextStream, streams)]
        }
        self.expectFailure(.support, .incompatible) { _ = try ComponentLab.join(newcomer, welcome) }
        // Members accept the same state from a commit.
        let commit = try lab.forge(by: 0) { $0.appDataUpdates = [.setting(.agentTextStream, streams)] }
        #expect(try lab.groups[1].judging(commit, now: nil).after.streams?.required == [.receive, .send])
    }

    @Test func leavesMustBeProven() throws {
        var lab = try ComponentLab(2)
        let newcomer = try lab.newcomer()
        let extensions = lab.devices[1].leafExtensions
        let welcome = try self.welcome(&lab, for: newcomer) { $0.leafExtensions = extensions }
        self.expectFailure(.leaves, .badProof) { _ = try ComponentLab.join(newcomer, welcome) }
        let good = try self.welcome(&lab, for: newcomer)
        self.expectFailure(.leaves, .identityMismatch) {
            _ = try ComponentGroup.join(
                WelcomeInvitation(good.rumor), with: newcomer.bundle, account: lab.keys[0].publicKey,
                known: KnownGroups())
        }
    }

    @Test func welcomeOfFirstGenerationIsRefused() throws {
        var first = try Lab(2)
        let newcomer = try first.newcomer()
        let staged = try first.groups[0].commit(
            .add([newcomer.invitee]), client: Lab.client, now: first.now, using: &first.rng)
        let welcome = try #require(staged.welcomes.first)
        do {
            _ = try ComponentGroup.join(
                WelcomeInvitation(welcome.rumor), with: newcomer.bundle, account: newcomer.keys.publicKey,
                known: KnownGroups())
            Issue.record("expected a failure")
        } catch let failure as JoinFailure {
            #expect([.leaves, .tree, .secrets].contains(failure.check), "\(failure)")
        }
    }
}
