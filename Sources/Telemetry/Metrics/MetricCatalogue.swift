/// All exported metrics, in the order of the export; `docs/metrics.md` lists the same.
///
/// Most modules that measure do not import this one, so measurements name metrics and labels by literals; tests compare
/// each of them with its description here.
///
/// Names and labels are a contract with operators' dashboards and rules. No label contains a key, an id or content:
/// labels are words of this software, names that the operator gave in the configuration, and hosts of configured relays.
package enum MetricCatalogue {
    package static let all =
        worker + relays + handlers + feeds + resources + sending + watching + supervision + daemon + probes

    /// From one millisecond to a minute.
    static let durations = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

    private static let worker: [MetricDescription] = [
        .gauge("bot_info", "Always 1; the label holds the running version.", labels: ["version"]),
        .gauge("bot_ready", "Whether all health checks of the account pass (1) or not (0)."),
        .gauge("bot_state_revision", "Revision of the account's latest state snapshot."),
        .gauge("bot_groups", "Groups that the account is a member of."),
        .gauge(
            "bot_groups_halted", "Groups of v2 whose history the account cannot follow, by reason.",
            labels: ["reason"]),
        .gauge(
            "bot_last_event_timestamp_seconds", "Unix time at which the newest event for the handlers was received."),
        .counter(
            "bot_events_received_total", "Events dispatched to the handlers, by type.",
            labels: ["type"]),
        .counter("bot_events_duplicate_total", "Events received again from a relay."),
        .counter(
            "bot_events_ignored_total", "Events that were rejected or withheld from a bot, by reason.",
            labels: ["reason"]),
        .counter(
            "bot_decrypt_failures_total",
            "Failed attempts to decrypt a group event, by reason; one event may be counted several times.",
            labels: ["reason"]),
        .counter("bot_commits_processed_total", "Processed commits and proposals, by result.", labels: ["result"]),
        .counter(
            "pikabot_rollbacks_total",
            "Commits that rolled back earlier ones of their group, by the committer's role.",
            labels: ["committer"]),
        .counter("bot_call_signals_total", "Received call signals, by type.", labels: ["type"]),
        .counter(
            "bot_media_reads_total", "Files of messages that were read, by source (cache or server).",
            labels: ["source"]),
        .gauge(
            "bot_clock_offset_seconds",
            "Offset of the clocks of relays and members to this machine's; negative if they are behind."),
        .counter(
            "bot_routing_collisions_total", "Detected collisions of several groups with the same nostr_group_id."),
        .counter(
            "bot_state_rollbacks_total", "Starts with a state older than the account's messages on relays."),
        .counter(
            "bot_groups_overtaken_total",
            "Groups that the account can no longer follow, because another copy of it changed their keys."),
        .counter(
            "bot_groups_unrecoverable_total",
            "Groups of v2 whose history the account can no longer follow, because its state is incomplete."),
        .counter("bot_signer_failures_total", "Failed requests to the remote signer, by reason.", labels: ["reason"]),
    ]

    private static let relays: [MetricDescription] = [
        .gauge(
            "bot_relay_connected", "Whether a configured relay is connected (1) or not (0).", labels: ["relay"]),
        .counter(
            "bot_relay_reconnects_total",
            "Lost or failed relay connections that are retried, by reason.",
            labels: ["reason"]),
        .counter("bot_relay_messages_received_total", "Messages received from relays."),
        .counter(
            "bot_relay_publishes_total", "Responses of single relays to published events, by outcome.",
            labels: ["outcome"]),
        .counter("bot_gap_seconds_total", "Seconds without a connection to any configured relay."),
        .counter(
            "bot_gap_events_total", "Events fetched after a disconnection, by decryption result.",
            labels: ["result"]),
        .histogram(
            "bot_canary_roundtrip_seconds", "Round-trip time of a canary through one relay.",
            labels: ["relay"], bounds: durations),
        .counter(
            "bot_canary_failures_total", "Canaries that did not come back within the budget, by reason.",
            labels: ["relay", "reason"]),
    ]

    private static let handlers: [MetricDescription] = [
        .histogram(
            "bot_handler_duration_seconds", "Duration of one handler call.", labels: ["handler"],
            bounds: durations),
        .counter(
            "bot_handler_errors_total", "Errors that handlers threw or reported, by error class.",
            labels: ["handler", "class"]),
        .counter("bot_handler_timeouts_total", "Handler calls that exceeded their timeout.", labels: ["handler"]),
        .gauge(
            "bot_parked_events", "Events kept until their key is known (waiting) or older events are processed (held).",
            labels: ["queue"]),
        .gauge("bot_parked_bytes", "Size of the events of bot_parked_events in bytes.", labels: ["queue"]),
        .gauge("bot_inbox_depth", "Events not yet handled by every bot."),
        .gauge(
            "bot_inbox_oldest_age_seconds", "Age of the oldest event not yet handled by every bot; 0 if there is none."),
        .counter(
            "bot_inbox_given_up_total", "Events dropped before every bot had handled them, by reason.",
            labels: ["reason"]
        ),
        .gauge(
            "bot_quarantined", "Quarantined items that crashed workers, by kind.", labels: ["kind"]),
        .counter("bot_rate_limited_total", "Events above a rate limit, by scope.", labels: ["scope"]),
        .counter("bot_loop_breaker_trips_total", "Conversations between bots that the loop breaker stopped."),
    ]

    private static let feeds: [MetricDescription] = [
        .counter(
            "feed_items_total", "Items of feeds that reached the inbox, by result (stored or duplicate).",
            labels: ["feed", "result"]),
        .counter("feed_errors_total", "Errors of feeds, by reason.", labels: ["feed", "reason"]),
        .gauge("feed_up", "Whether a feed's source is connected (1) or not (0).", labels: ["feed"]),
    ]

    private static let resources: [MetricDescription] = [
        .gauge(
            "bot_connection_up", "Whether a bot's WebSocket connection is open (1) or not (0).",
            labels: ["bot", "connection"]),
        .counter(
            "bot_connection_retries_total", "Lost or failed WebSocket connections of bots that are retried.",
            labels: ["bot", "connection"]),
        .gauge(
            "bot_requests_waiting", "HTTP requests in a bot's outbox that wait or are in flight.",
            labels: ["bot", "outbox"]),
        .counter(
            "bot_requests_total", "HTTP requests of a bot's outbox that ended, by result.",
            labels: ["bot", "outbox", "result"]),
        .counter(
            "bot_token_renewals_total", "Renewals of a bot's access token, by result.",
            labels: ["bot", "tokens", "result"]),
        .gauge("bot_database_bytes", "Size of a bot's open database file.", labels: ["bot", "database"]),
        .counter(
            "bot_database_failures_total", "Failed statements and copies of a bot's database, by reason.",
            labels: ["bot", "database", "reason"]),
    ]

    private static let sending: [MetricDescription] = [
        .gauge("bot_outbox_depth", "Outgoing events not yet acknowledged by any relay."),
        .gauge(
            "bot_outbox_oldest_age_seconds",
            "Age of the oldest unacknowledged outgoing event, at most the worker's uptime; 0 if there is none."),
        .counter(
            "bot_sends_total", "Outgoing events that a first relay acknowledged or that were abandoned, by result.",
            labels: ["result"]),
        .counter(
            "bot_actions_total", "Actions of handlers, and of clients that want outcomes, by bot, action and outcome.",
            labels: ["bot", "action", "outcome"]),
        .histogram(
            "bot_publish_duration_seconds", "Time from sending an event to the relays to the first acknowledgement.",
            bounds: durations),
        .gauge("bot_dead_letters", "Messages of the account that could not be delivered and are kept."),
    ]

    private static let watching: [MetricDescription] = [
        .gauge("bot_check_passed", "Whether a health check of the account passes (1) or not (0).", labels: ["check"])
    ]

    private static let supervision: [MetricDescription] = [
        workerUp,
        .counter(
            "bot_supervisor_restarts_total",
            "Restarts of a worker or an external bot, by reason.",
            labels: ["bot", "reason"]),
        .gauge(
            "bot_programs_quarantined", "Whether an external bot is quarantined and not restarted (1) or not (0).",
            labels: ["bot"]),
        .gauge("bot_supervisor_quarantined", "Quarantined workers, which are not restarted."),
        .gauge(
            "bot_config_reload_success",
            "Whether the last reload of the configuration was applied by every account (1) or not (0)."),
    ]

    private static let daemon: [MetricDescription] = [
        .gauge("daemon_clients", "Connected clients of the daemon protocol."),
        .counter(
            "daemon_commands_total", "Commands of daemon clients, by command and result.",
            labels: ["command", "result"]),
        .counter("daemon_events_total", "Events sent to daemon clients, by type.", labels: ["type"]),
        .counter("daemon_clients_dropped_total", "Disconnected daemon clients, by reason.", labels: ["reason"]),
    ]
}

