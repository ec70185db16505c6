import Nostr
import PikaCore

/// An initialized node: its account, the labels of the others, and the groups of the scenario.
struct NodeSession {
    /// Maximum time for which a catch-up waits for the relays' stored events.
    private static let longestReading = Duration.seconds(12)
    /// Maximum time for which a catch-up waits for the selection of a branch.
    private static let longestSettlement = Duration.seconds(8)
    /// Maximum time to wait for an action. It continues afterwards: a departure may wait for further commits of the
    /// group.
    private static let longestAction = Duration.seconds(30)
    /// Maximum time to wait for the report of an action's commit.
    private static let longestReport = Duration.seconds(1)

    private struct Publications {
        var attempts = 0
        var failures = 0
    }

    let participant: String
    private let account: any NodeAccount
    private let recorder: NodeRecorder
    private var labels: [String: String] = [:]
    private var groups: [String: ChatID] = [:]
    private var activeGroup: String?
    private var checkpoint: (hash: String, count: Int)?
    private var publications = Publications()
    /// Number of events at the time when the application events were cleared.
    private var cleared = 0
    private var hasFailedCatchUp = false

    init(participant: String, account: any NodeAccount, recorder: NodeRecorder) {
        self.participant = participant
        self.account = account
        self.recorder = recorder
    }

    /// The response to `initialize`.
    var initialized: NodeResponse.Body { .initialized(account: self.account.account.hex) }

    mutating func perform(_ command: NodeRequest.Command) async -> NodeResponse.Body {
        do { return try await self.execute(command) } catch { return .failed(NodeFailure(error)) }
    }

    private mutating func execute(_ command: NodeRequest.Command) async throws -> NodeResponse.Body {
        switch command {
        case .initialize: throw NodeFailure.request("already_initialized", "the node is initialized")
        case .shutdown: return .shutdown
        case .configurePeers(let accounts): return try self.configure(accounts)
        case .selectGroup(let group, let groupID):
            self.groups[group] = try Self.chat(groupID)
            self.activeGroup = group
            return .done(action: "select_group", published: 0)
        case .createGroup(let action, let group, let name, let members, let admins):
            return try await self.create(action, group, name, members: members, admins: admins)
        case .updateAdmins(let action, let admins):
            let messages = try await self.setAdmins(admins, in: try self.chat)
            return .done(action: action, published: messages.count, messages: messages)
        case .updateProfile(let action, let name, let description):
            let chat = try self.chat
            var messages: [String] = []
            if let name { messages += try await self.change(.renameGroup(chatID: chat, name: name), in: chat) }
            if let description {
                let change = AppAction.setGroupDescription(chatID: chat, description: description)
                messages += try await self.change(change, in: chat)
            }
            return .done(action: action, published: messages.count, messages: messages)
        case .inviteMembers(let action, let members):
            let chat = try self.chat
            let change = AppAction.addGroupMembers(chatID: chat, peers: try Self.keys(members))
            return .changed(action: action, try await self.change(change, in: chat))
        case .removeMembers(let action, let members):
            let chat = try self.chat
            let change = AppAction.removeGroupMembers(chatID: chat, peers: try Self.keys(members))
            return .changed(action: action, try await self.change(change, in: chat))
        case .selfUpdate(let action):
            _ = try await self.publish(.updateGroupKeys(chatID: try self.chat))
            return .done(action: action, published: 0)
        case .send(let action, let payload):
            _ = try await self.publish(.sendMessage(chatID: try self.chat, .text(payload)))
            return .done(action: action, published: 1)
        case .leave(let action):
            _ = try await self.publish(.leaveGroup(chatID: try self.chat))
            return .done(action: action, published: 1)
        case .catchUp(let action): return try await self.catchUp(action)
        case .observe(let action): return .observation(action: action, try await self.observe())
        case .clearEvents(let action):
            self.cleared = self.recorder.current.events
            self.checkpoint = nil
            return .done(action: action, published: 0)
        case .setMaintenance(let action, let isPaused):
            var configuration = self.account.configuration
            if isPaused { configuration.selfUpdate = .never }
            _ = try await self.account.perform(.reloadConfiguration(configuration))
            return .done(action: action, published: 0)
        case .barrier(let action, let name): return .barrierReady(action: action, name: name)
        }
    }

    // MARK: Names

