import Marmot
import Nostr

/// Finding the key packages of peers on relays.
extension CoreModel {
    func fetchKeyPackages(of peers: [PublicKey], _ operation: Int, _ step: inout CoreStep) {
        step.effects.append(
            .fetch(
                .keyPackages(operation: operation),
                [Filter(authors: peers, kinds: [.addressableKeyPackage, .keyPackage])], from: self.configuration.relays
            ))
    }

    /// The best key package of each peer: the newest usable, kind 30443 before 443 (MIP-00).
    func invitees(
        _ peers: [PublicKey], _ events: [Event], _ relayAnswered: Bool, _ now: Int64
    ) throws(AppCoreError) -> [Invitee] {
        guard relayAnswered else { throw AppCoreError(.noRelay, "no relay answered the search for key packages") }
        var invitees: [Invitee] = []
        for peer in peers {
            let own = events.filter { $0.pubkey == peer }.sorted {
                ($0.kind == .addressableKeyPackage ? 1 : 0, $0.createdAt) > (
                    $1.kind == .addressableKeyPackage ? 1 : 0, $1.createdAt
                )
            }
            var reason = "none was found on the relays"
            var found: Invitee?
            for event in own where found == nil {
                do { found = try Invitee(event, now: now) } catch { reason = error.message }
            }
            guard let found else {
                throw AppCoreError(.noKeyPackage, "no usable key package of \(peer.npub): \(reason)")
            }
            invitees.append(found)
        }
        return invitees
    }
}
