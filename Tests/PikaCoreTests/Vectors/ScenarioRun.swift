import BotTesting
import Nostr

@testable import PikaCore

/// Plays a scenario of MDK's simulator with accounts of a lab: real cores, a virtual clock, and manual delivery.
///
/// There are two differences from the simulator. Our groups begin with the founder as the only admin, so further
/// initial admins need one more commit, and ``shift`` moves all later epochs. And our accounts make a change again that
/// lost with its branch, where MDK's engine leaves that to its caller; the relay refuses every such commit that the
/// scenario does not name.
final class ScenarioRun {
    /// Time in which a pass ends, and another one that it makes possible.
    private static let pass = Duration.seconds(3)
    /// The group of steps that name none.
    static let mainGroup = "main"

    /// The number of a client's events in a group that a check skips.
    struct Mark {
        var events = 0
        /// As `events`, but also reset by a restart.
        var run = 0
    }

    let vector: ScenarioVector
    let lab: GroupLab
    private(set) var members: [String: LabMember] = [:]
    private(set) var chats: [String: ChatID] = [:]
    /// The number of additional epochs at the founding of a group, compared with the simulator.
    private(set) var shift: [ChatID: UInt64] = [:]
    /// The throw-away member of the first group, whose view is exported; nil if there is none.
    private(set) var paper: PaperMember?
    private(set) var transcript: GroupTranscript?
    private var routingIDs: Set<String> = []
    var mail = ScenarioMail()
    private var requests: [String: (client: String, request: RequestID)] = [:]
    private var unanswered: [(client: String, publication: String?, event: EventID)] = []
    private var known: Set<EventID> = []
    private var latest: [String: String] = [:]
    private var extraAdmins: [String: (group: String, admins: [String])] = [:]
    private var marks: [String: [ChatID: Mark]] = [:]
    /// Departures that another member has not committed yet.
    private var departures = 0
    private(set) var resolutions: [String: String] = [:]
    /// Failed assertions and errors, as the steps found them.
    private(set) var faults: [String] = []
    /// Messages of the mutual test of decryption: text and sender.
    private(set) var probes: [(chat: ChatID, sender: String, text: String, receivers: [String])] = []

    private var relay: RelayURL { self.lab.relay }

    /// - Parameter exports: whether a throw-away member joins the first group.
    init(_ vector: ScenarioVector, seed: UInt64, exports: Bool) async throws {
        self.vector = vector
        self.lab = try GroupLab(seed: seed, groupProtocol: .v2)
        for client in vector.scenario.clients { self.members[client] = try await self.lab.member(client) }
        if exports {
            let paper = try PaperMember(seed: seed, relays: self.lab.relays, now: self.lab.clock.now)
            for event in paper.events { self.lab.network.inject(event, at: self.relay) }
            self.paper = paper
        }
        self.lab.network.onPublish { publication in
            publication.event.kind == .groupEvent || publication.event.kind == .giftWrap ? .hold : .deliver
        }
    }

    /// The account of a client, by its lower-case name in the scenario.
    func member(_ name: String?) throws -> LabMember {
        guard let name, let member = self.members[name] else {
            throw ScenarioError("\(name ?? "a step without client") is not a client")
        }
        return member
    }

    func name(of key: PublicKey) -> String? { self.members.first { $0.value.publicKey == key }?.key }

    func mark(of client: String, in chat: ChatID) -> Mark { self.marks[client]?[chat] ?? Mark() }

    /// Returns the members of a chat without the throw-away one.
    func clients(in chat: AppState.ChatSummary) -> [String] {
        chat.allMembers.compactMap { self.name(of: $0.publicKey) }
    }

    func play() async throws {
        for (index, step) in self.vector.scenario.steps.enumerated() {
            do { try await self.perform(step, at: index) } catch {
                throw ScenarioError("step \(index), \(step.type): \(error)")
            }
        }
        try await self.exportTranscript()
    }

    /// Delivers everything that is still under way to all clients.
    func finish() async throws {
        for _ in 0..<3 {
            try await self.acknowledgeAll()
            try self.note(self.mail.deliver(to: self.vector.scenario.clients))
            try await self.tick(self.vector.scenario.clients)
        }
    }

    func fail(_ text: String) { self.faults.append(text) }

    // MARK: Steps

