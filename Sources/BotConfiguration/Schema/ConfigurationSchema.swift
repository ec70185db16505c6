/// The schema of configuration files.
enum ConfigurationSchema {
    static let root = SchemaMapping(
        "configuration", "The file",
        [
            SchemaKey(
                "version", .choice(["\(Configuration.currentVersion)"]), .refused,
                example: "\(Configuration.currentVersion)", effect: .restartsSupervisor, "The version of this format."),
            SchemaKey(
                "relays", .either([.list(of: .text(.relay), atLeast: 1), .mapping(relays)]), .refused,
                example: "[wss://relay.example]", effect: .live,
                "Relays of all accounts, for groups, key packages and invitations. A plain list implies "
                    + "`private: refuse`."),
            SchemaKey("state", .mapping(state), .standard("{ directory: ./state }"), "Where state is stored."),
            SchemaKey(
                "accounts", .list(of: .mapping(account), atLeast: 1), .refused, hint: "[ { name: …, key: … } ]",
                "The accounts; each runs in its own worker process."),
            SchemaKey(
                "media", .mapping(media), .meaning("bots cannot send files"),
                "Servers for message attachments, and the cache of received ones."),
            SchemaKey(
                "databases", .mapping(databases), .meaning("its defaults"), "Limits and copies of bots' databases."),
            SchemaKey("calls", .mapping(calls), .meaning("its defaults"), "The media of calls."),
            SchemaKey(
                "supervisor", .mapping(supervisor), .meaning("its defaults"),
                "How workers are monitored, restarted and stopped."),
            SchemaKey(
                "observe", .mapping(observe), .meaning("its defaults"), "Health endpoints, metrics, canaries and logs."),
        ])

    static let relays = SchemaMapping(
        "relays", "Relays",
        [
            SchemaKey(
                "urls", .list(of: .text(.relay), atLeast: 1), .refused, example: "[wss://relay.example]",
                effect: .live, "Relays of all accounts; any address is allowed, private ones included."),
            SchemaKey(
                "private", .choice(["refuse", "allow"]), .standard("refuse"), example: "allow", effect: .live,
                "Whether relays and media servers named by others (group relays, relay lists, file URLs, "
                    + "redirects) may have private, loopback, link-local or other special addresses. Those named "
                    + "in this file are always allowed."),
        ])

    static let state = SchemaMapping(
        "state", "State",
        [
            SchemaKey(
                "directory", .text(.path), .refused, example: "./state", effect: .restartsSupervisor,
                "Directory with one subdirectory per account. Only one running program at a time may use it.")
        ])

    static let media = SchemaMapping(
        "media", "Media",
        [
            SchemaKey(
                "servers", .list(of: .text(.server), atLeast: 0), .standard("[]"),
                example: "[https://media.example]", effect: .live,
                "Blossom servers. Files are encrypted before upload and stored on the first server that "
                    + "accepts them. With an empty list, bots can receive files but not send them."),
            SchemaKey(
                "cache", .text(.sizeOrNever), .standard("100MiB"), example: "2GiB", effect: .restartsWorker,
                "Size of each account's cache of downloaded files, in its directory of the state directory. The "
                    + "files are sealed; the least recently used ones are deleted first. With `never`, files are "
                    + "downloaded each time, and those in the cache are deleted."),
        ])

    static let databases = SchemaMapping(
        "databases", "Databases",
        [
            SchemaKey(
                "size", .text(.sizeOrNever), .standard("256MiB"), example: "1GiB", effect: .restartsWorker,
                "Size limit of each database file of a bot, in `bots` of the account's directory. With `never`, bots "
                    + "cannot open databases."),
            SchemaKey(
                "timeout", .text(.duration), .standard("5s"), example: "10s", effect: .restartsWorker,
                "Time limit of each transaction or query; at most 1m."),
            SchemaKey(
                "backup", .text(.hoursOrNever), .standard("1d"), example: "6h", effect: .restartsWorker,
                "Age at which the copy of an open database file is renewed."),
        ])

    static let calls = SchemaMapping(
        "calls", "Calls",
        [
            SchemaKey(
                "relay", .text(.callRelay), .meaning("accounts can answer calls, but not make any"),
                example: "wss://relay.example/calls", effect: .live,
                "Call relay of the calls that bots make. Calls that they answer use the relay that the caller names."),
            SchemaKey(
                "longest", .text(.duration), .standard("1h"), example: "10m", effect: .live,
                "Time after which a connected call ends with the reason `time_limit`; at most 1d."),
        ])

