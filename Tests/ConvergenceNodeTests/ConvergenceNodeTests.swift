import BotTesting
import LiveTesting
import MLS
import Nostr
import Synchronization
import Testing

@testable import ConvergenceNode
@testable import PikaCore

/// An account that records the actions it is asked to perform, and has one chat.
private final class ScriptedAccount: NodeAccount {
    let account: PublicKey
    let configuration = CoreConfiguration(relays: [])
    let events: AsyncStream<CoreEvent>
    private let relays: [AppState.RelayStatus]
    private let performed = Mutex<[AppAction]>([])

    init(_ account: PublicKey, relays: [AppState.RelayStatus]) {
        self.account = account
        self.relays = relays
        self.events = AsyncStream { $0.finish() }
    }

    var actions: [AppAction] { self.performed.withLock { $0 } }
    var state: AppState {
        get async {
            var state = AppState()
            state.relays = self.relays
            return state
        }
    }

    func perform(_ action: AppAction) async throws -> ActionOutcome {
        self.performed.withLock { $0.append(action) }
        if case .renameGroup = action { throw AppCoreError(.notAllowed, "only admins may rename the group") }
        return .done(chatID: nil)
    }

    func messages(in chatID: ChatID) async throws -> [NodeMessage] { [] }
}

@Suite(.bounded) struct ConvergenceNodeTests {
    /// Answers lines; returns the bodies of the responses, and the account of the node.
    private func answers(
        _ lines: ConvergenceNode.Line..., opens: Bool = true, relays: [AppState.RelayStatus] = []
    ) async throws -> (bodies: [JSONValue], responses: [JSONValue], account: ScriptedAccount) {
        var random = SeededGenerator(seed: 5)
        let account = ScriptedAccount(KeyPair.generate(using: &random).publicKey, relays: relays)
        let output = Mutex<[String]>([])
        let node = ConvergenceNode { _, _, body in
            guard opens else { throw NodeFailure("account_home", .environment, "no such folder") }
            try await body(account)
        } write: { line in
            output.withLock { $0.append(line) }
        }
        await node.run(
            AsyncStream { continuation in
                for line in lines { continuation.yield(line) }
                continuation.finish()
            })
        let responses = try output.withLock { $0 }.map { try JSONValue(json: $0) }
        return (responses.compactMap { $0["body"] }, responses, account)
    }

