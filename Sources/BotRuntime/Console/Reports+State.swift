import BotDispatch
import BotKit
import ConsoleReports
import Nostr
import PikaCore
import Telemetry

extension AccountCounters {
    /// - Parameter canary: the mean of the latest round trips in milliseconds.
    init(_ families: [MetricFamily], _ vitals: CoreVitals, _ canary: Double?) {
        self.init()
        received = families.total("bot_events_received_total")
        answered = families.total("bot_sends_total") { $0["result"] == "accepted" }
        failed =
            families.total("bot_sends_total") { $0["result"] == "failed" }
            + families.total("bot_handler_errors_total") + families.total("bot_handler_timeouts_total")
        handlerSeconds = families.total("bot_handler_duration_seconds")
        handlerCalls = families.total("bot_handler_duration_seconds", counts: true)
        publishSeconds = families.total("bot_publish_duration_seconds")
        publishes = families.total("bot_publish_duration_seconds", counts: true)
        canaryMilliseconds = canary
        inbox = vitals.inboxDepth
        inboxAge = vitals.oldestInboxAt.map { max(0, vitals.takenAt.seconds(since: $0)) } ?? 0
        outbox = vitals.outboxDepth
        outboxAge = vitals.oldestOutboxAt.map { max(0, vitals.takenAt.seconds(since: $0)) } ?? 0
    }
}

extension [MetricFamily] {
    /// Returns the sum over the series of a metric; of a histogram the sum of its observations, or with `counts` their
    /// number.
    func total(
        _ name: String, counts: Bool = false, where isCounted: (MetricFamily.Series) -> Bool = { _ in true }
    ) -> Double {
        guard let family = first(where: { $0.name == name }) else { return 0 }
        return family.series.filter(isCounted).reduce(0) { sum, series in
            sum + (counts ? series.buckets.last.map { Double($0) } ?? 0 : series.value)
        }
    }
}

extension MetricFamily.Series {
    /// The value of a label.
    subscript(label: String) -> String? { labels.first { $0.name == label }?.value }
}

extension WorkerHealth {
    /// The mean of the latest round trips of the configured relays' canaries, in milliseconds; nil if none came back.
    var meanCanary: Double? {
        let times = examination.relays.current.compactMap { relay -> Double? in
            guard case .returned(let milliseconds)? = canaryResults[relay]?.outcome else { return nil }
            return Double(milliseconds)
        }
        return times.isEmpty ? nil : times.reduce(0, +) / Double(times.count)
    }
}

extension RelayReport {
    init(_ relay: AppState.RelayStatus, canary: CanaryResults.Entry?, isConfigured: Bool) {
        self.init(url: relay.url.description)
        switch relay.connection {
        case .disconnected: state = "disconnected"
        case .connecting: state = "connecting"
        case .connected: state = "connected"
        case .retrying(let attempt, let reason):
            state = "retrying"
            self.reason = "attempt \(attempt): \(reason)".limited(to: ReportLimits.sentence)
        }
        isCaughtUp = relay.isCaughtUp
        gap = relay.gap.map { gap in
            Gap(
                from: gap.from?.seconds, to: gap.to.seconds, recovered: gap.recovered, unknown: gap.unknown,
                failedReads: gap.failedReads, isRead: gap.isRead)
        }
        switch canary?.outcome {
        case .returned(let milliseconds): canaryMilliseconds = milliseconds
        case .failed(let failure, _): canaryFailure = failure.rawValue
        case nil: break
        }
        canaryAt = canary.map { $0.at / 1_000 }
        self.isConfigured = isConfigured
    }
}

extension KeyPackageReport {
    init(_ vitals: CoreVitals) {
        self.init()
        let announcement = vitals.state.keyPackage.explained(by: vitals.state.relays)
        isAnnounced = vitals.announcesKeyPackage
        isPublished = vitals.state.hasPublishedKeyPackage
        event = announcement.event?.hex
        expiresAt = vitals.keyPackageEndsAt?.seconds
        answers = announcement.keyPackage.prefix(ReportLimits.relays).map { answer in
            let relay = answer.relay.description
            return switch answer.answer {
            case .pending: Answer(relay: relay, state: "pending")
            case .stored: Answer(relay: relay, state: "stored")
            case .refused(let reason):
                Answer(relay: relay, state: "refused", reason: reason.limited(to: ReportLimits.sentence))
            case .unreachable(let reason):
                Answer(relay: relay, state: "unreachable", reason: reason.limited(to: ReportLimits.sentence))
            }
        }
    }
}

extension ChatReport {
    init(_ chat: AppState.ChatSummary) {
        self.init(id: chat.chatID.rawValue)
        name = chat.displayName.limited(to: ReportLimits.name)
        members = chat.members.count + (chat.me == nil ? 0 : 1)
        epoch = chat.epoch
        lastAt = chat.lastMessageAt?.seconds
        isActive = chat.isActive
        isGroup = chat.isGroup
        generation = chat.generation.rawValue
        divergence = chat.convergence?.undecidedText?.limited(to: ReportLimits.sentence)
        ended =
            switch chat.endReason {
            case .removed(let remover): remover.map { "removed by \($0.npub.prefix(12))" } ?? "removed"
            case .left: "left"
            case .overtaken: "needs a new invitation"
            case nil: nil
            }
    }
}

extension AppState.WaitingProposal {
    /// The proposal in words.
    var shown: String {
        let who = proposer.npub.prefix(12)
        return switch change {
        case .departure: "\(who) leaves"
        case .removal(let member): "\(who) proposes to remove \(member.npub.prefix(12))"
        case .addition(let member): "\(who) proposes to add \(member.map { "\($0.npub.prefix(12))" } ?? "a member")"
        }
    }
}
