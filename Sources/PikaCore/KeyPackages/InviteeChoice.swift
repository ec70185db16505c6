import Marmot
import Nostr

/// The choice of a group's generation and of the peers that can be invited to it, by the key packages that a search found.
struct InviteeChoice: Sendable {
    let invitees: ChosenInvitees
    /// The peers that cannot be invited, with the reasons.
    let left: [PublicKey: KeyPackageVerdict]

    /// Throws `AppCoreError.Code.noKeyPackage` or `AppCoreError.Code.noRelay`, naming the peers and their missing generation,
    /// if some peers cannot be invited and the action does not proceed without them.
    init(
        _ peers: [PublicKey], _ findings: [PublicKey: KeyPackageFinding], _ groupProtocol: GroupProtocol,
        proceedsWithout: Bool
    ) throws(AppCoreError) {
        let generation: GroupGeneration
        switch groupProtocol {
        case .v1: generation = .v1
        case .v2: generation = .v2
        case .auto: generation = try Self.generation(for: peers, findings, proceedsWithout: proceedsWithout)
        }
        self.left = Self.lacking(generation, findings)
        if !proceedsWithout, !self.left.isEmpty { throw Self.failure(of: self.left, among: peers) }
        switch generation {
        case .v1: self.invitees = .first(peers.compactMap { findings[$0]?.first?.package })
        case .v2:
            var seen: Set<PublicKey> = []
            let peers = peers.filter { seen.insert($0).inserted }
            self.invitees = .second(peers.compactMap { findings[$0]?.second?.package })
        }
    }

    /// Returns the generation of a new group, as ``GroupProtocol/auto`` states it.
    private static func generation(
        for peers: [PublicKey], _ findings: [PublicKey: KeyPackageFinding], proceedsWithout: Bool
    ) throws(AppCoreError) -> GroupGeneration {
        let lackingFirst = self.lacking(.v1, findings)
        let lackingSecond = self.lacking(.v2, findings)
        if lackingSecond.isEmpty || proceedsWithout && lackingSecond.count <= lackingFirst.count { return .v2 }
        if lackingFirst.isEmpty || proceedsWithout { return .v1 }
        let helpless = lackingFirst.keys.filter { lackingSecond[$0] != nil }
        guard helpless.isEmpty else {
            // These peers can be invited to no group at all.
            throw self.failure(
                of: findings.filter { helpless.contains($0.key) }.mapValues(\.verdict), among: peers)
        }
        throw AppCoreError(
            .noKeyPackage,
            "no protocol generation suits all peers; v2: \(self.text(lackingSecond, among: peers)); "
                + "v1: \(self.text(lackingFirst, among: peers))",
            peers: lackingSecond.merging(lackingFirst) { second, _ in second })
    }

    private static func lacking(
        _ generation: GroupGeneration, _ findings: [PublicKey: KeyPackageFinding]
    ) -> [PublicKey: KeyPackageVerdict] {
        findings.mapValues { $0.verdict(in: generation) }.filter { !$0.value.isUsable }
    }

    static func failure(of verdicts: [PublicKey: KeyPackageVerdict], among peers: [PublicKey]) -> AppCoreError {
        let isUnknown = verdicts.values.allSatisfy { $0 == .noRelayAnswered }
        return AppCoreError(
            isUnknown ? .noRelay : .noKeyPackage, "no usable key package of \(self.text(verdicts, among: peers))",
            peers: verdicts)
    }

    private static func text(_ verdicts: [PublicKey: KeyPackageVerdict], among peers: [PublicKey]) -> String {
        var seen: Set<PublicKey> = []
        let reasons = peers.filter { seen.insert($0).inserted }.compactMap { peer in
            verdicts[peer].map { "\(peer.npub): \($0)" }
        }
        return reasons.joined(separator: "; ")
    }
}
