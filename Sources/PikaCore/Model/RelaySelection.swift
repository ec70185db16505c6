import Marmot
import Nostr

/// Selects the relays that an account connects to: its own, and a bounded number of those that its groups name.
///
/// A group's founder and admins choose its relays, and each relay costs every member a connection. Relays that the
/// account uses anyway come first and do not count towards the limit; then the first of every group, the second of
/// every group, and so on, so that a group with many relays does not crowd out the others.
struct RelaySelection: Sendable, Hashable {
    /// The maximum per group, as for a group's own list (``Marmot/GroupData/maximumRelays``).
    static let perGroup = GroupData.maximumRelays
    /// The maximum for all groups together, besides the account's own relays.
    static let ofGroups = 128

    let relays: [RelayURL]
    /// The number of group relays that were left out.
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

    /// Returns the relays of a group to use, those of the account first.
    static func relays(ofGroup relays: [RelayURL], own: [RelayURL]) -> [RelayURL] {
        guard relays.count > Self.perGroup else { return relays }
        let known = relays.filter(own.contains)
        return Array((known + relays.filter { !own.contains($0) }).prefix(Self.perGroup))
    }
}
