import PikaCore
import ProcessSupport

extension ConfigurationSchema {
    static let account = SchemaMapping(
        "account", "An account",
        [
            SchemaKey(
                "name", .text(.accountName), .refused, example: "greeter", effect: .restartsWorker,
                "Name of the account in logs, metrics and commands, and of its directory in the state "
                    + "directory; unique in the file."),
            SchemaKey(
                "key", .either([.mapping(secret), .mapping(encryptedKey), .mapping(bunker)]), .refused,
                example: "{ file: secrets/account.nsec }", effect: .restartsWorker,
                "Reference to the account's secret key, never the key itself."),
            SchemaKey(
                "invites", .mapping(invites), .standard("{ accept: nobody }"),
                "Who may invite the account to a group; independent of `triggers` and `operators`."),
            SchemaKey(
                "operators", .list(of: .text(.publicKey), atLeast: 0), .standard("[]"),
                example: "[\(examplePublicKey)]",
                effect: .live, "Who may operate the bots from inside a chat; independent of `invites` and `triggers`."),
            SchemaKey(
                "restart", .choice(RestartKind.allCases.map(\.rawValue)), .standard("permanent"), example: "transient",
                effect: .restartsWorker,
                "When the account's worker is restarted: always (`permanent`), after a failure (`transient`) "
                    + "or never (`temporary`). How often and how fast: `supervisor.restart`."),
            SchemaKey(
                "selfUpdate", .mapping(selfUpdate), .meaning("its defaults"),
                "When the account rotates its keys in its groups."),
            SchemaKey(
                "retention", .mapping(retention), .meaning("its defaults"), "How much is kept, and for how long."),
            SchemaKey(
                "profiles", .boolean, .standard("true"), example: "false", effect: .live,
                "Whether members' public profiles, with their names and pictures, are fetched: up to 60 requests at once, "
                    + "then one a minute. The queried relays learn who shares groups with the account."),
            SchemaKey(
                "onRollbackStorm", .choice(RollbackStormPolicy.allCases.map(\.rawValue)), .standard("report"),
                example: "leave", effect: .live,
                "Reaction to a member whose back-dated commits roll back a group ten times within an hour: "
                    + "log and show it (`report`), or also leave the group (`leave`)."),
            SchemaKey(
                "protocol", .choice(GroupProtocol.allCases.map(\.rawValue)), .standard("auto"), example: "v2",
                effect: .live,
                "Generation of Marmot for the groups that the account creates: `v2` (White Noise, MDK since 0.9.7), "
                    + "`v1` (Pika, MDK to 0.8), or `auto`: `v2` if all invitees have key packages of it, else `v1`. "
                    + "Existing groups keep their generation, and the account can join groups of both."),
            SchemaKey(
                "webhooks", .text(.address), .standard("\(AccountConfiguration.standardWebhooks)"),
                example: "127.0.0.1:8791", effect: .restartsWorker,
                "Address on which webhook feeds are served, as plain HTTP: put a reverse proxy with TLS before it. "
                    + "Different for each account; unused without webhook feeds."),
            SchemaKey(
                "feeds", .list(of: .either(feeds.map { .mapping($0) }), atLeast: 0), .standard("[]"),
                effect: .restartsWorker,
                "Sources of events from outside the chats, for `OnFeed` handlers: [feeds.md](feeds.md)."),
            SchemaKey(
                "bots", .list(of: .either([.mapping(includedBot), .mapping(externalBot)]), atLeast: 0),
                .standard("[]"), effect: .restartsWorker,
                "The account's bots; each has `use` or `command`. Adding, removing or reordering bots needs "
                    + "a restart of the worker."),
        ])

