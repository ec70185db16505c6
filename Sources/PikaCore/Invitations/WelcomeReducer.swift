import MLS
import Marmot
import Nostr

/// Invitations to others: gift-wrapped, sent to the relays that the peer reads, and tracked until a relay has them.
extension CoreModel {
    /// Has invitations sealed, wrapped and queued.
    mutating func send(_ welcomes: [DueWelcome], of group: AccountGroup, _ step: inout CoreStep) throws {
        for welcome in welcomes {
            let stated = self.invitations.relays(forWelcomeTo: welcome.recipient)
            var seen: Set<RelayURL> = []
            let relays = (stated + self.relays(of: group) + self.configuration.relays).filter {
                seen.insert($0).inserted
            }
            // An add that lost a race is made again, possibly in an epoch of the same number.
            let id = "\(Self.welcomeRows(of: group.groupID))\(welcome.rumor.id.hex)/\(welcome.recipient.hex)"
            try self.tryKeyTask(
                .seal(DueSeal(row: id, rumor: welcome.rumor, recipient: welcome.recipient, relays: relays)), &step)
            self.invitations.forgetRelays(of: welcome.recipient, &step)
        }
    }

    /// Returns the prefix of the row ids of a group's invitations; the ids end with the peer's key.
    private static func welcomeRows(of groupID: GroupID) -> String { "welcome/\(groupID.hex)/" }

    // MARK: Delivery

    /// Completes an action that invited others once relays have the invitations, or at a deadline.
    mutating func finishInviting(
        _ request: RequestID?, into groupID: GroupID, left: [PublicKey: InviteFailure] = [:], _ step: inout CoreStep
    ) {
        guard let request, let chatID = self.chatID(of: groupID) else { return }
        let prefix = Self.welcomeRows(of: groupID)
        let rows = self.delivery.queue.ids { $0.id.hasPrefix(prefix) }
            .union(self.signer.rowsToSeal(withPrefix: prefix))
        let delivery = WelcomeDeliveries.Delivery(request: request, chatID: chatID, rows: rows, left: left)
        guard !delivery.rows.isEmpty else { return self.finish(request, delivery.outcome, &step) }
        self.inbox.recordEarly(delivery.outcome, of: request, &step)
        if let action = self.actionID(of: request) { self.noteEarly(delivery.outcome, of: action, &step) }
        self.invitations.beginDelivery(delivery, &step)
    }

    /// Records that a relay has an invitation, or that every relay refused it.
    mutating func endWelcome(_ row: String, refused reason: String?, _ step: inout CoreStep) {
        for delivery in self.invitations.endDeliveries(row: row, refused: reason) {
            self.finish(delivery.request, delivery.outcome, &step)
        }
    }

    /// Completes an action with the known state of its invitations; the rest is still in flight.
    mutating func endDelivery(_ number: Int, _ step: inout CoreStep) {
        guard let delivery = self.invitations.endDelivery(number) else { return }
        self.finish(delivery.request, delivery.outcome, &step)
    }
}
