/// All exported metrics, in the order of the export; `docs/metrics.md` lists the same.
///
/// Names and labels are a contract with operators' dashboards and rules. No label contains a key, an id or content:
/// labels are words of this software, names that the operator gave in the configuration, and hosts of configured relays.
public enum MetricCatalogue {
    public static let all = worker + relays + handlers + sending + watching + supervision + daemon + probes

    /// From one millisecond to a minute.
    static let durations = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

    private static let worker: [MetricDescription] = [
        .gauge("bot_info", "Always 1; its label says which version runs.", labels: ["version"]),
        .gauge("bot_ready", "Whether every check of the account passes (1) or not (0)."),
        .gauge("bot_state_revision", "Revision of the account's newest snapshot."),
        .gauge("bot_groups", "Groups that the account is a member of."),
        .gauge(
            "bot_last_event_timestamp_seconds", "When the newest event for the handlers was taken in, in Unix time."),
        .counter(
            "bot_events_received_total", "Events that were put before the handlers, by what they are.",
            labels: ["type"]),
        .counter("bot_events_duplicate_total", "Events that a relay sent although they had come before."),
        .counter(
            "bot_events_ignored_total", "Events that were refused, or that a bot did not get, and why.",
            labels: ["reason"]),
        .counter(
            "bot_decrypt_failures_total",
            "Attempts to open an event of a group that failed, and why; it is tried again.",
            labels: ["reason"]),
        .counter("bot_commits_processed_total", "Commits and proposals, by what became of them.", labels: ["result"]),
        .counter(
            "pikabot_rollbacks_total",
            "Commits that undid earlier ones of their group, by what their author was to the group.",
            labels: ["committer"]),
        .counter("bot_call_signals_total", "Call signals that came in.", labels: ["type"]),
        .gauge(
            "bot_clock_offset_seconds",
            "How far the clocks of relays and members are ahead of this machine's; negative if they are behind."),
        .counter(
            "bot_routing_collisions_total", "Times that several groups were found to claim one nostr_group_id."),
        .counter(
            "bot_state_rollbacks_total", "Starts whose state was older than messages of the account on relays."),
        .counter("bot_groups_overtaken_total", "Groups whose keys another copy of the account has changed."),
        .counter("bot_signer_failures_total", "Requests that the remote signer did not fulfil.", labels: ["reason"]),
    ]

    private static let relays: [MetricDescription] = [
        .gauge(
            "bot_relay_connected", "Whether a configured relay is connected (1) or not (0).", labels: ["relay"]),
        .counter(
            "bot_relay_reconnects_total",
            "Connections that were lost or failed and are tried again, by what ended them.",
            labels: ["reason"]),
        .counter("bot_relay_messages_received_total", "Messages that came from relays."),
        .counter("bot_relay_publishes_total", "Answers of single relays to published events.", labels: ["outcome"]),
        .counter("bot_gap_seconds_total", "Seconds in which no configured relay was connected."),
        .counter(
            "bot_gap_events_total", "Events that were read after an absence, by whether they could be opened.",
            labels: ["result"]),
        .histogram(
            "bot_canary_roundtrip_seconds", "Time until a canary came back by the relay that it was sent to.",
            labels: ["relay"], bounds: durations),
        .counter(
            "bot_canary_failures_total", "Canaries that did not come back within the budget, and why.",
            labels: ["relay", "reason"]),
    ]

    private static let handlers: [MetricDescription] = [
        .histogram(
            "bot_handler_duration_seconds", "Time that a handler took for one event.", labels: ["handler"],
            bounds: durations),
        .counter(
            "bot_handler_errors_total", "Errors that handlers threw, or counted themselves, by their type.",
            labels: ["handler", "class"]),
        .counter("bot_handler_timeouts_total", "Handlers that took too long.", labels: ["handler"]),
        .gauge(
            "bot_parked_events", "Events kept until a key opens them (waiting) or older events were read (held).",
            labels: ["queue"]),
        .gauge("bot_parked_bytes", "Bytes of these events.", labels: ["queue"]),
        .gauge("bot_inbox_depth", "Events that no bot is done with yet."),
        .gauge("bot_inbox_oldest_age_seconds", "Age of the oldest event that no bot is done with yet; 0 for none."),
        .counter(
            "bot_inbox_given_up_total", "Events that were given up before a bot was done with them.", labels: ["reason"]
        ),
        .gauge(
            "bot_quarantined", "Things that are set aside because workers have died of them.", labels: ["kind"]),
        .counter("bot_rate_limited_total", "Events that went over a limit.", labels: ["scope"]),
        .counter("bot_loop_breaker_trips_total", "Times that a conversation between bots was cut off."),
    ]

    private static let sending: [MetricDescription] = [
        .gauge("bot_outbox_depth", "Events that no relay has acknowledged yet."),
        .gauge(
            "bot_outbox_oldest_age_seconds",
            "Time since the oldest event that no relay has acknowledged was queued, or the worker began; 0 for none."),
        .counter("bot_sends_total", "Events that were acknowledged by a first relay, or given up.", labels: ["result"]),
        .histogram(
            "bot_publish_duration_seconds", "Time from handing an event to the relays to the first acknowledgement.",
            bounds: durations),
        .gauge("bot_dead_letters", "Own messages that were given up and are kept."),
    ]

