import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct WelcomeDeliveriesTests {
    private let peer: PublicKey

    init() throws {
        self.peer = try PublicKey(hex: String(repeating: "b", count: 64))
    }

    @Test func endsWithTheLastRow() {
        var (welcomes, step) = (WelcomeDeliveries(), CoreStep.at(0))
        let rows = ["welcome/1/a", "welcome/1/\(self.peer.hex)"]
        welcomes.begin(
            .init(request: RequestID(rawValue: "r"), chatID: "c", rows: Set(rows), left: [:]), &step)
        let first = welcomes.end(row: rows[0], refused: nil)
        #expect(first.isEmpty && !welcomes.isEmpty)
        let last = welcomes.end(row: rows[1], refused: "blocked")
        #expect(
            last.map(\.outcome) == [.partlyDone(chatID: "c", left: [self.peer: .welcomeRefused(reason: "blocked")])])
        #expect(welcomes.isEmpty)
    }

    @Test func restoresRelaysOfPeers() throws {
        var (welcomes, step) = (WelcomeDeliveries(), CoreStep.at(0))
        let relay = try RelayURL("wss://relay.example")
        welcomes.set([relay], of: self.peer, &step)
        guard case .putMemo(let name, let memo?) = try #require(step.changes.first) else {
            Issue.record("expected the relays to be stored")
            return
        }
        var restored = WelcomeDeliveries()
        let isReadable = restored.restore(name.key, memo)
        #expect(isReadable && restored.relays(of: self.peer) == [relay])
        var later = CoreStep.at(8 * 86_400_000)
        restored.expireRelays(&later)
        #expect(restored.relays(of: self.peer).isEmpty)
    }
}
