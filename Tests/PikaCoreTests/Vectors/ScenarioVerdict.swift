import BotTesting
import Nostr

@testable import MLS
@testable import Marmot
@testable import PikaCore

/// Comparison of a played scenario with its expected outcomes; lists the differences.
struct ScenarioVerdict {
    private let run: ScenarioRun
    private(set) var faults: [String]

    init(_ run: ScenarioRun) async throws {
        self.run = run
        self.faults = run.faults
        for outcome in run.vector.outcomes {
            do { try await self.check(outcome) } catch {
                self.faults.append("\(outcome.type ?? "outcome"): \(error)")
            }
        }
    }

    private mutating func require(_ isMet: Bool, _ text: @autoclosure () -> String) {
        if !isMet { self.faults.append(text()) }
    }

    private mutating func check(_ outcome: ScenarioVector.Outcome) async throws {
        switch outcome.type {
        case "pending_resolution": try self.checkResolution(outcome)
        case nil where outcome.pending != nil: try self.checkResolution(outcome)
        case "client_state", nil: try await self.checkState(outcome)
        case "group_profile": try await self.checkProfile(outcome)
        case "admin_policy": try await self.checkAdmins(outcome)
        case "clients_converged", "clients_exactly_equivalent": try await self.checkAgreement(outcome)
        case "clients_bidirectionally_decryptable": try await self.checkProbes(outcome)
        case "client_epoch_changes": try self.checkEpochChanges(outcome)
        case "convergence_decision": try await self.checkDecision(outcome)
        case "no_pending_work": try await self.checkRest(outcome)
        // The step itself compares the error.
        case "expected_error": break
        default: throw ScenarioError("unknown type of outcome")
        }
    }

    private mutating func checkResolution(_ outcome: ScenarioVector.Outcome) throws {
        let pending = try outcome.pending.required("pending")
        let found = self.run.resolutions[pending] ?? "none"
        self.require(found == outcome.resolution, "\(pending): expected \(outcome.resolution ?? ""), found \(found)")
    }

    /// The chats that a client is or was in, with its view of them.
    private func views(of client: String?) async throws -> [(chat: ChatID, view: AppState.ChatSummary)] {
        let member = try self.run.member(client)
        var views: [(chat: ChatID, view: AppState.ChatSummary)] = []
        for chat in self.run.chats.values.sorted(by: { $0.rawValue < $1.rawValue }) {
            if let view = try await member.summary(of: chat) { views.append((chat, view)) }
        }
        return views
    }

    private func shifted(_ epoch: UInt64, in chat: ChatID) -> UInt64 { epoch + (self.run.shift[chat] ?? 0) }

    // MARK: States

    private mutating func checkState(_ outcome: ScenarioVector.Outcome) async throws {
        let client = try outcome.client.required("client")
        let member = try self.run.member(client)
        let views = try await self.views(of: client)
        self.require(!views.isEmpty, "\(client) is in no group")
        var texts: [String] = []
        for (chat, view) in views {
            let count = self.run.clients(in: view).count
            if let epoch = outcome.epoch.map({ self.shifted($0, in: chat) }) {
                self.require(view.epoch == epoch, "\(client): expected epoch \(epoch), found \(view.epoch)")
            }
            if let expected = outcome.memberCount {
                self.require(count == expected, "\(client): expected \(expected) members, found \(count)")
            }
            if let name = outcome.groupName { self.require(view.name == name, "\(client): the name is \(view.name)") }
            let start = self.run.mark(of: client, in: chat).events
            texts += member.visibleTexts(in: chat, since: start).filter { !$0.hasPrefix("probe ") }
            try self.checkMembers(outcome, of: member, in: chat, since: start)
        }
        guard let expected = outcome.receivedPayloads else { return }
        let reorders = self.run.vector.scenario.steps.contains { $0.type == "reorder_messages" }
        self.require(
            reorders ? texts == expected : texts.sorted() == expected.sorted(),
            "\(client): expected to receive \(expected), received \(texts)")
    }

    private mutating func checkMembers(
        _ outcome: ScenarioVector.Outcome, of member: LabMember, in chat: ChatID, since start: Int
    ) throws {
        let commits: [CommitEvent] = member.events.dropFirst(start).compactMap { event in
            if event.chatID == chat, case .commit(let commit) = event.content { commit } else { nil }
        }
        let added = Set(commits.flatMap(\.added).compactMap { self.run.name(of: $0) })
        let removed = Set(commits.flatMap(\.removed).compactMap { self.run.name(of: $0) })
        if let expected = outcome.addedMembers {
            self.require(added.isSuperset(of: expected), "\(member.name): expected \(expected) to join, found \(added)")
        }
        if let expected = outcome.removedMembers {
            self.require(removed == Set(expected), "\(member.name): expected \(expected) to go, found \(removed)")
        }
    }

    private mutating func checkProfile(_ outcome: ScenarioVector.Outcome) async throws {
        for (_, view) in try await self.views(of: outcome.client) {
            self.require(
                view.name == outcome.name && view.description == outcome.description,
                "\(outcome.client ?? ""): the group is \"\(view.name)\", \"\(view.description)\"")
        }
    }

