import MLS
import Marmot
import Nostr

/// A group of this account in either generation, with the properties that all reducers read. Changes are made in place,
/// by generation: ``Groups/subscript(first:)`` and ``Groups/subscript(second:)``.
enum AccountGroup: Sendable {
    case first(MarmotGroup)
    case second(ConvergingGroup)

    /// The group, if it is of the first generation.
    var first: MarmotGroup? { if case .first(let group) = self { group } else { nil } }

    /// The group, if it is of the second generation.
    var second: ConvergingGroup? { if case .second(let group) = self { group } else { nil } }

    var generation: GroupGeneration {
        switch self {
        case .first: .v1
        case .second: .v2
        }
    }

    var groupID: GroupID {
        switch self {
        case .first(let group): group.groupID
        case .second(let group): group.groupID
        }
    }

    /// The current epoch; in the second generation that of the selected branch.
    var epoch: Epoch {
        switch self {
        case .first(let group): group.epoch
        case .second(let group): group.tip.epoch
        }
    }

    /// The state that all members share. In the second generation without a picture, which has other forms there: see
    /// ``picture``.
    var data: GroupData {
        switch self {
        case .first(let group): group.data
        case .second(let group): group.data
        }
    }

    /// The pictures of a group of the second generation; the public one takes precedence.
    var picture: (avatar: AvatarURL?, image: BlossomImage.Reference?) {
        switch self {
        case .first: (nil, nil)
        case .second(let group): group.tip.picture
        }
    }

    /// The members' accounts in leaf order, each once.
    var members: [PublicKey] {
        switch self {
        case .first(let group): group.members
        case .second(let group): group.tip.members
        }
    }

    /// The account of every leaf.
    var identities: [LeafIndex: PublicKey] {
        switch self {
        case .first(let group): group.identities
        case .second(let group): group.tip.identities
        }
    }

    /// This account's own leaf.
    var ownLeaf: LeafIndex {
        switch self {
        case .first(let group): group.ownLeaf
        case .second(let group): group.tip.ownLeaf
        }
    }

    /// Whether this account is a member, and the group accepts changes.
    var isActive: Bool {
        switch self {
        case .first(let group): group.isActive
        case .second(let group): group.isActive
        }
    }

    var isAdmin: Bool {
        switch self {
        case .first(let group): group.isAdmin
        case .second(let group): group.tip.isAdmin
        }
    }

    /// Returns whether an account was an admin in an epoch; nil if that is no longer known.
    func wasAdmin(_ account: PublicKey, in epoch: Epoch) -> Bool? {
        switch self {
        case .first(let group): group.data(inEpoch: epoch)?.isAdmin(account)
        case .second(let group): group.tip.wasAdmin(account, in: epoch)
        }
    }

    /// Other public ids that events may carry: former ones, and in the second generation those of other branches.
    var formerNostrGroupIDs: [Bytes32] {
        switch self {
        case .first(let group): group.formerNostrGroupIDs
        case .second(let group): group.otherNostrGroupIDs
        }
    }

    /// Relays on which events may arrive, those of the current state first; in the second generation also those of earlier
    /// epochs and of other branches.
    var readRelays: [RelayURL] {
        switch self {
        case .first(let group): group.data.relays
        case .second(let group): group.readRelays
        }
    }

    /// Keys with which the outer layer of events is tried.
    var outerKeyRing: OuterKeyRing {
        switch self {
        case .first(let group): group.outerKeyRing
        case .second(let group): group.outerKeyRing
        }
    }

    /// Returns whether one of the group's keys opens an event.
    func opens(_ event: Event) -> Bool {
        switch self {
        case .first(let group): group.opens(event)
        case .second(let group): group.opens(event)
        }
    }

    /// Returns the secret of the files of an epoch; nil if it is unknown. The first generation knows the current epoch's
    /// only.
    func mediaSecret(of epoch: Epoch) -> Secret? {
        switch self {
        case .first(let group): epoch == group.epoch ? EncryptedMedia.secret(group) : nil
        case .second(let group): group.tip.mediaSecret(of: epoch)
        }
    }

    /// The secret of the files of the current epoch.
    var mediaSecret: Secret {
        switch self {
        case .first(let group): EncryptedMedia.secret(group)
        case .second(let group): group.tip.currentMediaSecret
        }
    }

    /// Number of past epochs whose messages can be read, and whose commits may still be undone.
    var pastEpochs: Int {
        switch self {
        case .first(let group): group.profile.pastEpochs
        case .second(let group): group.tip.profile.pastEpochs
        }
    }

    // MARK: Own commits and departures

    /// The events of this account's commits that may still become part of the history.
    var ownCommits: Set<EventID> {
        switch self {
        case .first(let group):
            let parts = group.parts.compactMap { if case .ownCommit(let event) = $0 { event } else { nil as EventID? } }
            return Set(parts + [group.pending?.event.id].compactMap { $0 })
        case .second(let group): return Set(group.ownCommits.map(\.event.id))
        }
    }

    /// The event of this account's commit that no relay has confirmed yet.
    var pendingEvent: EventID? {
        switch self {
        case .first(let group): group.pending?.event.id
        case .second(let group): group.pending?.event.id
        }
    }

    var hasPendingCommit: Bool { self.pendingEvent != nil }

    /// Members that proposed their departure, which this account may commit.
    var dueDepartures: [PublicKey] {
        switch self {
        case .first(let group): group.dueDepartures
        case .second(let group): group.dueDepartures
        }
    }

    /// Whether this account proposed its departure in this epoch.
    var isLeaving: Bool {
        switch self {
        case .first(let group): group.isLeaving
        case .second(let group): group.tip.isLeaving
        }
    }

    /// Whether members leave by a SelfRemove; in the first generation because the group requires it.
    var requiresSelfRemove: Bool {
        switch self {
        case .first(let group): group.requiresSelfRemove
        case .second: true
        }
    }
}
