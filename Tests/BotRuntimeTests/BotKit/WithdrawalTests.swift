import BotKit
import Nostr
import Testing

@testable import PikaCore

/// The withdrawal or restoration of the message with this number.
func withdrawal(
    _ inboxID: Int64 = 9, of id: Int = 1, kind: Kind = .chatMessage, isRestored: Bool = false, chat: ChatID = "c1"
) -> CoreEvent {
    coreEvent(
        inboxID, chat: chat,
        .withdrawn(
            WithdrawnEvent(
                id: eventID(id), sender: key("b"), kind: kind, epoch: 3, wrapper: eventID(id + 0xa000),
                isRestored: isRestored)))
}

struct WithdrawalTests {
    private func accepts(_ declaration: some HandlerDeclaration, _ event: CoreEvent) -> Bool {
        declaration.handler.accept(.event(event), scope()) != nil
    }

    @Test func restorationHasItsOwnHandler() {
        let withdrawn = OnWithdrawn { _, _ in }
        let restored = OnRestored { _, _ in }
        #expect(accepts(withdrawn, withdrawal()) && !accepts(withdrawn, withdrawal(isRestored: true)))
        #expect(accepts(restored, withdrawal(isRestored: true)) && !accepts(restored, withdrawal()))
    }

    @Test func filtersSelectWithdrawals() {
        let reactions = OnWithdrawn(.kind(.reaction) && .from(key("b"))) { _, _ in }
        #expect(!accepts(reactions, withdrawal()) && accepts(reactions, withdrawal(kind: .reaction)))
    }

    @Test func messageHandlersIgnoreWithdrawals() {
        #expect(!accepts(OnMessage { _, _ in }, withdrawal()))
        #expect(!accepts(OnInnerEvent(.any) { _, _ in }, withdrawal()))
    }

    /// Without distinct ids, the effects of a later withdrawal would count as repetitions of the first one's.
    @Test func everyWithdrawalHasItsOwnID() {
        let ids = [withdrawal(1), withdrawal(2, isRestored: true), withdrawal(3)].map(\.inputID)
        #expect(Set(ids + [arrived("", 1).inputID]).count == 4)
        #expect(withdrawal(1).inputID == ids[0])
    }
}