    private mutating func checkAdmins(_ outcome: ScenarioVector.Outcome) async throws {
        for (_, view) in try await self.views(of: outcome.client) {
            let admins = view.allMembers.filter(\.isAdmin).compactMap { self.run.name(of: $0.publicKey) }
            self.require(
                Set(admins) == Set(outcome.admins ?? []), "\(outcome.client ?? ""): the admins are \(admins)")
        }
    }

    /// The members' cryptographic state must be the same, and their messages those of one history.
    private mutating func checkAgreement(_ outcome: ScenarioVector.Outcome) async throws {
        for chat in self.run.chats.values {
            var first: ComponentGroup?
            for client in outcome.clients ?? [] {
                guard let group = try await self.run.member(client).secondGroup(of: chat), group.isActive else {
                    self.faults.append("\(client) is not in the group")
                    continue
                }
                let tip = group.tip
                if let epoch = outcome.epoch.map({ self.shifted($0, in: chat) }) {
                    self.require(tip.epoch.rawValue == epoch, "\(client): expected epoch \(epoch), found \(tip.epoch)")
                }
                if let expected = outcome.memberCount {
                    let count = tip.members.count(where: { self.run.name(of: $0) != nil })
                    self.require(count == expected, "\(client): expected \(expected) members, found \(count)")
                }
                if let first {
                    let isSame =
                        first.mls.epochAuthenticator == tip.mls.epochAuthenticator
                        && first.mls.encodedRatchetTree == tip.mls.encodedRatchetTree
                        && first.mls.contextBytes == tip.mls.contextBytes
                    self.require(isSame, "\(client): another state of epoch \(tip.epoch)")
                }
                first = first ?? tip
            }
        }
    }

    private mutating func checkProbes(_ outcome: ScenarioVector.Outcome) async throws {
        self.require(!self.run.probes.isEmpty, "nothing was probed")
        for probe in self.run.probes {
            for receiver in probe.receivers {
                let texts = try self.run.member(receiver).visibleTexts(in: probe.chat)
                self.require(texts.contains(probe.text), "\(receiver) cannot read \(probe.sender)")
            }
        }
    }

    // MARK: Branches

    /// Only the commits of others change a client's epoch in the simulator's events, and a restart forgets the earlier.
    private mutating func checkEpochChanges(_ outcome: ScenarioVector.Outcome) throws {
        let client = try outcome.client.required("client")
        let member = try self.run.member(client)
        for chat in self.run.chats.values {
            let shift = self.run.shift[chat] ?? 0
            let found = member.events.dropFirst(self.run.mark(of: client, in: chat).run).compactMap {
                event -> ScenarioVector.Outcome.EpochChange? in
                guard event.chatID == chat, case .commit(let commit) = event.content, !commit.isOwn else { return nil }
                return ScenarioVector.Outcome.EpochChange(
                    from: commit.epochBefore - shift, to: commit.epochAfter - shift)
            }
            self.require(found == outcome.changes, "\(client): the epochs changed \(found)")
        }
    }

    private mutating func checkDecision(_ outcome: ScenarioVector.Outcome) async throws {
        // Without a client, the statement holds for each that the scenario observes.
        let observed = self.run.vector.scenario.steps.last { $0.type.hasPrefix("observe") }?.clients ?? []
        for client in outcome.client.map({ [$0] }) ?? observed {
            let member = try self.run.member(client)
            for (chat, view) in try await self.views(of: client) {
                if let epoch = outcome.selectedTipEpoch.map({ self.shifted($0, in: chat) }) {
                    self.require(view.epoch == epoch, "\(client): expected tip \(epoch), found \(view.epoch)")
                }
            }
            let notices = member.notices.map { "\($0.reason) \($0.detail)" }
            if let rule = outcome.decisiveRule {
                self.require(notices.contains { $0.contains(rule) }, "\(client): no notice names \(rule): \(notices)")
            }
            // A quorum decides by the depth that it adds, or by itself.
            if outcome.witnessQuorumMet == true {
                let rules = [BranchRule.depth, .quorum].map(\.rawValue)
                self.require(
                    rules.contains { rule in notices.contains { $0.contains(rule) } },
                    "\(client): no notice names a quorum's rule: \(notices)")
            }
        }
    }

    private mutating func checkRest(_ outcome: ScenarioVector.Outcome) async throws {
        for client in outcome.clients ?? [] {
            let member = try self.run.member(client)
            let open = member.store.outbox.filter { $0.event.kind == .groupEvent }
            self.require(open.isEmpty, "\(client) still publishes \(open.count) events")
            for chat in self.run.chats.values {
                guard let group = try await member.secondGroup(of: chat), group.isActive else { continue }
                self.require(group.pending == nil, "\(client) has a pending commit")
                self.require(group.convergence.status == .settled, "\(client): \(group.convergence.status)")
            }
        }
    }
}
