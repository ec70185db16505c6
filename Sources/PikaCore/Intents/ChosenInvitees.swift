import Marmot
import Nostr

/// The accounts to invite to a group, with their key packages of the group's generation.
enum ChosenInvitees: Sendable {
    case first([Invitee])
    case second([ComponentInvitee])

    var generation: GroupGeneration {
        switch self {
        case .first: .v1
        case .second: .v2
        }
    }

    var identities: [PublicKey] {
        switch self {
        case .first(let invitees): invitees.map(\.identity)
        case .second(let invitees): invitees.map(\.identity)
        }
    }

    /// The invitees of a group of the first generation; empty for another.
    func firsts(among peers: [PublicKey]) -> [Invitee] {
        guard case .first(let invitees) = self else { return [] }
        return invitees.filter { peers.contains($0.identity) }
    }

    /// The invitees of a group of the second generation; empty for another.
    func seconds(among peers: [PublicKey]) -> [ComponentInvitee] {
        guard case .second(let invitees) = self else { return [] }
        return invitees.filter { peers.contains($0.identity) }
    }
}