    private func perform(
        _ step: ScenarioVector.Step, at index: Int, in group: String = ScenarioRun.mainGroup
    ) async throws {
        switch step.type {
        case "in_group":
            guard let action = step.action?.step, let name = step.group else { throw ScenarioError("no action") }
            try await self.perform(action, at: index, in: name)
        case "create_group": try await self.create(step, in: group)
        case "acknowledge_outbound":
            try await self.acknowledge(
                try step.client.required("client"), step.publication, isAccepted: step.outcome == "accepted")
        case "deliver_all":
            try await self.acknowledgeAll()
            try self.note(self.mail.deliver(to: self.vector.scenario.clients))
        case "sync_relay_history": try self.note(self.mail.synchronize(step.clients ?? []))
        case "tick": try await self.tick(step.clients ?? [])
        case "await_quiescence": try await self.rest()
        case "clear_events": try self.clearEvents(of: step.clients ?? [])
        case "observe", "observe_exact", "observe_admin_policy", "barrier": break
        case "withhold_message":
            try self.mail.withhold(try step.selector.required("selector"), as: step.label ?? "")
        case "release_withheld": self.mail.release(step.label ?? "")
        case "omit_message": try self.mail.omit(try step.selector.required("selector"))
        case "duplicate_message": try self.mail.duplicate(try step.selector.required("selector"))
        case "reorder_messages": try self.mail.reorder(step.order ?? [])
        case "set_relay_event_visibility":
            self.mail.setVisible(
                step.visible == true, try step.selector.required("selector"), to: step.clients ?? [])
        case "set_partition": self.mail.allowed = Set(step.allow ?? [])
        case "clear_partition": self.mail.allowed = nil
        case "restart_client": try await self.restart(try step.client.required("client"))
        case "send_app_message":
            let text = try step.payload.required("payload")
            try await self.say(text, try step.sender.required("sender"), in: try self.chat(group))
        case "probe_bidirectional_decryptability":
            try await self.probe(step.clients ?? [], in: try self.chat(group))
        case "assert": try self.check(try step.assertion.required("assertion"), at: index)
        case "expect_update_admin_policy_error": try await self.expectError(step, at: index, in: try self.chat(group))
        default: try await self.change(step, in: try self.chat(group))
        }
    }

    func chat(_ group: String) throws -> ChatID { try self.chats[group].required("group \(group)") }

    private func create(_ step: ScenarioVector.Step, in group: String) async throws {
        let creator = try self.member(step.creator)
        let before = Set(try await creator.state().chatList.map(\.chatID))
        var peers = try (step.invitees ?? []).map { try self.member($0).publicKey }
        if let paper = self.paper, self.chats.isEmpty { peers.append(paper.keys.publicKey) }
        let publication = try step.pending.required("pending")
        let request = creator.begin(.createGroupChat(name: step.name ?? "", peers: peers))
        self.requests[publication] = (creator.name, request)
        try await self.collect(creator.name, publication, .welcome)
        let chats = try await creator.state().chatList.map(\.chatID).filter { !before.contains($0) }
        guard let chat = chats.first, chats.count == 1 else {
            throw ScenarioError("the group was not founded: \(String(describing: creator.outcome(of: request)))")
        }
        self.chats[group] = chat
        if self.chats.count == 1 { self.routingIDs = Set(try await creator.summary(of: chat)?.routingIDs ?? []) }
        let admins = (step.initialAdmins ?? self.actingClients(among: step.invitees ?? []))
            .filter { $0 != step.creator }
        if !admins.isEmpty { self.extraAdmins[publication] = (group, admins) }
    }

    /// The admins that a step without a list of them implies: those that make an admin's change later.
    private func actingClients(among invitees: [String]) -> [String] {
        let kinds = [
            "update_group_data", "update_group_profile", "update_admin_policy", "invite_members", "remove_members",
        ]
        let clients = self.vector.scenario.steps.filter { kinds.contains($0.type) }
            .compactMap { $0.client ?? $0.inviter ?? $0.remover }
        return Set(clients).intersection(invitees).sorted()
    }

