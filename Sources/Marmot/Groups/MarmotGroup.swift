public import MLS
public import Nostr

/// One account's view of a Marmot group, as a value: the MLS group, its Nostr side and the state for race resolution.
public struct MarmotGroup: Sendable {
    /// Protocol generation of the group.
    public let profile: MarmotProfile
    /// The MLS group in its current epoch.
    public internal(set) var mls: MLSGroup {
        _read { yield self.sharedMLS.value }
        _modify { yield &self.sharedMLS.value }
    }
    private var sharedMLS: CopyOnWrite<MLSGroup>
    /// The current epoch's group data.
    public internal(set) var data: GroupData
    /// Nostr public key of the account.
    public let account: PublicKey
    /// Keys of the outer encryption by epoch: the current and a few past ones.
    var outerKeys: [Epoch: Secret]
    /// Undo information for recent commits, in case a better commit for their epoch arrives; few, newest last.
    var snapshots: [RaceSnapshot] = []
    /// This account's own commit that no relay has confirmed yet.
    public internal(set) var pending: OwnCommit?
    /// This account's abandoned commits that may have reached a relay; bounded, oldest first.
    var shelved: [ShelvedCommit] = []
    /// The branch abandoned last for a better commit, until ``popAbandoned()`` removes it; at most one.
    var abandoned: [MarmotGroup] = []
    /// Stored parts that changed since the last ``drainChanges()``.
    var changedParts: Set<GroupPart> = []
    /// False once this member has been removed.
    public internal(set) var isActive = true
    /// The group's last few former public ids; late events may still carry them.
    public internal(set) var formerNostrGroupIDs: [Bytes32] = []
    var headerChanged = true
    var sendingClock = SendingClock()
    /// Members' identities known to be on the curve; each check costs a square root.
    private var knownPoints: Set<PublicKey> = []

    /// MLS group id, which relays never see and which never changes.
    public var groupID: GroupID { self.mls.groupID }
    /// Current epoch.
    public var epoch: Epoch { self.mls.epoch }
    /// Whether this account is an admin of the group.
    public var isAdmin: Bool { self.data.isAdmin(self.account) }

    /// The members' identities in leaf order, each once; a member may have several leaves.
    public var members: [PublicKey] {
        var seen: Set<PublicKey> = []
        return self.mls.members.compactMap(\.leaf.statedIdentity).filter {
            (self.knownPoints.contains($0) || $0.isOnCurve) && seen.insert($0).inserted
        }
    }

    /// Returns a member's identity, or throws `MarmotError.Code.badCredential`. A known key is not checked again.
    func identity(of leaf: LeafNode) throws(MarmotError) -> PublicKey {
        if let stated = leaf.statedIdentity, self.knownPoints.contains(stated) { return stated }
        return try leaf.identity()
    }

    /// The stated identity of every leaf, whether or not it is a point on the curve.
    package var identities: [LeafIndex: PublicKey] {
        var identities: [LeafIndex: PublicKey] = [:]
        for (index, leaf) in self.mls.members { identities[index] = leaf.statedIdentity }
        return identities
    }

    /// This account's own leaf.
    package var ownLeaf: LeafIndex { self.mls.ownLeafIndex }

    init(_ mls: MLSGroup, account: PublicKey, profile: MarmotProfile) throws(MarmotError) {
        self.profile = profile
        self.sharedMLS = CopyOnWrite(mls)
        self.account = account
        self.data = try Self.data(mls.extensions, profile)
        self.outerKeys = [mls.epoch: profile.outerKey(mls)]
        self.knownPoints = Set(self.members)
    }

    static func data(_ extensions: [Extension], _ profile: MarmotProfile) throws(MarmotError) -> GroupData {
        guard let bytes = extensions.data(of: profile.groupDataExtension) else {
            throw MarmotError(.badGroupData, "the group has no extension 0xf2ee (MIP-01)")
        }
        return try GroupData(encoded: bytes)
    }

    /// Advances to the next epoch and drops outer keys beyond the window.
    mutating func advance(to next: MLSGroup, data: GroupData) {
        if data.nostrGroupID != self.data.nostrGroupID { self.rememberGroupID(before: data.nostrGroupID) }
        self.mls = next
        self.knownPoints = Set(self.members)
        self.data = data
        self.outerKeys[next.epoch] = self.profile.outerKey(next)
        let oldest = next.epoch.earlier(by: self.profile.pastEpochs)
        self.outerKeys = self.outerKeys.filter { $0.key >= oldest }
        self.dropShelved { $0.epoch < oldest }
        self.headerChanged = true
    }

    /// Keeps the public id that is being replaced while events with it can still be opened: for as many epochs as outer
    /// keys are kept.
    private mutating func rememberGroupID(before new: Bytes32) {
        let old = self.data.nostrGroupID
        let others = self.formerNostrGroupIDs.filter { $0 != new && $0 != old }
        self.formerNostrGroupIDs = Array((others + [old]).suffix(self.profile.pastEpochs))
    }

    func requireActive() throws(MarmotError) {
        guard self.isActive else { throw MarmotError(.inactive, "this account is no longer a member of the group") }
    }

    /// Encrypts an inner event for the group, consuming a message key. Returns the kind 445 event.
    ///
    /// - Parameters:
    ///   - rumor: an event by this account; its JSON includes its id.
    ///   - expiration: when relays may delete the event; the group's timer may make it earlier.
    public mutating func seal(
        _ rumor: UnsignedEvent, expiration: UnixTime? = nil, now: UnixTime, using rng: inout some RandomNumberGenerator
    ) throws -> Event {
        try self.requireActive()
        guard rumor.pubkey == self.account else {
            throw MarmotError(.identityMismatch, "an inner event's author must be the sending account (MIP-03)")
        }
        let json = rumor.rumorJSON()
        guard json.count <= ApplicationMessages.maximumBytes else {
            throw MarmotError(
                .tooLarge,
                "the message has \(json.count) bytes, peers store at most \(ApplicationMessages.maximumBytes)")
        }
        let message = try self.mls.protect(json, using: &rng)
        return try self.sealOuter(
            message, expiration: self.data.wrapperExpiration(createdAt: now, requested: expiration),
            at: self.sendingClock.messageTime(now: now), using: &rng)
    }

    /// - Parameter time: the event's time, from ``sendingClock``.
    func sealOuter(
        _ message: [UInt8], expiration: UnixTime? = nil, at time: UnixTime, using rng: inout some RandomNumberGenerator
    ) throws -> Event {
        try GroupEvents.seal(
            message, key: self.outerKeys[self.epoch] ?? self.profile.outerKey(self.mls),
            nostrGroupID: self.data.nostrGroupID, expiration: expiration, now: time, using: &rng)
    }
}
