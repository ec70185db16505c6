import MLS
import Marmot
import Nostr

/// The push tokens of members, by leaf, and this account's own (docs/protocol/marmot.md §7.5). Durable and bounded.
struct PushTokens: Sendable {
    /// The maximum number of routes of one leaf. An event that states more is refused.
    static let routesPerLeaf = 4
    /// The maximum number of routes in one group. An event beyond it is refused.
    static let routesPerGroup = 256
    /// The maximum number of routes in all groups, about 8 MB. An event beyond it is refused.
    static let routesPerAccount = 4_096
    /// The maximum length of a relay's URL in bytes. An event beyond it is refused.
    static let maximumRelayBytes = 256

    /// Seconds after which tokens are dropped unless they are stated again.
    static let lifetime: Int64 = 35 * 86_400
    /// Seconds after which this account's token is stated again: at a random time between these, before members drop it.
    static let refreshAge: Range<Int64> = 25 * 86_400..<34 * 86_400
    /// The registration number of this account's tokens that must be stated again; no registration has it.
    private static let outdated: Int64 = 0

    private var settings = PushSettings()
    private var groups: [GroupID: [LeafIndex: PushEntry]] = [:]
    /// The number of routes in all groups.
    private var count = 0
    /// Groups where this account's token must be shared or withdrawn.
    private(set) var unshared: Set<GroupID> = []

    /// Returns the known push tokens of a group's leaves.
    subscript(groupID: GroupID) -> [LeafIndex: PushEntry] { self.groups[groupID] ?? [:] }

    // MARK: Own token

    /// Whether members are notified of this account's messages.
    var notifies: Bool { self.settings.notifies }

    var registration: PushSettings.Registration? { self.settings.registration }

    mutating func setNotifies(_ notifies: Bool, _ step: inout CoreStep) {
        guard self.settings.notifies != notifies else { return }
        self.settings.notifies = notifies
        self.store(&step)
    }

    /// Replaces this account's token; false if it is registered already.
    mutating func register(
        _ device: DeviceToken, server: PublicKey, relay: RelayURL, _ step: inout CoreStep
    ) -> Bool {
        if let known = self.settings.registration, known.server == server, known.relay == relay,
            known.device == device
        {
            return false
        }
        self.settings.lastNumber = self.settings.lastNumber.clampedAdding(1)
        self.settings.registration = PushSettings.Registration(
            number: self.settings.lastNumber, server: server, relay: relay, device: device)
        self.store(&step)
        return true
    }

    /// Removes this account's token; false if there is none.
    mutating func unregister(_ step: inout CoreStep) -> Bool {
        guard self.settings.registration != nil else { return false }
        self.settings.registration = nil
        self.store(&step)
        return true
    }

    private func store(_ step: inout CoreStep) {
        step.changes.append(.putMemo(PushSettings.memoName, self.settings.memo))
    }

    /// Whether a group's members know the state of this account's token.
    func isShared(in groupID: GroupID, own leaf: LeafIndex) -> Bool {
        self.groups[groupID]?[leaf]?.registration == self.settings.registration?.number
    }

    mutating func markUnshared(_ groupID: GroupID) { self.unshared.insert(groupID) }

    /// Ends the attempt to share the token in a group, whether or not it succeeded.
    mutating func endSharing(in groupID: GroupID) { self.unshared.remove(groupID) }

    /// Records that this account's token was shared; nil if it was withdrawn.
    mutating func noteShared(
        _ route: PushRoute?, of leaf: LeafIndex, by account: PublicKey, in groupID: GroupID, _ step: inout CoreStep
    ) {
        guard let route, let number = self.settings.registration?.number else {
            return self.remove(leaf, in: groupID, &step)
        }
        self.put(
            PushEntry(member: account, routes: [route], isDirect: true, time: step.now, registration: number),
            of: leaf, in: groupID, &step)
    }

    /// Forgets that this account's token was shared: the members of another state of the group may not know it. A removed
    /// token must still be withdrawn, since they may know it.
    mutating func forgetSharing(in groupID: GroupID, _ step: inout CoreStep) {
        guard self.settings.registration != nil else { return }
        for (leaf, entry) in self[groupID] where entry.registration != nil { self.remove(leaf, in: groupID, &step) }
    }

    // MARK: Tokens of others

    /// Whether tokens are known or to be shared in a group, so that changes of its leaves matter.
    func concerns(_ groupID: GroupID) -> Bool {
        self.settings.registration != nil || self.groups[groupID] != nil
    }

    /// The number of leaves whose members have stated their routes, if the given one is among them.
    func holders(in groupID: GroupID, with leaf: LeafIndex) -> Int? {
        let holders = self[groupID].filter { $0.value.isDirect && !$0.value.routes.isEmpty }
        return holders[leaf] == nil ? nil : holders.count
    }