    /// Performs a step that changes a group.
    private func change(_ step: ScenarioVector.Step, in chat: ChatID) async throws {
        let member = try self.member(step.client ?? step.inviter ?? step.remover)
        let keys = { (names: [String]?) in try (names ?? []).map { try self.member($0).publicKey } }
        let action: AppAction
        switch step.type {
        case "update_group_data": action = .renameGroup(chatID: chat, name: step.name ?? "")
        case "update_group_profile" where step.description != nil:
            action = .setGroupDescription(chatID: chat, description: step.description ?? "")
        case "update_group_profile": action = .renameGroup(chatID: chat, name: step.name ?? "")
        case "update_admin_policy": action = .setGroupAdmins(chatID: chat, admins: try keys(step.admins))
        case "invite_members": action = .addGroupMembers(chatID: chat, peers: try keys(step.invitees))
        case "remove_members": action = .removeGroupMembers(chatID: chat, peers: try keys(step.members))
        case "self_update": action = .updateGroupKeys(chatID: chat)
        case "leave": action = .leaveGroup(chatID: chat)
        default: throw ScenarioError("unknown type of step")
        }
        let request = member.begin(action)
        if let publication = step.pending { self.requests[publication] = (member.name, request) }
        let content: ScenarioMail.Content = step.type == "leave" ? .proposal : .commit
        try await self.collect(member.name, step.pending, content)
        if case .failed(let error)? = member.outcome(of: request) { throw error }
        guard content == .proposal else { return }
        self.departures += 1
        try await self.acknowledge(member.name, nil, isAccepted: true)
    }

    private func say(_ text: String, _ sender: String, in chat: ChatID) async throws {
        let member = try self.member(sender)
        let request = member.begin(.sendMessage(chatID: chat, .text(text)))
        try await self.lab.settle()
        // A message waits while a pass is open.
        if member.outcome(of: request) == nil { try await self.lab.advance(by: Self.pass) }
        try await self.collect(sender, nil, .application)
        guard case .queued? = member.outcome(of: request) else { throw ScenarioError("the message was not sent") }
        try await self.acknowledge(sender, nil, isAccepted: true)
    }

    private func tick(_ clients: [String]) async throws {
        for client in clients {
            for event in self.mail.collect(client) {
                self.lab.network.hand(event, to: client, at: self.relay)
                try await self.lab.settle()
            }
        }
        try await self.rest()
    }

    /// Lets all passes end. A change that is made again must not keep the next pass from opening.
    private func rest() async throws {
        for _ in 0..<4 {
            try await self.lab.advance(by: Self.pass)
            try await self.collectUnnamed()
        }
    }

    private func restart(_ client: String) async throws {
        let member = try self.member(client)
        member.crash()
        try await member.restart()
        for chat in self.chats.values {
            self.marks[client, default: [:]][chat, default: Mark()].run = member.events.count
        }
    }

    private func clearEvents(of clients: [String]) throws {
        for client in clients {
            let count = try self.member(client).events.count
            for chat in self.chats.values { self.marks[client, default: [:]][chat] = Mark(events: count, run: count) }
        }
    }

    private func probe(_ clients: [String], in chat: ChatID) async throws {
        for client in clients {
            let text = "probe \(self.probes.count)"
            self.probes.append((chat, client, text, clients.filter { $0 != client }))
            try await self.say(text, client, in: chat)
        }
        try self.note(self.mail.deliver(to: self.vector.scenario.clients))
        try await self.tick(clients)
    }

    // MARK: Publications

    /// Assigns new publications: those of `client` to the step, all others to none.
    private func collect(_ client: String, _ publication: String?, _ content: ScenarioMail.Content) async throws {
        try await self.lab.settle()
        if let publication { self.latest[client] = publication }
        for held in self.newPublications {
            let isWelcome = held.event.kind == .giftWrap
            guard held.sender == client || isWelcome else {
                try await self.collect(unnamed: held)
                continue
            }
            let owner = isWelcome ? self.latest[held.sender] : publication
            self.queue(held, owner, isWelcome ? .welcome : content)
        }
    }

    /// Assigns publications that no step has asked for: commits of departures, invitations, and changes made again.
    private func collectUnnamed() async throws {
        try await self.lab.settle()
        for held in self.newPublications {
            if held.event.kind == .giftWrap {
                self.queue(held, self.latest[held.sender], .welcome)
            } else {
                try await self.collect(unnamed: held)
            }
        }
    }

    private func collect(unnamed held: LabNetwork.Publication) async throws {
        if self.departures > 0 {
            self.departures -= 1
            self.queue(held, nil, .commit)
        } else {
            self.known.insert(held.event.id)
            self.lab.network.answerHeld(held.event.id, .refused("blocked: not part of the scenario"))
            try await self.lab.settle()
        }
    }

