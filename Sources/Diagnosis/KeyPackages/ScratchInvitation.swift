import Marmot
import Nostr
import ProbeReports

/// Creates an invitation as the core does, to a throwaway group.
enum ScratchInvitation {
    private static let name = "scratch"
    /// A group of the second generation that shares files names a server. Nothing is sent to it.
    private static let fileServer = "https://blossom.invalid/"

    /// Creates a group with the invitee under a temporary founder's key, and wraps the Welcome; nothing of it is stored
    /// or sent. Returns nil unless the key package is valid.
    static func attempt(
        _ package: ExaminedKeyPackage, relays: [RelayURL], now: UnixTime, using rng: inout some RandomNumberGenerator
    ) -> TrialInvitation? {
        guard let invitee = package.invitee else { return nil }
        var tried = TrialInvitation(
            event: package.event.id, kind: package.event.kind, supportsSelfRemove: invitee.supportsSelfRemove)
        do {
            let founder = KeyPair.generate(using: &rng)
            let due =
                switch invitee {
                case .first(let invitee): try welcome(invitee, from: founder, relays, now, &rng)
                case .second(let invitee): try welcome(invitee, from: founder, relays, now, &rng)
                }
            tried.wrapBytes = try GiftWrap.wrap(
                due.rumor, from: founder, to: due.recipient, now: now, using: &rng
            ).json().count
        } catch let error as MarmotError {
            tried.failure = error.message
        } catch let error as NostrError {
            tried.failure = error.message
        } catch {
            tried.failure = "\(error)"
        }
        return tried
    }

    private static func welcome(
        _ invitee: Invitee, from founder: KeyPair, _ relays: [RelayURL], _ now: UnixTime,
        _ rng: inout some RandomNumberGenerator
    ) throws -> DueWelcome {
        let data = GroupData(
            nostrGroupID: Bytes32.random(using: &rng), name: name, description: "", admins: [founder.publicKey],
            relays: relays)
        let (group, welcomes) = try MarmotGroup.create(
            data, founder: founder.publicKey, inviting: [invitee], client: name, now: now, using: &rng)
        return try single(welcomes, members: group.members.count)
    }

    private static func welcome(
        _ invitee: ComponentInvitee, from founder: KeyPair, _ relays: [RelayURL], _ now: UnixTime,
        _ rng: inout some RandomNumberGenerator
    ) throws -> DueWelcome {
        // As in a real group, more than the minimum is required only if the invitee supports it.
        let features: GroupPlan.Features =
            if (try? invitee.examineCapabilities(.whiteNoise)) == nil { .bare } else {
                .whiteNoise(try EncryptedMediaPolicy(blossomServers: [fileServer]))
            }
        let plan = GroupPlan(
            profile: try GroupProfileState(name: name), admins: try AdminPolicy([founder.publicKey]),
            routing: try NostrRouting(
                nostrGroupID: Bytes32.random(using: &rng), relays: relays.map(\.string)),
            features: features)
        let device = try DeviceKey.generate(for: founder, now: now, using: &rng)
        let (group, welcomes) = try ComponentGroup.found(
            plan, by: device, inviting: [invitee], now: now, using: &rng)
        return try single(welcomes, members: group.members.count)
    }

    private static func single(_ welcomes: [DueWelcome], members: Int) throws -> DueWelcome {
        guard members == 2, let welcome = welcomes.first, welcomes.count == 1 else {
            throw MarmotError(.mls, "expected 2 members and 1 Welcome, found \(members) and \(welcomes.count)")
        }
        return welcome
    }
}

extension ExaminedKeyPackage.ExaminedInvitee {
    fileprivate var supportsSelfRemove: Bool {
        switch self {
        case .first(let invitee): invitee.supportsSelfRemove
        case .second(let invitee): invitee.support.missing(proposals: [0x000A]) == nil
        }
    }
}
