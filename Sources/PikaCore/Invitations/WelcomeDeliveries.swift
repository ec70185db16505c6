import MLS
import Nostr

/// Invitations that this account sends: the relays on which peers expect them, and the actions that complete when
/// relays have them.
struct WelcomeDeliveries: Sendable {
    /// Milliseconds that an action's completion waits for its invitations to reach a relay.
    private static let deliveryTimeout: Int64 = 20_000
    /// Seconds that a peer's relays are remembered for an invitation that is never made.
    private static let peerRelaysLifetime: Int64 = 7 * 86_400

    /// An action that is complete except for the delivery of its invitations.
    struct Delivery: Sendable {
        let request: RequestID
        let chatID: ChatID
        /// Rows that no relay has accepted yet.
        var rows: Set<String>
        var left: [PublicKey: InviteFailure]

        var outcome: ActionOutcome {
            self.left.isEmpty ? .done(chatID: self.chatID) : .partlyDone(chatID: self.chatID, left: self.left)
        }
    }

    private var peerRelays: [PublicKey: PeerRelays] = [:]
    /// The deliveries in progress, by number.
    private var deliveries: [Int: Delivery] = [:]
    private var lastNumber = 0

    var isEmpty: Bool { self.deliveries.isEmpty }

    // MARK: Relays of peers

    func relays(of peer: PublicKey) -> [RelayURL] { self.peerRelays[peer]?.relays ?? [] }

    /// Remembers the relays for a peer's invitation, until it is sent.
    mutating func set(_ relays: [RelayURL]?, of peer: PublicKey, _ step: inout CoreStep) {
        let value = relays.map { PeerRelays(relays: $0, foundAt: step.now) }
        guard value != nil || self.peerRelays[peer] != nil else { return }
        self.peerRelays[peer] = value
        step.changes.append(.putMemo(MemoName(.peerRelays, peer.bytes), value?.memo))
    }

    mutating func expireRelays(_ step: inout CoreStep) {
        for (peer, entry) in self.peerRelays where step.now.seconds(since: entry.foundAt) > Self.peerRelaysLifetime {
            self.set(nil, of: peer, &step)
        }
    }

    /// Restores a peer's relays; false if the memo is unreadable.
    mutating func restore(_ key: [UInt8], _ memo: Secret) -> Bool {
        guard let peer = try? PublicKey(bytes: key), let relays = PeerRelays(memo: memo) else { return false }
        self.peerRelays[peer] = relays
        return true
    }

    // MARK: Deliveries

    mutating func begin(_ delivery: Delivery, _ step: inout CoreStep) {
        self.lastNumber += 1
        self.deliveries[self.lastNumber] = delivery
        step.effects.append(
            .wake(.welcomes(delivery: self.lastNumber), atMilliseconds: step.nowMilliseconds + Self.deliveryTimeout))
    }

    /// Records that a relay has an invitation, or that every relay refused it. Returns the deliveries that end with it.
    mutating func end(row: String, refused reason: String?) -> [Delivery] {
        var ended: [Delivery] = []
        for (number, var delivery) in self.deliveries where delivery.rows.contains(row) {
            delivery.rows.remove(row)
            if let reason, let peer = try? PublicKey(hex: String(row.suffix(64))) {
                delivery.left[peer] = .welcomeRefused(reason: reason)
            }
            self.deliveries[number] = delivery.rows.isEmpty ? nil : delivery
            if delivery.rows.isEmpty { ended.append(delivery) }
        }
        return ended
    }

    /// Ends a delivery at its deadline.
    mutating func end(_ number: Int) -> Delivery? { self.deliveries.removeValue(forKey: number) }
}
