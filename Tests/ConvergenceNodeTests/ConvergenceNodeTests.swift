import BotTesting
import LiveTesting
import MLS
import Nostr
import Synchronization
import Testing

@testable import ConvergenceNode
@testable import PikaCore

/// An account that records the actions it is asked to perform. Its state never changes.
private final class ScriptedAccount: NodeAccount {
    let account: PublicKey
    let configuration = CoreConfiguration(relays: [])
    let events: AsyncStream<CoreEvent>
    private let relays: [AppState.RelayStatus]
    /// Whether sending never ends, and all limits are exceeded.
    private let isLate: Bool
    private let performed = Mutex<[AppAction]>([])

    init(_ account: PublicKey, relays: [AppState.RelayStatus], isLate: Bool) {
        self.account = account
        self.relays = relays
        self.isLate = isLate
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
        if self.isLate, case .sendMessage = action { try await self.waitForCancellation() }
        return .done(chatID: nil)
    }

    func messages(in chatID: ChatID) async throws -> [NodeMessage] { [] }

    func awaitState(_ condition: @Sendable (AppState) throws -> Bool) async throws -> AppState {
        let state = await self.state
        if try condition(state) { return state }
        try await self.waitForCancellation()
        return state
    }

    func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            if self.isLate { group.addTask { nil } }
            defer { group.cancelAll() }
            let first = try await group.next()
            return first ?? nil
        }
    }

    private func waitForCancellation() async throws {
        let (silence, continuation) = AsyncStream.makeStream(of: Void.self)
        for await _ in silence {}
        continuation.finish()
        throw CancellationError()
    }
}

@Suite(.bounded) struct ConvergenceNodeTests {
    /// Answers lines; returns the bodies of the responses, and the account of the node.
    private func answers(
        _ lines: ConvergenceNode.Line..., opens: Bool = true, relays: [AppState.RelayStatus] = [], isLate: Bool = false
    ) async throws -> (bodies: [JSONValue], responses: [JSONValue], account: ScriptedAccount) {
        var random = SeededGenerator(seed: 5)
        let account = ScriptedAccount(KeyPair.generate(using: &random).publicKey, relays: relays, isLate: isLate)
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

    @Test func limitsActionsAndCatchUps() async throws {
        let relay = AppState.RelayStatus(
            url: try RelayURL("ws://127.0.0.1:1"), connection: .connected, isCaughtUp: false)
        let (bodies, _, account) = try await self.answers(
            self.initialize, self.request(#"{"type":"select_group","group":"main","group_id_hex":"AB"}"#),
            self.request(#"{"type":"send_application","action_id":"7","payload":"hi"}"#),
            self.request(#"{"type":"catch_up","action_id":"8","full_history":false}"#), relays: [relay], isLate: true)
        #expect(bodies[2]["code"]?.string == "account_worker_response_timed_out")
        #expect(bodies[2]["category"]?.string == "resource")
        #expect(bodies[3]["code"]?.string == "account_catch_up")
        #expect(account.actions == [.sendMessage(chatID: "ab", .text("hi")), .foregrounded])
    }
}

@Suite(.bounded) struct NodeRecorderTests {
    private func id(_ byte: UInt8) throws -> EventID { try EventID(bytes: [UInt8](repeating: byte, count: 32)) }

    private func commit(_ byte: UInt8, isOwn: Bool = true, in chatID: ChatID = "ab") throws -> CoreEvent {
        var random = SeededGenerator(seed: 5)
        let commit = CommitEvent(
            id: try self.id(byte), committer: KeyPair.generate(using: &random).publicKey, isOwn: isOwn, epochBefore: 0,
            epochAfter: 1, added: [], removed: [], left: [], oldName: "n", newName: "n", newDescription: "",
            descriptionChanged: false, adminsAdded: [], adminsRemoved: [], newRelays: [], relaysChanged: false,
            disappearingSeconds: nil, disappearingChanged: false, rolledBack: false, removedSelf: false)
        return CoreEvent(inboxID: Int64(byte), chatID: chatID, receivedAt: 5, content: .commit(commit))
    }

    @Test func waitsForOwnCommitsOfChat() async throws {
        let recorder = NodeRecorder()
        recorder.note(try self.commit(1))
        let first = try await recorder.commits(of: "ab", beyond: 0)
        let one = try self.id(1)
        #expect(first == [one])
        let later = [
            try self.commit(2, in: "cd"), try self.commit(3, isOwn: false), try self.commit(4),
        ]
        async let second = recorder.commits(of: "ab", beyond: 1)
        for event in later { recorder.note(event) }
        let found = try await second
        let four = try self.id(4)
        #expect(found == [four])
    }

    @Test func waitEndsWhenCancelled() async {
        let recorder = NodeRecorder()
        let isCancelled = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                do {
                    _ = try await recorder.commits(of: "ab", beyond: 0)
                    return false
                } catch { return error is CancellationError }
            }
            group.cancelAll()
            return await group.next() ?? false
        }
        #expect(isCancelled)
    }
}
