import Nostr
import Testing

@testable import MLS
@testable import Marmot

/// Identities that are not points on the curve (MIP-00); an inviter's group may contain such members.
struct IdentityTests {
    /// Returns 32 bytes that are not the x-coordinate of a curve point.
    private static func offCurveKey() throws -> PublicKey {
        let candidates = try (1...UInt8.max).map { try PublicKey(bytes: [UInt8](repeating: $0, count: 32)) }
        return try #require(candidates.first { !$0.isOnCurve })
    }

    /// Returns a group of two valid members and, between them, one with the returned off-curve identity, added without
    /// Marmot's checks.
    private func lab() throws -> (Lab, PublicKey) {
        var lab = try Lab(1)
        let bad = try Self.offCurveKey()
        let bundle = try KeyPackageBundle.generate(
            .x25519AES128GCM, credential: bad.credential, capabilities: MarmotProfile.mip.capabilities(using: &lab.rng),
            lifetime: Lifetime(notBefore: 0, notAfter: .max),
            signatureKey: try SignaturePrivateKey.generate(.x25519AES128GCM, using: &lab.rng), using: &lab.rng)
        let newcomer = try lab.newcomer()
        var request = CommitRequest()
        request.adding = [try bundle.keyPackage.verified(now: nil), newcomer.invitee.keyPackage]
        let commit = try lab.groups[0].mls.commit(request, using: &lab.rng)
        let welcomes = lab.groups[0].dueWelcomes(commit, [newcomer.invitee], client: Lab.client, now: lab.now)
        lab.groups[0].advance(to: commit.next, data: lab.groups[0].data)
        lab.keys.append(newcomer.keys)
        lab.groups.append(try Lab.join(newcomer, try #require(welcomes.first)))
        return (lab, bad)
    }

    @Test func invalidIdentitiesAreNotMembers() throws {
        let (lab, _) = try self.lab()
        #expect(lab.groups[1].mls.members.count == 3)
        for group in lab.groups { #expect(group.members == lab.keys.map(\.publicKey)) }
    }

    @Test func invalidIdentitiesAreNotAdmins() throws {
        var (lab, bad) = try self.lab()
        var data = lab.groups[0].data
        data.admins = [bad]
        let extensions = lab.groups[0].mls.extensions.map { entry in
            entry.type.rawValue == 0xF2EE ? Extension(type: entry.type, data: data.encoded()) : entry
        }
        let event = try lab.forge(by: 0) { $0.extensions = extensions }
        #expect(lab.deliver(event, to: 1).label == "refused/no_admin_left")
    }

    @Test func reportsOmitInvalidIdentities() throws {
        var (lab, bad) = try self.lab()
        let leaf = try #require(lab.groups[0].mls.members.first { $0.leaf.statedIdentity == bad }?.index)
        let event = try lab.forge(by: 0) { $0.removing = [leaf] }
        let report = try #require(lab.deliver(event, to: 1).report)
        #expect(report.removed.isEmpty && report.added.isEmpty && report.epochBefore.isFollowed(by: report.epochAfter))
        #expect(lab.groups[1].mls.members.count == 2)
    }
}
