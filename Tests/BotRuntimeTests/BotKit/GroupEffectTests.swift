import Logging
import Nostr
import Testing

@testable import BotKit
@testable import PikaCore

/// The actions that the group calls of a context request.
struct GroupEffectTests {
    private func actions(
        _ trigger: BotTrigger = .event(arrived("hi")), _ body: (BotContext) -> Void
    ) throws -> [AppAction] {
        let context = BotContext(
            bot: "keeper", trigger: trigger, scope: scope(), nowMilliseconds: 1_700_000_000_000,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, readValue: { _ in nil },
            readMedia: { _, _ in [] })
        body(context)
        return try context.finish().compactMap { effect in
            if case .dispatch(let action) = effect.operation { action } else { nil }
        }
    }

    @Test func changesMembers() throws {
        let peers = [key("b"), key("c")]
        let found = try actions {
            $0.addMembers(peers)
            $0.addMembers(peers, missing: .proceedWithout, in: "c2")
            $0.removeMembers(peers)
            $0.leave()
            $0.leave("c2")
        }
        let expected: [AppAction] = [
            .addGroupMembers(chatID: "c1", peers: peers, missing: .fail),
            .addGroupMembers(chatID: "c2", peers: peers, missing: .proceedWithout),
            .removeGroupMembers(chatID: "c1", peers: peers), .leaveGroup(chatID: "c1"), .leaveGroup(chatID: "c2"),
        ]
        #expect(found == expected)
    }

    @Test func changesGroupData() throws {
        let image = OutgoingImage(bytes: [1], mediaType: "image/png")
        let found = try actions {
            $0.rename(to: "n")
            $0.setDescription("d", in: "c2")
            $0.setAdmins([key("b")])
            $0.setImage(image)
            $0.setImage(nil)
        }
        let expected: [AppAction] = [
            .renameGroup(chatID: "c1", name: "n"), .setGroupDescription(chatID: "c2", description: "d"),
            .setGroupAdmins(chatID: "c1", admins: [key("b")]), .setGroupImage(chatID: "c1", image),
            .setGroupImage(chatID: "c1", nil),
        ]
        #expect(found == expected)
    }

    @Test func createsAndDisbandsGroups() throws {
        let found = try actions {
            $0.createGroup("n", with: [key("b")])
            $0.createGroup("m", with: [key("c")], missing: .proceedWithout, groupProtocol: .v2)
            $0.enableDisbanding()
            $0.disband()
        }
        let expected: [AppAction] = [
            .createGroupChat(name: "n", peers: [key("b")], missing: .fail, groupProtocol: nil),
            .createGroupChat(name: "m", peers: [key("c")], missing: .proceedWithout, groupProtocol: .v2),
            .enableDisbanding(chatID: "c1"), .disbandGroup(chatID: "c1"),
        ]
        #expect(found == expected)
    }

    @Test func changesWithoutChatFailTheHandler() throws {
        let calls: [(BotContext) -> Void] = [
            { $0.addMembers([key("b")]) }, { $0.removeMembers([key("b")]) }, { $0.leave() }, { $0.rename(to: "n") },
            { $0.setDescription("d") }, { $0.setAdmins([]) }, { $0.setImage(nil) }, { $0.disband() },
        ]
        for call in calls {
            let error = #expect(throws: BotError.self) { try actions(.start, call) }
            #expect(error?.code == .noChat)
        }
    }
}