    private mutating func configure(_ accounts: [String: String]) throws -> NodeResponse.Body {
        guard Set(accounts.values).count == accounts.count else {
            throw NodeFailure.request("duplicate_peer_account", "each account may have one label")
        }
        self.labels = Dictionary(uniqueKeysWithValues: accounts.map { ($0.value, $0.key) })
        return .done(action: "configure_peers", published: 0)
    }

    private static func chat(_ groupID: String) throws -> ChatID {
        let isHex = !groupID.isEmpty && groupID.allSatisfy { $0.isASCII && $0.isHexDigit }
        guard isHex, groupID.utf8.count.isMultiple(of: 2) else {
            throw NodeFailure.request("invalid_group_id", "group_id_hex: expected hexadecimal digits in pairs")
        }
        return ChatID(rawValue: groupID.lowercased())
    }

    private static func keys(_ accounts: [String]) throws -> [PublicKey] {
        try accounts.map { account in
            guard let key = try? PublicKey(hex: account) else {
                throw NodeFailure.request("invalid_json", "an account: expected 64 hexadecimal digits")
            }
            return key
        }
    }

    /// The active group's chat.
    private var chat: ChatID {
        get throws {
            guard let group = self.activeGroup else {
                throw NodeFailure.request("group_not_selected", "create or select a group first")
            }
            guard let chat = self.groups[group] else {
                throw NodeFailure.request("unknown_group", "no group has the label \(group)")
            }
            return chat
        }
    }

    private func summary(of chat: ChatID) async throws -> AppState.ChatSummary {
        guard let summary = try await self.account.state.chat(named: chat.rawValue) else {
            throw NodeFailure.request("unknown_group", "this account is not in the group")
        }
        return summary
    }

    // MARK: Changes

    private mutating func publish(_ action: AppAction) async throws -> ActionOutcome {
        self.publications.attempts += 1
        do { return try await self.outcome(of: action) } catch {
            self.publications.failures += 1
            throw error
        }
    }

    /// Performs an action; throws a failure if it exceeds its deadline.
    private func outcome(of action: AppAction) async throws -> ActionOutcome {
        let account = self.account
        let outcome = try await account.within(Self.longestAction) { try await account.perform(action) }
        guard let outcome else {
            throw NodeFailure(
                "account_worker_response_timed_out", .resource,
                "the action has not ended within \(Self.longestAction); it continues")
        }
        return outcome
    }

    /// Performs a change of a group; returns the ids of its commits.
    private mutating func change(_ action: AppAction, in chat: ChatID) async throws -> [String] {
        let before = self.recorder.current.commits[chat]?.count ?? 0
        _ = try await self.publish(action)
        // The commit is reported separately from the outcome, so it may follow a moment later.
        let recorder = self.recorder
        let commits = try await self.account.within(Self.longestReport) {
            try await recorder.commits(of: chat, beyond: before)
        }
        return (commits ?? []).map(\.hex)
    }

    private mutating func create(
        _ action: String, _ group: String, _ name: String, members: [String], admins: [String]
    ) async throws -> NodeResponse.Body {
        let peers = try Self.keys(members)
        guard case .done(let chat?) = try await self.publish(.createGroupChat(name: name, peers: peers)) else {
            throw NodeFailure("app_runtime_operation_failed", .environment, "the group has no id")
        }
        self.groups[group] = chat
        self.activeGroup = group
        let messages = try await self.setAdmins(admins, in: chat)
        return .done(action: action, published: messages.count, messages: messages, groupID: chat.rawValue)
    }

    /// Makes exactly these members admins; this account gives up its own role last. Returns the ids of the commits.
    private mutating func setAdmins(_ accounts: [String], in chat: ChatID) async throws -> [String] {
        let targets = Set(try Self.keys(accounts))
        let members = try await self.summary(of: chat).allMembers
        guard !targets.isEmpty, targets.isSubset(of: members.map(\.publicKey)) else {
            throw NodeFailure.request("invalid_admin_set", "expected at least one admin, and only members")
        }
        let own = self.account.account
        let isAdmin = members.contains { $0.isAdmin && $0.publicKey == own }
        let steps = isAdmin ? targets.union([own]) : targets
        let current = Set(members.filter(\.isAdmin).map(\.publicKey))
        var messages: [String] = []
        if steps != current {
            messages += try await self.change(.setGroupAdmins(chatID: chat, admins: steps.sorted()), in: chat)
        }
        guard steps != targets else { return messages }
        do { return messages + (try await self.change(.selfDemote(chatID: chat), in: chat)) } catch {
            try await self.restoreAdmins(current, in: chat)
            throw error
        }
    }

