import Marmot
import Nostr
import ProbeReports

/// Creates an invitation as the core does, to a throwaway group.
enum ScratchInvitation {
    private static let name = "scratch"

    /// Creates a group with the invitee under a temporary founder's key, and wraps the Welcome; nothing of it is stored
    /// or sent.
    static func attempt(
        _ invitee: Invitee, of event: Event, relays: [RelayURL], now: UnixTime,
        using rng: inout some RandomNumberGenerator
    ) -> TrialInvitation {
        var tried = TrialInvitation(
            event: event.id, kind: event.kind, supportsSelfRemove: invitee.supportsSelfRemove)
        do {
            tried.wrapBytes = try wrapBytes(invitee, relays, now, &rng)
        } catch let error as MarmotError {
            tried.failure = error.message
        } catch let error as NostrError {
            tried.failure = error.message
        } catch {
            tried.failure = "\(error)"
        }
        return tried
    }

    private static func wrapBytes(
        _ invitee: Invitee, _ relays: [RelayURL], _ now: UnixTime, _ rng: inout some RandomNumberGenerator
    ) throws -> Int {
        let founder = KeyPair.generate(using: &rng)
        let data = GroupData(
            nostrGroupID: Bytes32.random(using: &rng), name: name, description: "", admins: [founder.publicKey],
            relays: relays)
        let (group, welcomes) = try MarmotGroup.create(
            data, founder: founder.publicKey, inviting: [invitee], client: name, now: now, using: &rng)
        guard group.members.count == 2, let welcome = welcomes.first, welcomes.count == 1 else {
            throw MarmotError(
                .mls, "expected 2 members and 1 Welcome, found \(group.members.count) and \(welcomes.count)")
        }
        return try GiftWrap.wrap(welcome.rumor, from: founder, to: welcome.recipient, now: now, using: &rng)
            .json().count
    }
}