    private static let watching: [MetricDescription] = [
        .gauge("bot_check_passed", "Whether a check of the account's health passes (1) or not (0).", labels: ["check"])
    ]

    private static let supervision: [MetricDescription] = [
        workerUp,
        .counter(
            "bot_supervisor_restarts_total",
            "Restarts of a worker, or of a program that is a bot, by how it had ended.",
            labels: ["bot", "reason"]),
        .gauge(
            "bot_programs_quarantined", "Whether a program that is a bot is not started again (1).", labels: ["bot"]),
        .gauge("bot_supervisor_quarantined", "Workers that are not started again."),
        .gauge(
            "bot_config_reload_success",
            "Whether the configuration was taken over the last time, by every account (1), or not (0)."),
    ]

    private static let daemon: [MetricDescription] = [
        .gauge("daemon_clients", "Clients of the daemon's protocol."),
        .counter("daemon_commands_total", "Commands of such clients.", labels: ["command", "result"]),
        .counter("daemon_events_total", "Events that such clients were told.", labels: ["type"]),
        .counter("daemon_clients_dropped_total", "Clients that were dropped.", labels: ["reason"]),
    ]
}

// MARK: Probes

extension MetricCatalogue {
    /// The metrics of a `/probe` response, without `target`; and those of scheduled probes, where `target` names a
    /// relay's host and port, or an account or a chat as named in the configuration.
    public static let probes: [MetricDescription] = [
        .gauge("probe_success", "Whether the target passed (1) or not (0).", labels: ["target"]),
        .gauge("probe_duration_seconds", "Time that the whole probe took.", labels: ["target"]),
        .gauge(
            "probe_ssl_earliest_cert_expiry", "When the first certificate of the target's chain ends, in Unix time.",
            labels: ["target"]),
        .gauge(
            "nostr_probe_phase_duration_seconds", "Time that one phase of a relay's probe took.",
            labels: ["target", "phase"]),
        .gauge(
            "nostr_probe_phase_success",
            "Whether a phase of a relay's probe passed (1), or did not or was kept from it by a fault (0).",
            labels: ["target", "phase"]),
        .gauge(
            "nostr_probe_readback_found",
            "Whether what was written was there on a new connection (1) or not (0), if that is known.",
            labels: ["target"]),
        .gauge(
            "nostr_probe_clock_offset_seconds", "The relay's clock less ours, if it tells the time.", labels: ["target"]
        ),
        .gauge(
            "keypackage_probe_success", "Whether an account can be found and invited (1) or not (0).",
            labels: ["target"]),
        .gauge(
            "keypackage_relay_state", "What a relay holds of an account's key packages: 1 for the state that applies.",
            labels: ["target", "relay", "state"]),
        .gauge(
            "keypackage_age_seconds", "Age of the newest key package that a relay holds.", labels: ["target", "relay"]),
        .gauge(
            "keypackage_not_after_timestamp_seconds",
            "When the newest key package that a relay holds ends, in Unix time.",
            labels: ["target", "relay"]),
        .gauge(
            "keypackage_inviteable", "Whether an invitation with the newest key package works (1) or not (0).",
            labels: ["target"]),
        .histogram(
            "group_canary_roundtrip_seconds", "Time until a canary in a group was answered.", labels: ["target"],
            bounds: durations),
        .gauge(
            "group_canary_delivery_ratio", "Share of the latest canaries in a group that were answered.",
            labels: ["target"]),
        .counter(
            "group_canary_answers_total", "Answers of mirrors to canaries, by what they were like.",
            labels: ["target", "result"]),
        .gauge(
            "group_canary_diverged", "Mirrors that see another epoch or other members of a group than the sender.",
            labels: ["target"]),
        .gauge(
            "group_canary_check_passed", "Whether a bot answered, or was silent, as it must (1) or not (0).",
            labels: ["target", "check"]),
        .counter(
            "group_canary_checks_total", "Checks of what a bot answers, by how they ended.",
            labels: ["target", "check", "result"]),
    ]
}

extension MetricCatalogue {
    /// Exported by the supervisor for each account.
    public static let workerUp = MetricDescription.gauge(
        "bot_worker_up", "Whether the account's worker answers its supervisor (1) or not (0).")
}

// MARK: Registry and process

extension MetricCatalogue {
    /// The metrics that ``ProcessMetrics`` and ``MetricRegistry`` export themselves.
    public static let own = [
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
        "process_max_fds", "Most file descriptors that may be open.")
    static let processStart = MetricDescription.gauge(
        "process_start_time_seconds", "Start of the process in Unix time.")
    static let unknownMetrics = MetricDescription.counter(
        "telemetry_unknown_metrics_total", "Times that something was measured that is not in the catalogue.")
    static let withheldLabels = MetricDescription.counter(
        "telemetry_withheld_labels_total", "Label values that looked like a key, an id or content, and were kept out.")
    static let overflowedSeries = MetricDescription.counter(
        "telemetry_overflowed_series_total", "Sets of labels that came over the limit of their metric.")
}