    static let invites = SchemaMapping(
        "invites", "Invitations",
        [
            SchemaKey(
                "accept", .choice(["anyone", "nobody", "allowlist"]), .refused, example: "anyone",
                hint: "anyone, nobody, or allowlist with from: [npub1…]", effect: .live,
                "Whose invitations are accepted."),
            SchemaKey(
                "from", .list(of: .text(.publicKey), atLeast: 1), .meaning("only with `accept: allowlist`"),
                example: "[\(examplePublicKey)]", effect: .live, "The accepted inviters."),
            SchemaKey(
                "perInviter", .text(.rate), .standard("30/h"), example: "10/h", effect: .live,
                "Maximum rate of invitations from one inviter; the rest are refused."),
        ])

    static let selfUpdate = SchemaMapping(
        "selfUpdate", "Self-updates",
        [
            SchemaKey(
                "afterJoining", .text(.durationRangeOrNever), .standard("5s..1m"), example: "10s..30s", effect: .live,
                "Random delay of the first key rotation after joining a group; in groups of protocol `v2` after a minute "
                    + "or more without commits. Use `never` when many accounts join one group at once."),
            SchemaKey(
                "every", .text(.hoursOrNever), .standard("7d"), example: "36h", effect: .live,
                "Age at which the keys in a group are rotated."),
        ])

    static let retention = SchemaMapping(
        "retention", "Retention",
        [
            SchemaKey(
                "messages", .text(.hoursOrForever), .standard("forever"), example: "90d", effect: .live,
                "How long messages are kept."),
            SchemaKey(
                "newest", .either([.integer(1...1_000_000_000), .choice(["all"])]), .standard("all"), example: "5000",
                effect: .live, "How many messages of each group are kept."),
            SchemaKey(
                "unhandled", .text(.hoursOrForever), .standard("30d"), example: "2d", effect: .live,
                "How long an event may wait for its handler before it is dropped."),
            SchemaKey(
                "maximumUnhandled", .integer(1...1_000_000), .standard("10000"), example: "500", effect: .live,
                "How many events may wait; above that, the oldest are dropped."),
        ])

    static let secret = SchemaMapping(
        "secret", "A reference to a secret", rule: .exactlyOne,
        [
            SchemaKey(
                "file", .text(.path), .meaning("another key is set"), example: "secrets/account.nsec",
                effect: .restartsWorker,
                "A file with nothing but the secret (one trailing line break is allowed), of mode 0600 or "
                    + "stricter, owned by the user that runs the program."),
            SchemaKey(
                "env", .text(.variable), .meaning("another key is set"), example: "GREETER_KEY",
                effect: .restartsWorker,
                "An environment variable."),
            SchemaKey(
                "credential", .text(.credential), .meaning("another key is set"), example: "greeter.nsec",
                effect: .restartsWorker, "A systemd credential (`LoadCredential=`, `SetCredentialEncrypted=`)."),
            SchemaKey(
                "command", .list(of: .text(.word), atLeast: 1), .meaning("another key is set"),
                example: "[pass, show, greeter]", effect: .restartsWorker,
                "A program and its arguments; it must write the secret to standard output within ten seconds."),
        ])

    static let encryptedKey = SchemaMapping(
        "encryptedKey", "A password-protected key (NIP-49)",
        [
            SchemaKey(
                "ncryptsec", .mapping(secret), .refused, example: "{ file: secrets/account.ncryptsec }",
                effect: .restartsWorker, "Reference to the `ncryptsec1…` key."),
            SchemaKey(
                "password", .mapping(secret), .refused, example: "{ credential: password }", effect: .restartsWorker,
                "Reference to its password."),
        ])

    static let bunker = SchemaMapping(
        "bunker", "A key held by a remote signer (NIP-46)",
        [
            SchemaKey(
                "bunker", .mapping(secret), .refused, example: "{ file: secrets/bunker.url }", effect: .restartsWorker,
                "Reference to the signer's `bunker://` address, which contains a secret.")
        ])

    /// For examples only.
    static let examplePublicKey = "7bdef7be22dd8e59f4600e044aa53a1cf975a9dc7d27df5833bc77db784a5805"
}