    private func request(
        _ command: String, id: String = "a:1", protocolName: String = "marmot-convergence-node-v1"
    ) -> ConvergenceNode.Line {
        .request(#"{"protocol":"\#(protocolName)","request_id":"\#(id)","command":\#(command)}"#)
    }

    private var initialize: ConvergenceNode.Line {
        self.request(#"{"type":"initialize","participant":"alice","root":"/r","relay_urls":["ws://127.0.0.1:1"]}"#)
    }

    @Test func initializesOnceAndShutsDown() async throws {
        let (bodies, responses, account) = try await self.answers(
            self.initialize, self.initialize, self.request(#"{"type":"shutdown"}"#), self.initialize)
        #expect(bodies.map { $0["type"]?.string } == ["initialized", "error", "shutdown"])
        #expect(bodies[0]["account_id"]?.string == account.account.hex)
        #expect(bodies[1]["code"]?.string == "already_initialized")
        #expect(responses.allSatisfy { $0["participant"]?.string == "alice" })
    }

    @Test func shutsDownUninitialized() async throws {
        let (bodies, responses, _) = try await self.answers(self.request(#"{"type":"shutdown"}"#), self.initialize)
        #expect(bodies.map { $0["type"]?.string } == ["shutdown"])
        #expect(responses[0]["participant"] == .null)
    }

    @Test func answersUnreadableLines() async throws {
        let (bodies, responses, _) = try await self.answers(
            .tooLong, .request("{"), self.request(#"{"type":"shutdown"}"#, protocolName: "v9"),
            self.request(#"{"type":"observe","action_id":"1"}"#, id: "b:2"))
        #expect(
            bodies.map { $0["code"]?.string } == [
                "frame_too_large", "invalid_json", "wrong_protocol", "not_initialized",
            ])
        #expect(responses.map { $0["request_id"]?.string } == ["oversized", "unparseable", "a:1", "b:2"])
        #expect(bodies.map { $0["category"]?.string } == ["protocol", "protocol", "environment", "protocol"])
    }

    @Test func refusesMissingRelaysAndRetries() async throws {
        let empty = self.request(#"{"type":"initialize","participant":"alice","root":"/r","relay_urls":[]}"#)
        let (bodies, _, _) = try await self.answers(empty, self.initialize)
        #expect(bodies.map { $0["code"]?.string } == ["missing_relay", nil])
        let (failed, _, _) = try await self.answers(self.initialize, opens: false)
        #expect(failed.map { $0["code"]?.string } == ["account_home"])
    }

    @Test func checksNamesOfAccountsAndGroups() async throws {
        let (bodies, _, _) = try await self.answers(
            self.initialize, self.request(#"{"type":"observe","action_id":"1"}"#),
            self.request(#"{"type":"configure_peers","accounts_by_participant":{"b":"00","c":"00"}}"#),
            self.request(#"{"type":"select_group","group":"main","group_id_hex":"xy"}"#),
            self.request(#"{"type":"select_group","group":"main","group_id_hex":""}"#),
            self.request(#"{"type":"select_group","group":"main","group_id_hex":"AB"}"#),
            self.request(#"{"type":"observe","action_id":"1"}"#))
        #expect(
            bodies.dropFirst().map { $0["code"]?.string } == [
                "group_not_selected", "duplicate_peer_account", "invalid_group_id", "invalid_group_id", nil,
                "unknown_group",
            ])
    }

    @Test func performsActionsInActiveGroup() async throws {
        let (bodies, _, account) = try await self.answers(
            self.initialize, self.request(#"{"type":"select_group","group":"main","group_id_hex":"AB"}"#),
            self.request(#"{"type":"send_application","action_id":"7","payload":"hi"}"#),
            self.request(#"{"type":"self_update","action_id":"8"}"#),
            self.request(#"{"type":"update_group_data","action_id":"9","name":"n"}"#),
            self.request(#"{"type":"barrier","action_id":"10","barrier":"here"}"#))
        #expect(account.actions.prefix(2) == [.sendMessage(chatID: "ab", .text("hi")), .updateGroupKeys(chatID: "ab")])
        #expect(bodies[2] == ["type": "ack", "action_id": "7", "published": 1])
        #expect(bodies[3] == ["type": "ack", "action_id": "8", "published": 0])
        #expect(bodies[4]["code"]?.string == "app_runtime_operation_failed")
        #expect(bodies[4]["category"]?.string == "expected_refusal")
        #expect(bodies[5] == ["type": "barrier_ready", "action_id": "10", "barrier": "here"])
    }

    @Test func failedCatchUpIsRetryable() async throws {
        let catchUp = self.request(#"{"type":"catch_up","action_id":"1","full_history":false}"#)
        let relay = AppState.RelayStatus(
            url: try RelayURL("ws://127.0.0.1:1"), connection: .retrying(attempt: 1, reason: "refused"),
            isCaughtUp: false)
        let (bodies, _, account) = try await self.answers(self.initialize, catchUp, relays: [relay])
        #expect(bodies[1]["code"]?.string == "account_catch_up")
        #expect(bodies[1]["retryable"]?.bool == true)
        #expect(account.actions == [.foregrounded])
        let (read, _, _) = try await self.answers(
            self.initialize, catchUp,
            relays: [relay, .init(url: try RelayURL("ws://127.0.0.1:2"), connection: .connected, isCaughtUp: true)])
        #expect(read[1] == ["type": "ack", "action_id": "1", "published": 0])
    }
}