    private mutating func restoreAdmins(_ admins: Set<PublicKey>, in chat: ChatID) async throws {
        do { _ = try await self.change(.setGroupAdmins(chatID: chat, admins: admins.sorted()), in: chat) } catch {
            throw NodeFailure(
                "admin_set_compensation_failed", .environment, "the admins could not be restored: \(error)")
        }
    }

    // MARK: Observation

    /// Reconnects to relays, waits for their stored events, accepts an invitation into the active group, and waits for the
    /// selection of its branch.
    private mutating func catchUp(_ action: String) async throws -> NodeResponse.Body {
        do {
            self.hasFailedCatchUp = true
            _ = try await self.account.perform(.foregrounded)
            try await self.read()
            if self.activeGroup != nil { try await self.settle(try self.chat) }
            self.hasFailedCatchUp = false
        } catch let error as CancellationError {
            throw error
        } catch {
            throw NodeFailure("account_catch_up", .resource, "\(error)", isRetryable: true)
        }
        return .done(action: action, published: 0)
    }

    /// Waits until every relay was read or has failed; throws if none was read in time.
    private func read() async throws {
        let account = self.account
        let reached = try await account.within(Self.longestReading) {
            try await account.awaitState { state in
                state.relays.allSatisfy { relay in
                    if case .retrying = relay.connection { return true }
                    return relay.isCaughtUp
                }
            }
        }
        let relays: [AppState.RelayStatus]
        if let reached { relays = reached.relays } else { relays = await account.state.relays }
        if relays.isEmpty || relays.contains(where: \.isCaughtUp) { return }
        let names = relays.map(\.url.string).joined(separator: ", ")
        throw AppCoreError(.noRelay, "no relay was read; tried \(names)")
    }

    private func settle(_ chat: ChatID) async throws {
        let account = self.account
        let invites = await account.state.invites
        if let invite = invites.first(where: { $0.group?.chatID == chat }) {
            _ = try await account.perform(.acceptInvite(wrapper: invite.wrapper))
        }
        _ = try await account.within(Self.longestSettlement) {
            try await account.awaitState { state in
                switch try state.chat(named: chat.rawValue)?.convergence {
                case .syncing, .resolving: return false
                default: return !state.readingChats.contains(chat)
                }
            }
        }
    }

    private mutating func observe() async throws -> JSONValue {
        let chat = try self.chat
        let record = self.recorder.current
        let state = await self.account.state
        let observation = NodeObservation(
            participant: self.participant, chat: try await self.summary(of: chat),
            isPending: state.invites.contains { $0.group?.chatID == chat },
            messages: try await self.account.messages(in: chat), withdrawn: record.withdrawn[chat] ?? [],
            eventCount: record.events - self.cleared, labels: self.labels)
        let hash = observation.checkpoint
        let count = self.checkpoint?.hash == hash ? (self.checkpoint?.count ?? 0) + 1 : 1
        self.checkpoint = (hash, count)
        return observation.json(self.progress(record.events, hash, count))
    }

    /// The relays' connections are the core's own, so their counters are those of events and actions.
    private func progress(_ events: Int, _ hash: String, _ count: Int) -> JSONObject {
        [
            "relay_inbound_events_seen": .integer(Int64(events)),
            "relay_inbound_events_delivered": .integer(Int64(events)),
            "relay_publish_attempts": .integer(Int64(self.publications.attempts)),
            "relay_publish_failures": .integer(Int64(self.publications.failures)),
            "relay_directory_inflight_fetches": 0, "relay_directory_completed_fetches": 0,
            "retry_timer_armed": .bool(self.hasFailedCatchUp), "projection_checkpoint_sha256": .string(hash),
            "stable_checkpoint_observations": .integer(Int64(count)),
        ]
    }
}

extension NodeResponse.Body {
    fileprivate static func changed(action: String, _ messages: [String]) -> NodeResponse.Body {
        .done(action: action, published: messages.count, messages: messages)
    }
}