    static let supervisor = SchemaMapping(
        "supervisor", "Supervisor",
        [
            SchemaKey(
                "restart", .mapping(restart), .meaning("its defaults"),
                "Limits and delays of the restarts of workers and of external bots' programs."),
            SchemaKey(
                "drain", .text(.duration), .standard("10s"), example: "20s", effect: .restartsSupervisor,
                "Time from SIGTERM to SIGKILL when a worker is stopped."),
            SchemaKey(
                "patience", .text(.duration), .standard("60s"), example: "45s", effect: .restartsSupervisor,
                "Deadline for a worker's answer to health checks; a worker that misses it is killed and "
                    + "restarted."),
            SchemaKey(
                "control", .text(.path), .meaning("`control.sock` in the state directory"),
                example: "./state/control.sock", effect: .restartsSupervisor,
                "Path of the control socket for `pikabot status`, `logs`, `restart`, `stop` and `why`; at "
                    + "most 107 bytes, the limit for Unix sockets."),
        ])

    static let restart = SchemaMapping(
        "restart", "Restarts",
        [
            SchemaKey(
                "strategy", .choice(SupervisionConfiguration.Strategy.allCases.map(\.rawValue)),
                .standard("one_for_one"), example: "one_for_all", effect: .restartsSupervisor,
                "Which workers restart when one ends: only that one, all, or that one and those after it in "
                    + "the file."),
            SchemaKey(
                "intensity", .integer(0...1000), .standard("5"), example: "3", effect: .restartsSupervisor,
                "Number of restarts tolerated within `period`, counted for each worker (for all together unless "
                    + "`strategy` is `one_for_one`) and for each external bot's program. One more quarantines the "
                    + "accounts or the external bot, which then stay stopped."),
            SchemaKey(
                "period", .text(.duration), .standard("60s"), example: "2m", effect: .restartsSupervisor,
                "Time window of `intensity`."),
            SchemaKey(
                "backoff", .text(.durationRange), .standard("1s..30s"), example: "250ms..5s",
                effect: .restartsSupervisor,
                "Shortest and longest delay before a restart. Each delay is random, from the upper half of a bound "
                    + "that doubles with each restart; growth starts again once the earlier restarts are older "
                    + "than `period`."),
        ])

    static let observe = SchemaMapping(
        "observe", "Observation",
        [
            SchemaKey(
                "listen", .text(.address), .meaning("disabled"), example: "127.0.0.1:9464", effect: .restartsSupervisor,
                "Address on which `/livez`, `/readyz`, `/startupz` and `/metrics` are served."),
            SchemaKey(
                "hosts", .list(of: .text(.hostName), atLeast: 0), .standard("[]"), example: "[bots.example]",
                effect: .restartsSupervisor,
                "Host names under which `listen` is reachable, besides IP addresses, `localhost` and its own "
                    + "host. Requests for other names are refused, because a web page could make a browser send "
                    + "them (DNS rebinding)."),
            SchemaKey(
                "canary", .either([.mapping(canary), .choice(["never"])]), .meaning("its defaults"),
                "Periodic check of each relay: the worker publishes an event and waits for the relay to "
                    + "return it."),
            SchemaKey(
                "logs", .choice(ObservationConfiguration.LogFormat.allCases.map(\.rawValue)), .standard("text"),
                example: "json", effect: .restartsSupervisor, "Format of log lines."),
            SchemaKey(
                "level", .choice(ObservationConfiguration.LogLevel.allCases.map(\.rawValue)), .standard("info"),
                example: "debug", effect: .live, "Minimum severity of log lines."),
            SchemaKey(
                "console", .mapping(console), .meaning("disabled"),
                "The operator's [console](console.md) in a browser."),
        ])

    static let canary = SchemaMapping(
        "canary", "Canary",
        [
            SchemaKey(
                "every", .text(.duration), .standard("60s"), example: "2m", effect: .restartsWorker,
                "Interval between canaries, at least `budget`."),
            SchemaKey(
                "budget", .text(.duration), .standard("10s"), example: "5s", effect: .restartsWorker,
                "Deadline for the event to come back; the account counts as not ready if it is missed."),
        ])
}
