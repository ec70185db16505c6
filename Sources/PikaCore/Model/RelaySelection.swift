import Marmot
import Nostr

/// Chooses the relays that an account connects to: its own, and a bounded number of those that its groups name.
///
/// A group's founder and admins choose its relays, and each relay costs every member a connection. Relays that the
/// account uses anyway come first and count for nothing; then the first of every group, the second of every group, and
/// so on, so that a group with many leaves the others theirs.
struct RelaySelection: Sendable, Hashable {
    /// As many as a group may be given (``Marmot/GroupData/maximumRelays``).
    static let perGroup = GroupData.maximumRelays
    /// Of all groups together, besides the account's own.
    static let ofGroups = 128

    let relays: [RelayURL]
    /// How many relays of groups were left out.
    let ignored: Int

    init(own: [RelayURL], ofGroups groups: [[RelayURL]]) {
        var seen: Set<RelayURL> = []
        let first = own.filter { seen.insert($0).inserted }
        let lists = groups.map { Self.relays(ofGroup: $0, own: own) }
        var chosen: [RelayURL] = []
        for position in 0..<(lists.map(\.count).max() ?? 0) where chosen.count < Self.ofGroups {
            for list in lists where position < list.count && chosen.count < Self.ofGroups {
                if seen.insert(list[position]).inserted { chosen.append(list[position]) }
            }
        }
        self.relays = first + chosen.sorted()
        self.ignored = Set(groups.joined()).subtracting(self.relays).count
    }

    /// The relays of a group that are used, those of the account first.
    static func relays(ofGroup relays: [RelayURL], own: [RelayURL]) -> [RelayURL] {
        guard relays.count > Self.perGroup else { return relays }
        let known = relays.filter(own.contains)
        return Array((known + relays.filter { !own.contains($0) }).prefix(Self.perGroup))
    }
}