// MARK: Probes

extension MetricCatalogue {
    /// The metrics of a `/probe` response, without `target`; and those of scheduled probes, where `target` names a
    /// relay's host and port, or an account or a chat as named in the configuration.
    package static let probes: [MetricDescription] = [
        .gauge("probe_success", "Whether the probe of the target succeeded (1) or not (0).", labels: ["target"]),
        .gauge("probe_duration_seconds", "Duration of the whole probe.", labels: ["target"]),
        .gauge(
            "probe_ssl_earliest_cert_expiry", "Earliest expiry in the target's certificate chain, in Unix time.",
            labels: ["target"]),
        .gauge(
            "nostr_probe_phase_duration_seconds", "Duration of one phase of a relay probe.",
            labels: ["target", "phase"]),
        .gauge(
            "nostr_probe_phase_success",
            "Whether a phase of a relay probe passed (1), or failed or was prevented by an earlier failure (0).",
            labels: ["target", "phase"]),
        .gauge(
            "nostr_probe_readback_found",
            "Whether the written events were found on a new connection (1) or not (0); absent if unknown.",
            labels: ["target"]),
        .gauge(
            "nostr_probe_clock_offset_seconds", "Relay clock minus local clock; absent if the relay sends no time.",
            labels: ["target"]
        ),
        .gauge(
            "keypackage_probe_success",
            "Whether the account can be found and invited in the expected protocol generations (1) or not (0).",
            labels: ["target"]),
        .gauge(
            "keypackage_relay_state", "State of the account's key packages on a relay: 1 for the current state.",
            labels: ["target", "protocol", "relay", "state"]),
        .gauge(
            "keypackage_failed_check", "1 for the check that a relay's key packages fail, 0 for earlier ones.",
            labels: ["target", "protocol", "relay", "check"]),
        .gauge(
            "keypackage_age_seconds", "Age of the newest key package on a relay.",
            labels: ["target", "protocol", "relay"]),
        .gauge(
            "keypackage_not_after_timestamp_seconds",
            "Unix time at which the newest key package on a relay expires.",
            labels: ["target", "protocol", "relay"]),
        .gauge(
            "keypackage_inviteable", "Whether an invitation with the newest key package works (1) or not (0).",
            labels: ["target", "protocol"]),
        .gauge(
            "keypackage_list_ok", "Whether a relay list of the account is usable (1) or missing or useless (0).",
            labels: ["target", "list"]),
        .histogram(
            "group_canary_roundtrip_seconds", "Time from a group canary to its answer.", labels: ["target"],
            bounds: durations),
        .gauge(
            "group_canary_delivery_ratio", "Share of the latest group canaries that were answered.",
            labels: ["target"]),
        .counter(
            "group_canary_answers_total", "Answers of mirrors to group canaries, by result.",
            labels: ["target", "result"]),
        .gauge(
            "group_canary_halted", "Whether the sender cannot follow the group's history (1) or can (0).",
            labels: ["target"]),
        .gauge(
            "group_canary_diverged", "Mirrors whose epoch or member list differs from the sender's.",
            labels: ["target"]),
        .gauge(
            "group_canary_check_passed", "Whether a bot answered or stayed silent as expected (1) or not (0).",
            labels: ["target", "check"]),
        .counter(
            "group_canary_checks_total", "Checks of a bot's answers, by result.",
            labels: ["target", "check", "result"]),
    ]
}

