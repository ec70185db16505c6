import Nostr
import Testing

@testable import PikaCore

/// The outcomes of actions on calls are those of the signals that they send.
@Suite struct CallOutcomeTests {
    private static let session = CallSession(
        moqURL: "https://moq.example/anon", broadcastBase: "pika/calls", tracks: [.audio])
    private static let trigger = String(repeating: "ab", count: 32)

    /// Performs an action as a handler's effect; returns its id.
    @discardableResult
    private static func request(_ action: AppAction, by index: Int, _ world: inout ReducerWorld) -> ActionID {
        let id = ActionID(rawValue: "caller/\(self.trigger)/\(world[index].delivered.count)")
        var effect = HandlerEffect(id: id.rawValue, operation: .dispatch(action))
        effect.tracking = .reported
        world.reduce(index, .effects([effect], RequestID(rawValue: "handler")))
        return id
    }

    /// A world in which the first account calls the second one, whose phone rings.
    private static func ringing() throws -> (world: ReducerWorld, chat: ChatID, callID: String) {
        var world = try ReducerWorld.group(2)
        let chat = world[0].chatID
        self.request(.startCall(chatID: chat, session: self.session), by: 0, &world)
        world.settle()
        return (world, chat, try #require(world[1].model.state.activeCall?.callID))
    }

    @Test func inviteEndsWhenRelayHasIt() throws {
        var world = try ReducerWorld.group(2)
        let chat = world[0].chatID
        let id = Self.request(.startCall(chatID: chat, session: Self.session), by: 0, &world)
        #expect(world[0].results.isEmpty)
        world.accept(0, try #require(world[0].publishing.last?.row))
        let outcome = try #require(world[0].results.first)
        #expect(outcome.action == id && outcome.kind == "start_call" && outcome.result.name == "delivered")
        #expect(world[0].model.actions.isEmpty)
    }

    @Test func refusedInviteFails() throws {
        var world = try ReducerWorld.group(2)
        let chat = world[0].chatID
        Self.request(.startCall(chatID: chat, session: Self.session), by: 0, &world)
        world.answer(0, try #require(world[0].publishing.last?.row), .refused("blocked: no"))
        let error = try #require(world[0].results.first?.result.error)
        #expect(error.code == .notPublished && error.message == "blocked: no")
        #expect(world[0].results.count == 1)
        let notices = world[0].notices.filter { $0.fate == .actionFailed }
        #expect(notices.contains { $0.detail.hasPrefix("start_call of caller") })
        #expect(notices.contains { $0.detail == "call signal: blocked: no" })
    }

    @Test func staleSignalFails() throws {
        var world = try ReducerWorld.group(2)
        let chat = world[0].chatID
        Self.request(.startCall(chatID: chat, session: Self.session), by: 0, &world)
        world.now += 31_000
        world.reduce(0, .timer(.outbox))
        #expect(world[0].results.map(\.result.error?.code) == [.notPublished])
    }

    @Test(arguments: ["accept_call", "reject_call", "end_call"])
    func answersEndAsMessagesDo(kind: String) throws {
        var (world, chat, callID) = try Self.ringing()
        let action: AppAction =
            switch kind {
            case "accept_call": .acceptCall(chatID: chat, callID: callID)
            case "reject_call": .rejectCall(chatID: chat, callID: callID, reason: "busy")
            default: .endCall(chatID: chat, callID: callID, reason: "user_hangup")
            }
        Self.request(action, by: 1, &world)
        #expect(world[1].results.isEmpty)
        world.settle()
        #expect(world[1].results.map { "\($0.kind) \($0.result.name)" } == ["\(kind) delivered"])
    }

    @Test func unknownCallFailsAtOnce() throws {
        var world = try ReducerWorld.group(2)
        let chat = world[0].chatID
        Self.request(.acceptCall(chatID: chat, callID: "none"), by: 1, &world)
        #expect(world[1].results.map(\.result.error?.code) == [.unknownCall])
    }

    @Test func unauthenticAcceptFailsOnce() throws {
        var (world, chat, callID) = try Self.ringing()
        world.act(0, .renameGroup(chatID: chat, name: "later"), "rename")
        world.settle()
        Self.request(.acceptCall(chatID: chat, callID: callID), by: 1, &world)
        world.settle()
        #expect(world[1].results.map(\.result.error?.code) == [.notAllowed])
    }
}

extension ReducerWorld.Account {
    /// The outcomes that were delivered to the handlers, in order.
    fileprivate var results: [OutcomeEvent] {
        self.delivered.compactMap { if case .outcome(let outcome) = $0.content { outcome } else { nil } }
    }
}
