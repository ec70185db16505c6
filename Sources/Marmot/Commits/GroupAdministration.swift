import MLS
import Nostr

/// Authorization of commits (MIP-01, docs/protocol/marmot.md §5.5), decided on the group data of the epoch before the
/// commit.
enum GroupAdministration {
    /// Throws unless the committer may make these changes and at least one admin remains a member.
    ///
    /// - Parameters:
    ///   - before: the group data before the commit.
    ///   - after: the group data after it.
    ///   - members: the identities stated by the leaves after the commit.
    static func authorize(
        _ changes: CommitChanges, before: GroupData, after: GroupData, members: Set<PublicKey>
    ) throws(MarmotError) {
        for proposed in changes.proposals {
            switch proposed.proposal {
            // V12.4.1-4: Marmot groups neither commit nor accept a ReInit.
            case .preSharedKey, .reInit, .externalInit, .appDataUpdate, .appEphemeral:
                throw MarmotError(.unsupportedProposal, "a commit holds a proposal of type \(proposed.proposal.type)")
            case .add, .update, .remove, .groupContextExtensions, .selfRemove: continue
            }
        }
        try self.requireFixedIdentities(changes)
        for member in changes.added { _ = try member.leaf.identity() }
        // V12.2-11: Only admins commit more than their own keys.
        let committer = try changes.committerLeaf.identity()
        guard before.isAdmin(committer) || self.isAllowedForNonAdmins(changes) else {
            throw MarmotError(.notAdmin, "a non-admin committed more than its own key update (MIP-03)")
        }
        guard after.admins.contains(where: { members.contains($0) && $0.isOnCurve }) else {
            throw MarmotError(.noAdminLeft, "the commit would leave no admin (MIP-01)")
        }
    }

    /// Returns whether the commit is a pure self-update, or contains only SelfRemoves.
    private static func isAllowedForNonAdmins(_ changes: CommitChanges) -> Bool {
        if !changes.proposals.isEmpty, changes.proposals.allSatisfy({ $0.proposal == .selfRemove }) { return true }
        return changes.proposals.allSatisfy { proposed in
            if case .update = proposed.proposal { proposed.sender == changes.committer } else { false }
        }
    }

    /// Throws if a member's identity changes (MIP-00).
    private static func requireFixedIdentities(_ changes: CommitChanges) throws(MarmotError) {
        for update in changes.updated where update.old.credential != update.new.credential {
            throw MarmotError(.identityMismatch, "leaf \(update.index) changes its identity (MIP-00)")
        }
    }
}
