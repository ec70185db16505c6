import BotConfiguration
import BotDispatch
import BotKit
import ConsoleReports
import ExternalBots
import Foundation
import Nostr
import PikaCore
import Telemetry

/// Answers the operator's console about one account. Everything is bounded by ``ConsoleReports/ReportLimits``, and the
/// text of messages is part of an answer only if the configuration says so.
struct WorkerConsole: Sendable {
    let core: AppCore
    let health: WorkerHealth
    let admission: Admission
    /// The bots with their kinds, in the order of the file.
    let bots: [(label: String, kind: String)]
    let policies: ShownPolicies
    let programs: [ExternalBot]
    let timelines: ChatTimelines
    let showsContents: Bool

    /// Registers `console` {part: `summary`, `account`, `chat` or `probes`} and `invitation` {wrapper, accept}.
    func answer(_ requests: inout WorkerRequests) {
        requests.on("console") { question in
            switch question["part"]?.string {
            case "summary": try JSONValue(encoding: try await summary())
            case "account": try JSONValue(encoding: try await account())
            case "chat":
                try JSONValue(encoding: try await chat(ChatID(rawValue: question["chat"]?.string ?? "")))
            case "probes": try JSONValue(encoding: probes())
            default: throw WorkerRefusal("\"part\" must be summary, account, chat or probes")
            }
        }
        requests.on("invitation") { question in
            guard let text = question["wrapper"]?.string, let wrapper = try? EventID(hex: text),
                let accepts = question["accept"]?.bool
            else { throw WorkerRefusal("an invitation needs its wrapper's id, and accept") }
            let action: AppAction =
                accepts ? .acceptInvite(wrapper: wrapper) : .declineInvite(wrapper: wrapper)
            switch await core.outcome(of: action, "console/invitation/\(text)") {
            case nil: throw WorkerRefusal("the core has ended")
            case .failed(let error): throw WorkerRefusal(error.message)
            default: return .object([:])
            }
        }
    }

    private func examine() async throws -> (report: HealthReport, vitals: CoreVitals) {
        guard let result = await health.examine() else { throw WorkerRefusal("the core has ended") }
        timelines.note(result.vitals.state.chatList, now: result.vitals.takenAt)
        return result
    }

    private func summary() async throws -> AccountSummary {
        let (report, vitals) = try await examine()
        return summary(report, vitals)
    }

    private func summary(_ report: HealthReport, _ vitals: CoreVitals) -> AccountSummary {
        let state = vitals.state
        var summary = AccountSummary()
        summary.npub = core.account.npub
        summary.isReady = state.isReady
        summary.relays = state.relays.count
        summary.connectedRelays = state.relays.count { $0.connection == .connected }
        summary.chats = state.chatList.count
        summary.invitations = state.invites.count
        summary.pausedBots = bots.map(\.label).filter(admission.isPaused)
        summary.checks = report.checks.prefix(ReportLimits.relays * 2 + 8).map {
            CheckReport(check: $0.check, relay: $0.relay, ok: $0.ok, message: $0.message)
        }
        summary.haltedGroups = state.chatList.lazy.compactMap(Self.halt).prefix(20).map(\.self)
        summary.storms = vitals.rollbackStorms.prefix(20).map { storm in
            let tally = storm.tally
            return "\(tally.committer.npub), \(tally.role.rawValue), \(tally.count) times in chat "
                + "\(storm.chatID.rawValue.prefix(8))"
        }
        summary.quarantine = core.quarantine.prefix(20).map { "\($0.subject), after \($0.deaths) crashes" }
        summary.counters = AccountCounters(health.registry.families(), vitals, health.meanCanary)
        return summary
    }

    private static func halt(_ chat: AppState.ChatSummary) -> String? {
        chat.convergence?.haltText.map { "chat \(chat.chatID.rawValue.prefix(8)), \($0)" }
    }

    // MARK: Account

    private func account() async throws -> AccountReport {
        let (health, vitals) = try await examine()
        let state = vitals.state
        var report = AccountReport()
        report.summary = summary(health, vitals)
        let configured = Set(self.health.examination.relays.current)
        report.relays = state.relays.prefix(ReportLimits.relays).map { relay in
            RelayReport(
                relay, canary: self.health.canaryResults[relay.url], isConfigured: configured.contains(relay.url))
        }
        report.keyPackage = KeyPackageReport(vitals)
        report.chats = state.chatList.prefix(ReportLimits.chats).map { ChatReport($0) }
        report.chatCount = state.chatList.count
        report.invitations = state.invites.prefix(ReportLimits.invitations).map { invite in
            InvitationReport(
                id: invite.wrapper.hex, inviter: invite.inviter.npub,
                group: invite.group?.name.limited(to: ReportLimits.name), members: invite.group?.memberCount)
        }
        report.bots = await botReports()
        report.deadLetters = vitals.deadLetters
        report.parked = vitals.parked.waiting + vitals.parked.held
        report.parkedBytes = vitals.parked.waitingBytes + vitals.parked.heldBytes
        return report
    }