extension MetricCatalogue {
    /// Exported by the supervisor for each account.
    package static let workerUp = MetricDescription.gauge(
        "bot_worker_up", "Whether the account's worker answers the supervisor (1) or not (0).")
}

// MARK: Registry and process

extension MetricCatalogue {
    /// The metrics that ``ProcessMetrics`` and ``MetricRegistry`` export themselves.
    package static let own = [
        processCPU, processResidentMemory, processVirtualMemory, processOpenFiles, processMaximumFiles, processStart,
        unknownMetrics, withheldLabels, overflowedSeries,
    ]

    static let processCPU = MetricDescription.counter(
        "process_cpu_seconds_total", "User and system CPU time of the process.")
    static let processResidentMemory = MetricDescription.gauge(
        "process_resident_memory_bytes", "Resident memory of the process.")
    static let processVirtualMemory = MetricDescription.gauge(
        "process_virtual_memory_bytes", "Virtual memory of the process.")
    static let processOpenFiles = MetricDescription.gauge("process_open_fds", "Open file descriptors.")
    static let processMaximumFiles = MetricDescription.gauge(
        "process_max_fds", "Maximum number of open file descriptors.")
    static let processStart = MetricDescription.gauge(
        "process_start_time_seconds", "Start time of the process in Unix time.")
    static let unknownMetrics = MetricDescription.counter(
        "telemetry_unknown_metrics_total", "Measurements of metrics that are not in the catalogue.")
    static let withheldLabels = MetricDescription.counter(
        "telemetry_withheld_labels_total", "Label values replaced because they may be a key, an id or content.")
    static let overflowedSeries = MetricDescription.counter(
        "telemetry_overflowed_series_total", "Label sets above the limit of their metric.")
}
