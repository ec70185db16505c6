import Nostr

/// The limits on pending invitations, which anyone can send.
enum InviteBudget {
    static let standard = ParkingBudget(events: 200, bytes: 16 << 20)

    /// Returns the invitation to drop: the oldest one of the inviter with the largest share; nil within the budget.
    ///
    /// - Parameter invites: in the order of arrival.
    static func surplus(_ invites: [StoredInvite], budget: ParkingBudget = Self.standard) -> StoredInvite? {
        var usage: [PublicKey: (bytes: Int, count: Int)] = [:]
        var total = 0
        for invite in invites {
            let bytes = invite.parkedBytes
            total += bytes
            usage[invite.rumor.pubkey, default: (0, 0)].bytes += bytes
            usage[invite.rumor.pubkey, default: (0, 0)].count += 1
        }
        guard invites.count > budget.events || total > budget.bytes else { return nil }
        let isLong = invites.count > budget.events
        var victim: (invite: StoredInvite, rank: (Int, Int))?
        for invite in invites {
            let use = usage[invite.rumor.pubkey] ?? (0, 0)
            let rank = isLong ? (use.count, use.bytes) : (use.bytes, use.count)
            if victim.map({ rank > $0.rank }) ?? true { victim = (invite, rank) }
        }
        return victim?.invite
    }
}

extension StoredInvite {
    fileprivate var parkedBytes: Int {
        self.rumor.tags.reduce(256 + self.rumor.content.utf8.count) { sum, tag in
            tag.values.reduce(sum) { $0 + 16 + $1.utf8.count }
        }
    }
}
