import MLS
import Marmot
import Nostr

/// Invitations to others: gift-wrapped, sent to the relays that the peer reads, and tracked until a relay has them.
extension CoreModel {
    /// Milliseconds that an action's completion waits for its invitations to reach a relay.
    private static let patience: Int64 = 20_000
    /// Seconds that a peer's relays are remembered for an invitation that is never made.
    private static let peerRelaysLifetime: Int64 = 7 * 86_400

    /// An action that is complete except for the delivery of its invitations.
    struct WelcomeDelivery: Sendable {
        let request: RequestID
        let chatID: String
        /// Rows that no relay has accepted yet.
        var rows: Set<String>
        var left: [PublicKey: LeftOut]

        var outcome: ActionOutcome {
            self.left.isEmpty ? .done(chatID: self.chatID) : .partlyDone(chatID: self.chatID, left: self.left)
        }
    }

    /// Has invitations sealed, wrapped and queued.
    mutating func send(_ welcomes: [DueWelcome], of group: MarmotGroup, _ step: inout CoreStep) throws {
        for welcome in welcomes {
            let stated = self.peerRelays[welcome.recipient]?.relays ?? []
            var seen: Set<RelayURL> = []
            let relays = (stated + self.relays(of: group) + self.configuration.relays).filter {
                seen.insert($0).inserted
            }
            // An add that lost a race is made again, possibly in an epoch of the same number.
            let id = "\(Self.welcomeRows(of: group.groupID))\(welcome.rumor.id.hex)/\(welcome.recipient.hex)"
            try self.attempt(
                .seal(DueSeal(row: id, rumor: welcome.rumor, recipient: welcome.recipient, relays: relays)), &step)
            self.setPeerRelays(nil, of: welcome.recipient, &step)
        }
    }

    /// Returns the prefix of the row ids of a group's invitations; the ids end with the peer's key.
    private static func welcomeRows(of groupID: GroupID) -> String { "welcome/\(groupID.hex)/" }

    /// Remembers the relays for a peer's invitation, until it is sent.
    mutating func setPeerRelays(_ relays: [RelayURL]?, of peer: PublicKey, _ step: inout CoreStep) {
        let value = relays.map { PeerRelays(relays: $0, foundAt: step.now) }
        guard value != nil || self.peerRelays[peer] != nil else { return }
        self.peerRelays[peer] = value
        step.changes.append(.putMemo(MemoName(.peerRelays, peer.bytes), value?.memo))
    }

    mutating func forgetPeerRelays(_ step: inout CoreStep) {
        for (peer, entry) in self.peerRelays where step.now - entry.foundAt > Self.peerRelaysLifetime {
            self.setPeerRelays(nil, of: peer, &step)
        }
    }

    // MARK: Delivery

    /// Completes an action that invited others once relays have the invitations, or at a deadline.
    mutating func finishInviting(
        _ request: RequestID?, into groupID: GroupID, left: [PublicKey: LeftOut] = [:], _ step: inout CoreStep
    ) {
        guard let request, let chatID = self.chatID(of: groupID) else { return }
        let prefix = Self.welcomeRows(of: groupID)
        let rows = self.queue.ids { $0.id.hasPrefix(prefix) }.union(self.signer.rowsToSeal(withPrefix: prefix))
        let delivery = WelcomeDelivery(request: request, chatID: chatID, rows: rows, left: left)
        guard !delivery.rows.isEmpty else { return self.finish(request, delivery.outcome, &step) }
        self.lastDelivery += 1
        self.deliveries[self.lastDelivery] = delivery
        self.outcomes.record(delivery.outcome, of: request, &step)
        self.outcomes.resume(request)
        step.effects.append(
            .wake(.welcomes(delivery: self.lastDelivery), atMilliseconds: step.nowMilliseconds + Self.patience))
    }

    /// Records that a relay has an invitation, or that every relay refused it.
    mutating func endWelcome(_ row: String, refused reason: String?, _ step: inout CoreStep) {
        for (number, delivery) in self.deliveries where delivery.rows.contains(row) {
            self.deliveries[number]?.rows.remove(row)
            if let reason, let peer = try? PublicKey(hex: String(row.suffix(64))) {
                self.deliveries[number]?.left[peer] = .welcomeRefused(reason: reason)
            }
            if self.deliveries[number]?.rows.isEmpty == true { self.endDelivery(number, &step) }
        }
    }

    /// Completes an action with the known state of its invitations; the rest is still in flight.
    mutating func endDelivery(_ number: Int, _ step: inout CoreStep) {
        guard let delivery = self.deliveries.removeValue(forKey: number) else { return }
        self.finish(delivery.request, delivery.outcome, &step)
    }
}