    private var newPublications: [LabNetwork.Publication] {
        self.lab.network.heldPublications.filter { !self.known.contains($0.event.id) }
    }

    private func queue(_ held: LabNetwork.Publication, _ publication: String?, _ content: ScenarioMail.Content) {
        self.known.insert(held.event.id)
        self.mail.append(ScenarioMail.Item(held.event, by: held.sender, publication: publication, content))
        self.unanswered.append((held.sender, publication, held.event.id))
    }

    /// Answers a publication of a client; without its name, all of the client's.
    private func acknowledge(_ client: String, _ publication: String?, isAccepted: Bool) async throws {
        try await self.collectUnnamed()
        try await self.answer(isAccepted) {
            $0.client == client && (publication == nil || $0.publication == publication)
        }
        if isAccepted {
            // The Welcomes of a commit follow its acceptance.
            try await self.collectUnnamed()
            try await self.answer(true) { $0.client == client && $0.publication == publication }
        }
        guard let publication, let (_, request) = self.requests[publication] else { return }
        var isFailed = false
        if case .failed? = try self.member(client).outcome(of: request) { isFailed = true }
        self.resolutions[publication] = isFailed ? "rolled_back" : isAccepted ? "confirmed" : "pending"
        if isAccepted, let (group, admins) = self.extraAdmins.removeValue(forKey: publication) {
            try await self.appoint(admins, by: client, in: group, publication)
        }
    }

    private func acknowledgeAll() async throws {
        try await self.collectUnnamed()
        try await self.answer(true) { _ in true }
        try await self.collectUnnamed()
        try await self.answer(true) { _ in true }
    }

    private func answer(
        _ isAccepted: Bool, _ selects: ((client: String, publication: String?, event: EventID)) -> Bool
    ) async throws {
        let chosen = self.unanswered.filter(selects)
        self.unanswered.removeAll(where: selects)
        for entry in chosen {
            self.lab.network.answerHeld(
                entry.event, isAccepted ? .accepted : .refused("blocked: the scenario's relay is not reached"))
            if !isAccepted { self.mail.drop(entry.event) }
        }
        try await self.lab.settle()
    }

    /// Makes the further initial admins of a new group.
    private func appoint(_ admins: [String], by creator: String, in group: String, _ publication: String) async throws {
        let chat = try self.chat(group)
        let member = try self.member(creator)
        let keys = try admins.map { try self.member($0).publicKey }
        let request = member.begin(.setGroupAdmins(chatID: chat, admins: [member.publicKey] + keys))
        try await self.collect(creator, publication, .commit)
        try await self.answer(true) { $0.client == creator && $0.publication == publication }
        if case .failed(let error)? = member.outcome(of: request) { throw error }
        self.shift[chat] = 1
    }

    // MARK: Export

    /// Notes the events that the throw-away member receives.
    private func note(_ events: [Event]) throws {
        guard let paper = self.paper else { return }
        for event in events {
            if self.transcript == nil, event.kind == .giftWrap, event.firstTag("p")?.value == paper.keys.publicKey.hex {
                self.transcript = GroupTranscript(
                    self.vector.scenario.name, of: paper, invitedBy: event)
            }
            guard let id = event.firstTag("h")?.value, self.routingIDs.contains(id) else { continue }
            try self.transcript?.append(event, atMilliseconds: self.lab.clock.nowMilliseconds)
        }
    }

    private func exportTranscript() async throws {
        guard self.transcript != nil else { return }
        self.transcript?.pass(toMilliseconds: self.lab.clock.nowMilliseconds)
        // The throw-away member has received everything, so it agrees with members that have.
        let agreement = self.vector.outcomes.first { $0.type == "clients_exactly_equivalent" }
        if let client = agreement?.clients?.first, let chat = self.chats[Self.mainGroup],
            let group = try await self.member(client).secondGroup(of: chat)
        {
            self.transcript?.end(with: group.tip)
        }
        try self.transcript?.addKeyPackages(self.lab.network.events(at: self.relay))
        try self.transcript?.write()
    }
}

extension Optional {
    /// Returns the value; throws if there is none.
    func required(_ what: String) throws -> Wrapped {
        guard let self else { throw ScenarioError("\(what) is missing") }
        return self
    }
}
