import Logging
import Metrics
import Nostr

/// Counts and logs the core's notes.
struct NoteRecorder: Sendable {
    let logger: Logger

    func record(_ note: CoreNote) {
        switch note {
        case .refused(let reason, let detail):
            Counter(label: "bot_events_ignored_total", dimensions: [("reason", reason)]).increment()
            self.logger.debug("an event was refused", metadata: ["reason": "\(reason)", "detail": "\(detail)"])
        case .waiting(let reason):
            Counter(label: "bot_decrypt_failures_total", dimensions: [("reason", reason)]).increment()
            self.logger.debug("an event cannot be decrypted yet; kept", metadata: ["reason": "\(reason)"])
        case .limited(let scope):
            Counter(label: "bot_rate_limited_total", dimensions: [("scope", scope)]).increment()
            Counter(label: "bot_events_ignored_total", dimensions: [("reason", "rate_limited_\(scope)")]).increment()
        case .droppedWaiting:
            Counter(label: "bot_decrypt_failures_total", dimensions: [("reason", "gave_up")]).increment()
            self.logger.info("dropped the oldest undecryptable event")
        case .ahead(let seconds):
            self.logger.warning(
                "an event is ahead of this machine's clock and waits; this clock or the sender's is wrong",
                metadata: ["seconds": "\(seconds)"])
        case .clockOffset(let seconds): Gauge(label: "bot_clock_offset_seconds").record(seconds)
        case .clock(let offset, let isOff):
            if isOff {
                self.logger.warning(
                    """
                    this machine's clock is wrong: relays and members refuse or miss events, and future events wait; \
                    enable time synchronization (timedatectl set-ntp true)
                    """, metadata: ["offset_seconds": "\(offset)"])
            } else {
                self.logger.notice("this machine's clock is right again", metadata: ["offset_seconds": "\(offset)"])
            }
        case .commit(let result):
            Counter(label: "bot_commits_processed_total", dimensions: [("result", result)]).increment()
        case .sent(let milliseconds):
            Counter(label: "bot_sends_total", dimensions: [("result", "accepted")]).increment()
            if let milliseconds {
                Metrics.Timer(label: "bot_publish_duration_seconds").recordMilliseconds(milliseconds)
            }
        case .sendFailed(let reason):
            Counter(label: "bot_sends_total", dimensions: [("result", "failed")]).increment()
            self.logger.info("a message could not be sent", metadata: ["reason": "\(reason)"])
        case .action(let bot, let action, let outcome):
            Counter(
                label: "bot_actions_total", dimensions: [("bot", bot), ("action", action), ("outcome", outcome)]
            ).increment()
        case .droppedEvent(let reason):
            Counter(label: "bot_inbox_given_up_total", dimensions: [("reason", reason)]).increment()
            self.logger.warning("dropped an event before it was handled", metadata: ["reason": "\(reason)"])
        case .gap(let relay, let gap):
            Counter(label: "bot_gap_events_total", dimensions: [("result", "recovered")]).increment(by: gap.recovered)
            Counter(label: "bot_gap_events_total", dimensions: [("result", "unknown")]).increment(by: gap.unknown)
            self.logger.info(
                "a relay was read to the end after it connected",
                metadata: [
                    "relay": "\(relay)", "from": "\(gap.from?.description ?? "the beginning")", "to": "\(gap.to)",
                    "recovered": "\(gap.recovered)", "unknown": "\(gap.unknown)",
                ])
        case .restored(let groups):
            self.logger.notice(
                "restored from a backup; this account's messages wait until every group has fresh keys",
                metadata: ["groups": "\(groups)"])
        case .stateRolledBack(let groups):
            Counter(label: "bot_state_rollbacks_total").increment()
            self.logger.error(
                "relays hold messages of this account that this state never sent; it was rolled back or copied",
                metadata: ["groups": "\(groups)"])
        case .signer(let status): self.record(status)
        case .routingCollision(let nostrGroupID, let chatIDs):
            Counter(label: "bot_routing_collisions_total").increment()
            self.logger.warning(
                "several groups claim one nostr_group_id; each event goes to the group whose key opens it",
                metadata: [
                    "nostr_group_id": "\(nostrGroupID)", "groups": "\(chatIDs.map(\.rawValue).joined(separator: " "))",
                ])
        case .overtaken(let chatID):
            Counter(label: "bot_groups_overtaken_total").increment()
            self.logger.error(
                "a group can no longer be followed: let an admin remove this account and invite it again",
                metadata: ["chat": "\(chatID.rawValue.prefix(8))"])
        case .unrecoverable(let chatID, let reason):
            Counter(label: "bot_groups_unrecoverable_total").increment()
            self.logger.error(
                "the history of a group can no longer be followed: let an admin remove this account and invite it again",
                metadata: ["chat": "\(chatID.rawValue.prefix(8))", "reason": "\(reason)"])
        case .blocked(let chatID, let reason?):
            self.logger.warning(
                "no branch of a group's history could be chosen; the next attempt continues this one",
                metadata: ["chat": "\(chatID.rawValue.prefix(8))", "reason": "\(reason)"])
        case .blocked(let chatID, nil):
            self.logger.notice(
                "a branch of the group's history was chosen again",
                metadata: ["chat": "\(chatID.rawValue.prefix(8))"])
        case .rollback(let role):
            Counter(label: "pikabot_rollbacks_total", dimensions: [("committer", role.rawValue)]).increment()
        case .rollbackStorm(let chatID, let committer, let role):
            self.logger.warning(
                "one account repeatedly undoes the commits of a group",
                metadata: [
                    "chat": "\(chatID.rawValue.prefix(8))", "committer": "\(committer.hex.prefix(8))",
                    "role": "\(role.rawValue)",
                ])
        }
    }

    private func record(_ status: AppState.SignerStatus) {
        switch status {
        case .unknown: break
        case .ready: self.logger.info("the remote signer is reachable")
        case .away(let reason):
            Counter(label: "bot_signer_failures_total", dimensions: [("reason", "away")]).increment()
            self.logger.warning(
                "the remote signer is away; operations that need it wait", metadata: ["reason": "\(reason)"])
        case .refused(let reason):
            Counter(label: "bot_signer_failures_total", dimensions: [("reason", "refused")]).increment()
            self.logger.warning("the remote signer refused a request", metadata: ["reason": "\(reason)"])
        case .needsApproval(let url):
            self.logger.notice("the remote signer requires approval of a request", metadata: ["url": "\(url)"])
        }
    }
}