    private func botReports() async -> [BotReport] {
        let families = health.registry.families()
        let hanging = health.hanging()
        var reports: [BotReport] = []
        for (label, kind) in bots.prefix(ReportLimits.bots) {
            var report = BotReport(name: label)
            report.kind = kind
            report.isPaused = admission.isPaused(label)
            report.limits = policies[label].map(Self.limits) ?? []
            // The label of a handler begins with its bot's.
            let isOwn = { (series: MetricFamily.Series) in series["handler"]?.hasPrefix("\(label) ") == true }
            report.calls = families.total("bot_handler_duration_seconds", counts: true, where: isOwn)
            report.errors = families.total("bot_handler_errors_total", where: isOwn)
            report.timeouts = families.total("bot_handler_timeouts_total", where: isOwn)
            report.hanging = hanging[label] ?? 0
            if let program = programs.first(where: { $0.label == label }) {
                let status = await program.status
                report.program = status.state.rawValue
                report.programRestarts = status.restarts
            }
            reports.append(report)
        }
        return reports
    }

    private static func limits(_ policy: BotPolicy) -> [String] {
        var limits: [String] = []
        if let rate = policy.limits.perSender { limits.append("\(rate) for each sender") }
        if let rate = policy.limits.perGroup { limits.append("\(rate) for each group") }
        limits.append("\(policy.limits.botPair) messages between bots")
        limits.append(
            "timeout \(policy.timeout.formatted(.units(allowed: [.minutes, .seconds, .milliseconds], width: .narrow)))")
        return limits
    }

    // MARK: Chat

    private func chat(_ id: ChatID) async throws -> ChatDetail {
        let (_, vitals) = try await examine()
        guard let chat = vitals.state.chatList.first(where: { $0.chatID == id }) else {
            throw WorkerRefusal("the account has no chat with this id")
        }
        var detail = ChatDetail(chat: ChatReport(chat))
        detail.description = chat.description.limited(to: ReportLimits.sentence)
        detail.relays = chat.relays.prefix(ReportLimits.relays).map(\.description)
        detail.members = chat.allMembers.prefix(ReportLimits.members).map { member in
            MemberReport(
                npub: member.publicKey.npub, name: member.name?.limited(to: ReportLimits.name),
                isAdmin: member.isAdmin, isSelf: member.publicKey == core.account)
        }
        detail.proposals = chat.proposals.prefix(ReportLimits.proposals).map(\.shown)
        detail.moments = timelines[id]
        detail.hasContents = showsContents
        do {
            detail.messages = try await core.messages(chatID: id, limit: ReportLimits.messages).map { message in
                self.report(message, vitals.unsent)
            }
        } catch let error as AppCoreError where error.code == .unknownChat {
            // The account has left the chat: it has no messages any more.
        }
        return detail
    }

    private func report(_ message: StoredMessage, _ unsent: [EventID: AppState.Delivery]) -> MessageReport {
        var reason: String?
        let delivery: String
        switch message.isOwn ? unsent[message.id] ?? .sent : .received {
        case .received: delivery = "received"
        case .pending: delivery = "pending"
        case .sent: delivery = "sent"
        case .failed(let text):
            delivery = "failed"
            reason = text.limited(to: ReportLimits.sentence)
        }
        return MessageReport(
            id: message.id.hex, sender: message.rumor.pubkey.npub, at: message.time.seconds,
            epoch: message.epochNumber, kind: Int(message.rumor.kind.rawValue), isOwn: message.isOwn,
            delivery: delivery, reason: reason,
            content: showsContents ? message.rumor.content.limited(to: ReportLimits.content) : nil)
    }

    // MARK: Probes

    private func probes() -> ProbeSamples {
        let names = Set(MetricCatalogue.probes.map(\.name))
        var samples: [ProbeSamples.Sample] = []
        for family in health.registry.families() where names.contains(family.name) && family.kind != .histogram {
            for series in family.series {
                let labels = series.labels.map { ($0.name, $0.value.limited(to: ReportLimits.name)) }
                samples.append(
                    ProbeSamples.Sample(
                        name: family.name, labels: Dictionary(labels) { first, _ in first }, value: series.value))
            }
        }
        return ProbeSamples(samples: Array(samples.prefix(ReportLimits.samples)))
    }
}
