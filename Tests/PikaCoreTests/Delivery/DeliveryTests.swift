import LiveTesting
import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct DeliveryTests {
    private let group: GroupID = [1]
    private let relay: RelayURL
    private let message: EventID

    init() throws {
        self.relay = try RelayURL("wss://a.example")
        self.message = try .of(1)
    }

    /// Returns a delivery with one row in flight.
    private func inFlight(
        purpose: OutboxRow.Purpose = .message, row: String = "row", _ step: inout CoreStep
    ) -> Delivery {
        var random = SplitMix64(seed: 3)
        let keys = KeyPair.generate(using: &random)
        let event = UnsignedEvent(pubkey: keys.publicKey, createdAt: 1, kind: .chatMessage, content: "")
            .signed(by: keys, using: &random)
        var delivery = Delivery()
        let isNew = delivery.append(
            id: row, event, to: [self.relay], purpose, groupID: self.group, messageID: self.message, &step)
        #expect(isNew)
        delivery.publish(except: [], away: [], &step)
        return delivery
    }

    private func code(_ delivery: Delivery) -> AppCoreError.Code? {
        do throws(AppCoreError) { try delivery.requireFailed(self.message, in: self.group) } catch { return error.code }
        return nil
    }

    @Test func firstAcceptanceSettlesRow() {
        var step = CoreStep.at(0)
        var delivery = self.inFlight(&step)
        let row = delivery.queue.row("row")
        let report = PublishReport(relay: self.relay, outcome: .accepted)
        let progress = (0..<2).map { _ in delivery.receive(report, row: "row", &step) }
        guard case .settled(let settled) = progress[0] else {
            Issue.record("expected the row to be settled")
            return
        }
        #expect(settled.id == row?.id && progress[1] == .none && delivery.queue.count == 0)
    }

    @Test func refusalByAllRemovesRow() {
        var step = CoreStep.at(0)
        var delivery = self.inFlight(&step)
        let report = PublishReport(relay: self.relay, outcome: .refused("blocked: no"))
        let progress = delivery.receive(report, row: "row", &step)
        let end = delivery.endAttempt(row: "row", relays: [self.relay], &step)
        guard case .refused(let row, let reason) = end else {
            Issue.record("expected the row to be refused")
            return
        }
        #expect(progress == .none && row.id == "row" && reason == "blocked: no" && delivery.queue.row("row") == nil)
    }

    @Test(arguments: [(OutboxRow.Purpose.message, 1), (.typing, 0)])
    func countsAttemptsOfStoredRows(_ purpose: OutboxRow.Purpose, _ expected: Int) {
        var step = CoreStep.at(0)
        var delivery = self.inFlight(purpose: purpose, &step)
        step = CoreStep.at(1)
        let end = delivery.endAttempt(row: "row", relays: [self.relay], &step)
        #expect(end == .unanswered && step.changes.count == expected && step.effects.count == 1)
    }

    @Test func retriesOnlyFailedMessages() throws {
        var step = CoreStep.at(0)
        #expect(self.code(Delivery()) == .unknownMessage)
        var delivery = self.inFlight(&step)
        #expect(self.code(delivery) == .notAllowed)
        let row = try #require(delivery.queue.row("row"))
        let isRemoved = delivery.remove("row", &step)
        delivery.noteFailed(row, "no", &step)
        #expect(isRemoved && self.code(delivery) == nil && delivery.failedCount == 1)
        #expect(delivery.failure(of: self.message, in: [2]) == nil)
        delivery.forgetFailure(of: self.message, in: self.group, &step)
        #expect(self.code(delivery) == .unknownMessage && delivery.failedCount == 0)
    }

    @Test func reportsDeliveryOnce() throws {
        var step = CoreStep.at(0)
        for (again, reports) in [(false, true), (true, false)] {
            let id = Delivery.messageRow(self.message, again: again)
            let delivery = self.inFlight(row: id, &step)
            let row = try #require(delivery.queue.row(id))
            #expect(delivery.reportsDelivery(of: row) == reports)
            #expect(delivery.wasSent(self.message, in: self.group) == again)
        }
        #expect(Delivery().wasSent(self.message, in: self.group))
    }
}
