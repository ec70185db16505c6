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
                "The relays of all accounts: for their groups, their key packages and their invitations. A list alone "
                    + "means `private: refuse`."),
            SchemaKey("state", .mapping(state), .standard("{ directory: ./state }"), "Where state is kept."),
            SchemaKey(
                "accounts", .list(of: .mapping(account), atLeast: 1), .refused, hint: "[ { name: …, key: … } ]",
                "The accounts, a worker process each."),
            SchemaKey("media", .mapping(media), .meaning("no files are sent"), "Where the files of messages are kept."),
            SchemaKey("supervisor", .mapping(supervisor), .meaning("its defaults"), "How workers are kept running."),
            SchemaKey("observe", .mapping(observe), .meaning("its defaults"), "What the program shows of itself."),
        ])

    static let relays = SchemaMapping(
        "relays", "Relays",
        [
            SchemaKey(
                "urls", .list(of: .text(.relay), atLeast: 1), .refused, example: "[wss://relay.example]",
                effect: .live, "The relays of all accounts. They may be anywhere."),
            SchemaKey(
                "private", .choice(["refuse", "allow"]), .standard("refuse"), example: "allow", effect: .live,
                "Whether relays and media servers that others name (relays of groups, relay lists, addresses of files, "
                    + "redirections) may be at private, loopback, link-local and other special addresses. Those that "
                    + "this file names are asked all the same."),
        ])

    static let state = SchemaMapping(
        "state", "State",
        [
            SchemaKey(
                "directory", .text(.path), .refused, example: "./state", effect: .restartsSupervisor,
                "A folder in which each account has its own; one running program at a time may use it.")
        ])

    static let media = SchemaMapping(
        "media", "Media",
        [
            SchemaKey(
                "servers", .list(of: .text(.server), atLeast: 0), .refused, example: "[https://media.example]",
                effect: .live,
                "Blossom servers, which get files encrypted; the first that takes a file keeps it. Without any, bots "
                    + "receive files and cannot send them.")
        ])

    static let supervisor = SchemaMapping(
        "supervisor", "Supervisor",
        [
            SchemaKey("restart", .mapping(restart), .meaning("its defaults"), "How often and how soon."),
            SchemaKey(
                "drain", .text(.duration), .standard("10s"), example: "20s", effect: .restartsSupervisor,
                "How long a worker may take to finish after SIGTERM, before it is killed."),
            SchemaKey(
                "patience", .text(.duration), .standard("60s"), example: "45s", effect: .restartsSupervisor,
                "How long a worker may leave the question for its health unanswered, before it is killed."),
            SchemaKey(
                "control", .text(.path), .meaning("`control.sock` in the state directory"),
                example: "./state/control.sock", effect: .restartsSupervisor,
                "The socket of `pikabot status`, `logs`, `restart`, `stop`, `why`; at most 107 bytes long, as sockets' "
                    + "paths are."),
        ])

    static let restart = SchemaMapping(
        "restart", "Restarts",
        [
            SchemaKey(
                "strategy", .choice(SupervisionConfiguration.Strategy.allCases.map(\.rawValue)),
                .standard("one_for_one"), example: "one_for_all", effect: .restartsSupervisor,
                "Whether the end of one worker restarts that one, all, or that one and those after it in the file."),
            SchemaKey(
                "intensity", .integer(0...1000), .standard("5"), example: "3", effect: .restartsSupervisor,
                "So many restarts are tolerated within `period`; one more, and the account is left stopped."),
            SchemaKey(
                "period", .text(.duration), .standard("60s"), example: "2m", effect: .restartsSupervisor,
                "See `intensity`."),
            SchemaKey(
                "backoff", .text(.durationRange), .standard("1s..30s"), example: "250ms..5s",
                effect: .restartsSupervisor,
                "The shortest and the longest wait before a restart; it doubles from one to the next."),
        ])

    static let observe = SchemaMapping(
        "observe", "Observation",
        [
            SchemaKey(
                "listen", .text(.address), .meaning("nowhere"), example: "127.0.0.1:9464", effect: .restartsSupervisor,
                "Where `/livez`, `/readyz`, `/startupz` and `/metrics` are served."),
            SchemaKey(
                "hosts", .list(of: .text(.hostName), atLeast: 0), .standard("[]"), example: "[bots.example]",
                effect: .restartsSupervisor,
                "Names under which `listen` is reached, besides addresses, `localhost` and its own; requests for other "
                    + "names are refused, because any web page could make a browser send them."),
            SchemaKey(
                "canary", .either([.mapping(canary), .choice(["never"])]), .meaning("its defaults"),
                "Whether and how often each relay is tried with an event that must come back."),
            SchemaKey(
                "logs", .choice(ObservationConfiguration.LogFormat.allCases.map(\.rawValue)), .standard("text"),
                example: "json", effect: .restartsSupervisor, "How log lines are written."),
            SchemaKey(
                "level", .choice(ObservationConfiguration.LogLevel.allCases.map(\.rawValue)), .standard("info"),
                example: "debug", effect: .live, "The least important lines that are written."),
        ])

    static let canary = SchemaMapping(
        "canary", "Canary",
        [
            SchemaKey(
                "every", .text(.duration), .standard("60s"), example: "2m", effect: .restartsWorker,
                "The time between two tries."),
            SchemaKey(
                "budget", .text(.duration), .standard("10s"), example: "5s", effect: .restartsWorker,
                "How long the event may take to come back before the account counts as not ready."),
        ])
}
