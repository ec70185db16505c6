import PikaCore
import Restarts

extension ConfigurationSchema {
    static let account = SchemaMapping(
        "account", "An account",
        [
            SchemaKey(
                "name", .text(.accountName), .refused, example: "greeter", effect: .restartsWorker,
                "Names it in logs, metrics and commands, and its folder of the state directory; unique in the file."),
            SchemaKey(
                "key", .either([.mapping(secret), .mapping(encryptedKey), .mapping(bunker)]), .refused,
                example: "{ file: secrets/account.nsec }", effect: .restartsWorker,
                "Where its secret key is, never the key itself."),
            SchemaKey(
                "invites", .mapping(invites), .standard("{ accept: nobody }"),
                "Who may bring the account into a group: the first of three separate lists."),
            SchemaKey(
                "operators", .list(of: .text(.publicKey), atLeast: 0), .standard("[]"),
                example: "[\(examplePublicKey)]",
                effect: .live, "Who may operate the bots from inside a chat: the third of three separate lists."),
            SchemaKey(
                "restart", .choice(RestartKind.allCases.map(\.rawValue)), .standard("permanent"), example: "transient",
                effect: .restartsWorker,
                "When its worker is started again: always (`permanent`), after a failure (`transient`), or never "
                    + "(`temporary`)."),
            SchemaKey(
                "selfUpdate", .mapping(selfUpdate), .meaning("its defaults"),
                "When the account renews its keys in its groups."),
            SchemaKey("retention", .mapping(retention), .meaning("its defaults"), "What is kept, and for how long."),
            SchemaKey(
                "profiles", .boolean, .standard("false"), example: "true", effect: .live,
                "Whether members' public profiles are read: the relays that are asked learn who shares groups with the "
                    + "account."),
            SchemaKey(
                "onRollbackStorm", .choice(RollbackStormPolicy.allCases.map(\.rawValue)), .standard("report"),
                example: "leave", effect: .live,
                "The reaction to a member whose back-dated commits undo those of a group ten times within an hour: log "
                    + "and show it (`report`), or also leave the group (`leave`)."),
            SchemaKey(
                "bots", .list(of: .either([.mapping(includedBot), .mapping(externalBot)]), atLeast: 0),
                .standard("[]"), effect: .restartsWorker,
                "The bots that answer through it. Each has `use` or `command`. Adding, removing and reordering bots "
                    + "needs a restart of the worker."),
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
                example: "[\(examplePublicKey)]", effect: .live, "Those whose invitations are accepted."),
            SchemaKey(
                "perInviter", .text(.rate), .standard("30/h"), example: "10/h", effect: .live,
                "So many invitations of one inviter are looked at; more are refused."),
        ])

    static let selfUpdate = SchemaMapping(
        "selfUpdate", "Renewal of keys",
        [
            SchemaKey(
                "afterJoining", .text(.durationRangeOrNever), .standard("5s..1m"), example: "10s..30s", effect: .live,
                "A random while after joining a group; swarms of accounts that join one group at once do better with "
                    + "`never`."),
            SchemaKey(
                "every", .text(.hoursOrNever), .standard("7d"), example: "36h", effect: .live,
                "When the keys in a group are that old."),
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
                "How long an event may wait for its handler, before it is given up."),
            SchemaKey(
                "maximumUnhandled", .integer(1...1_000_000), .standard("10000"), example: "500", effect: .live,
                "How many events may wait, before the oldest are given up."),
        ])

    static let secret = SchemaMapping(
        "secret", "A reference to a secret", rule: .exactlyOne,
        [
            SchemaKey(
                "file", .text(.path), .meaning("another is there"), example: "secrets/account.nsec",
                effect: .restartsWorker,
                "A file that holds the secret and nothing else (one line end may follow), of mode 0600 or stricter, "
                    + "which belongs to whoever runs the program."),
            SchemaKey(
                "env", .text(.variable), .meaning("another is there"), example: "GREETER_KEY", effect: .restartsWorker,
                "An environment variable."),
            SchemaKey(
                "credential", .text(.credential), .meaning("another is there"), example: "greeter.nsec",
                effect: .restartsWorker, "A systemd credential (`LoadCredential=`, `SetCredentialEncrypted=`)."),
            SchemaKey(
                "command", .list(of: .text(.word), atLeast: 1), .meaning("another is there"),
                example: "[pass, show, greeter]", effect: .restartsWorker,
                "A program and its arguments; it writes the secret to its standard output within ten seconds."),
        ])

    static let encryptedKey = SchemaMapping(
        "encryptedKey", "A key under a password (NIP-49)",
        [
            SchemaKey(
                "ncryptsec", .mapping(secret), .refused, example: "{ file: secrets/account.ncryptsec }",
                effect: .restartsWorker, "Where the `ncryptsec1…` is."),
            SchemaKey(
                "password", .mapping(secret), .refused, example: "{ credential: password }", effect: .restartsWorker,
                "Where its password is."),
        ])

    static let bunker = SchemaMapping(
        "bunker", "A key that a remote signer keeps (NIP-46)",
        [
            SchemaKey(
                "bunker", .mapping(secret), .refused, example: "{ file: secrets/bunker.url }", effect: .restartsWorker,
                "Where the signer's `bunker://` address is, which holds a secret.")
        ])

    /// For examples only.
    static let examplePublicKey = "7bdef7be22dd8e59f4600e044aa53a1cf975a9dc7d27df5833bc77db784a5805"
}
