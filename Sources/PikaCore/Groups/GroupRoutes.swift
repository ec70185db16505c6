import MLS
import Nostr

/// The groups that claim each routing id (`nostrGroupID`, the `h` tag).
///
/// Routing ids locate groups on the wire and never identify them: an admin can set any id, so several groups may claim
/// one.
struct GroupRoutes: Sendable {
    /// The maximum number of groups whose keys are tried on one event.
    static let maximumCandidates = 16

    /// The routing ids claimed by one group.
    private struct Claim: Sendable {
        var ids: [Bytes32]
        /// The time at which this account entered the group, by its own clock.
        var enteredAt: UnixTime
    }

    private var claims: [GroupID: Claim] = [:]
    /// Claimants by routing id, in the order in which this account entered them.
    private var claimants: [Bytes32: [GroupID]] = [:]

    /// Returns the groups that claim an id now or did recently.
    func groups(claiming id: Bytes32) -> [GroupID] { self.claimants[id] ?? [] }

    /// Returns the ids of a group, the current one first.
    func ids(of groupID: GroupID) -> [Bytes32] { self.claims[groupID]?.ids ?? [] }

    /// Returns the groups whose keys are tried on an event: active groups first, then by entry, so that a late claim
    /// cannot crowd out an early one.
    func candidates(for id: Bytes32, isActive: (GroupID) -> Bool) -> [GroupID] {
        let groups = self.groups(claiming: id)
        guard groups.count > 1 else { return groups }
        return Array((groups.filter(isActive) + groups.filter { !isActive($0) }).prefix(Self.maximumCandidates))
    }

    /// Returns the ids claimed by any group that satisfies the predicate, in order.
    func ids(where isIncluded: (GroupID) -> Bool) -> [Bytes32] {
        self.claimants.filter { $0.value.contains(where: isIncluded) }.map(\.key).sorted()
    }

    /// Replaces the claims of a group. Returns the ids that changed, and those that no group claims now.
    mutating func set(
        _ ids: [Bytes32], of groupID: GroupID, enteredAt: UnixTime
    ) -> (changed: Set<Bytes32>, released: Set<Bytes32>) {
        let before = Set(self.claims[groupID]?.ids ?? [])
        let after = Set(ids)
        self.claims[groupID] = Claim(ids: ids, enteredAt: enteredAt)
        for id in before.subtracting(after) {
            self.claimants[id]?.removeAll { $0 == groupID }
            if self.claimants[id]?.isEmpty == true { self.claimants[id] = nil }
        }
        for id in after.subtracting(before) {
            let groups = self.groups(claiming: id) + [groupID]
            self.claimants[id] = groups.sorted { self.rank($0) < self.rank($1) }
        }
        let changed = before.symmetricDifference(after)
        return (changed, changed.filter { self.claimants[$0] == nil })
    }

    private func rank(_ groupID: GroupID) -> (UnixTime, GroupID) { (self.claims[groupID]?.enteredAt ?? 0, groupID) }

    // MARK: References

    /// Returns the group that a user's reference names: an MLS group id in hex, or a routing id that only one group
    /// claims.
    ///
    /// Throws `AppCoreError.Code.unknownChat` and `AppCoreError.Code.ambiguousChat`.
    func group(named reference: String) throws(AppCoreError) -> GroupID {
        // An exact id takes precedence: otherwise another group's claim could make a chat unreachable.
        if let groupID = GroupID(hex: reference), self.claims[groupID] != nil { return groupID }
        let groups = Bytes32(hex: reference).map(self.groups(claiming:)) ?? []
        switch groups.count {
        case 0: throw AppCoreError(.unknownChat, "no chat has the id \(reference)")
        case 1: return groups[0]
        default: throw .ambiguousChat(reference, groups.map(ChatID.init(_:)))
        }
    }

    /// Returns the chat id for a stored one, which an earlier version may have taken from the routing id; the stored one
    /// itself unless it names exactly one group.
    func chatID(stored chatID: ChatID) -> ChatID {
        (try? self.group(named: chatID.rawValue)).map(ChatID.init(_:)) ?? chatID
    }
}

extension AppCoreError {
    static func ambiguousChat(_ reference: String, _ chatIDs: [ChatID]) -> AppCoreError {
        AppCoreError(
            .ambiguousChat,
            "\(chatIDs.count) groups claim the nostr_group_id \(reference); name the chat by its mls_group_id: "
                + chatIDs.map(\.rawValue).sorted().joined(separator: " or "))
    }
}