    /// Replaces the routes of a leaf by those that its member states; none withdraws them, which is remembered, so that
    /// other members' lists do not bring them back. Older statements are ignored, unless the clock was set back since.
    /// Relayed routes of other leaves make room. Returns false if that does not suffice.
    mutating func apply(
        _ routes: [PushRoute], of leaf: LeafIndex, by member: PublicKey, at time: UnixTime, in groupID: GroupID,
        _ step: inout CoreStep
    ) -> Bool {
        let known = self.groups[groupID]?[leaf]
        let latest = step.now + MessageTime.maximumLead
        if let known, known.member == member, known.isDirect, known.time > time, known.time <= latest { return true }
        guard Self.areShort(routes) else { return false }
        let relayed = self[groupID].filter { $0.key != leaf && !$0.value.isDirect }.keys.sorted()
        for other in relayed {
            if self.hasRoom(for: routes.count, insteadOf: known, in: groupID) { break }
            self.remove(other, in: groupID, &step)
        }
        guard self.hasRoom(for: routes.count, insteadOf: known, in: groupID) else { return false }
        self.put(
            PushEntry(member: member, routes: routes, isDirect: true, time: time), of: leaf, in: groupID, &step)
        return true
    }

    /// Adds a route that another member relays, unless the leaf's member has stated its routes itself. Returns false if
    /// there is no room.
    mutating func add(
        _ route: PushRoute, relayedFor leaf: LeafIndex, of member: PublicKey, at time: UnixTime, in groupID: GroupID,
        _ step: inout CoreStep
    ) -> Bool {
        let known = self.groups[groupID]?[leaf]
        let routes = known?.member == member ? known?.routes ?? [] : []
        if let known, known.member == member {
            guard !known.isDirect, !routes.contains(route) else { return true }
        }
        guard routes.count < Self.routesPerLeaf, Self.areShort([route]),
            self.hasRoom(for: routes.count + 1, insteadOf: known, in: groupID)
        else { return false }
        self.put(
            PushEntry(member: member, routes: routes + [route], isDirect: false, time: time), of: leaf, in: groupID,
            &step)
        return true
    }

    /// Removes the entries of leaves that are empty or that another account occupies now.
    mutating func keep(_ identities: [LeafIndex: PublicKey], in groupID: GroupID, _ step: inout CoreStep) {
        for (leaf, entry) in self[groupID].sorted(by: { $0.key < $1.key }) where identities[leaf] != entry.member {
            self.remove(leaf, in: groupID, &step)
        }
    }

    /// Removes the tokens that were not stated again in time. Returns the groups where this account's own is due to be
    /// stated again.
    @discardableResult
    mutating func expire(_ step: inout CoreStep) -> [GroupID] {
        var due: [GroupID] = []
        for groupID in self.groups.keys.sorted() {
            for (leaf, entry) in self[groupID].sorted(by: { $0.key < $1.key }) {
                let age = step.now.seconds(since: entry.time)
                if entry.registration == nil {
                    if age > Self.lifetime { self.remove(leaf, in: groupID, &step) }
                } else if age >= entry.refreshAge {
                    var entry = entry
                    entry.registration = Self.outdated
                    self.put(entry, of: leaf, in: groupID, &step)
                    due.append(groupID)
                }
            }
        }
        return due
    }

    private static func areShort(_ routes: [PushRoute]) -> Bool {
        routes.allSatisfy { $0.relay.string.utf8.count <= Self.maximumRelayBytes }
    }

    private func hasRoom(for count: Int, insteadOf known: PushEntry?, in groupID: GroupID) -> Bool {
        let added = count - (known?.routes.count ?? 0)
        guard added > 0 else { return true }
        let inGroup = self[groupID].values.reduce(0) { $0 + $1.routes.count }
        return inGroup + added <= Self.routesPerGroup && self.count + added <= Self.routesPerAccount
    }

    private mutating func put(
        _ entry: PushEntry, of leaf: LeafIndex, in groupID: GroupID, _ step: inout CoreStep
    ) {
        self.insert(entry, of: leaf, in: groupID)
        step.changes.append(.putMemo(PushEntry.memoName(groupID, leaf), entry.memo))
    }

    private mutating func insert(_ entry: PushEntry, of leaf: LeafIndex, in groupID: GroupID) {
        let replaced = self.groups[groupID, default: [:]].updateValue(entry, forKey: leaf)
        self.count += entry.routes.count - (replaced?.routes.count ?? 0)
    }

    private mutating func remove(_ leaf: LeafIndex, in groupID: GroupID, _ step: inout CoreStep) {
        guard let entry = self.groups[groupID]?.removeValue(forKey: leaf) else { return }
        if self.groups[groupID]?.isEmpty == true { self.groups[groupID] = nil }
        self.count -= entry.routes.count
        step.changes.append(.putMemo(PushEntry.memoName(groupID, leaf), nil))
    }

    // MARK: Restoring

    /// Restores the account's own settings; false if the memo is unreadable.
    mutating func restoreSettings(_ memo: Secret) -> Bool {
        guard let settings = PushSettings(memo: memo) else { return false }
        self.settings = settings
        return true
    }

    /// Restores the routes of a leaf; false if the memo is unreadable.
    mutating func restore(_ name: MemoName, _ memo: Secret) -> Bool {
        guard let place = PushEntry.place(name), let entry = PushEntry(memo: memo) else { return false }
        self.insert(entry, of: place.leaf, in: place.groupID)
        return true
    }
}
