extension SchemaText {
    static let all: [SchemaText] = [
        .duration, .hoursOrNever, .hoursOrForever, .durationRange, .durationRangeOrNever, .sizeOrNever, .rate, .relay,
        .callRelay, .server,
        .publicKey, .chatID, .headerName, .path, .accountName, .botName, .includedBot, .variable, .credential, .word,
        .address,
        .hostName,
    ]

    static let duration = SchemaText(
        name: "duration", title: "duration", pattern: "^0*[1-9][0-9]*(ms|s|m|h|d)$",
        summary: "A whole number followed by `ms`, `s`, `m`, `h` or `d`, such as `10s`; at most `3650d`.")
    static let hoursOrNever = SchemaText(
        name: "hoursOrNever", title: "long duration, or `never`",
        pattern: "^(never|0*[1-9][0-9]*(ms|s|m|h|d))$",
        summary: "A duration of an hour or more, such as `7d`, or `never`.")
    static let hoursOrForever = SchemaText(
        name: "hoursOrForever", title: "long duration, or `forever`",
        pattern: "^(forever|0*[1-9][0-9]*(ms|s|m|h|d))$",
        summary: "A duration of an hour or more, such as `90d`, or `forever`.")
    static let durationRange = SchemaText(
        name: "durationRange", title: "range of durations",
        pattern: "^0*[1-9][0-9]*(ms|s|m|h|d)\\.\\.0*[1-9][0-9]*(ms|s|m|h|d)$",
        summary: "Two durations separated by `..`, the smaller first, such as `1s..30s`.")
    static let durationRangeOrNever = SchemaText(
        name: "durationRangeOrNever", title: "range of durations, or `never`",
        pattern: "^(never|[0-9]+(ms|s|m|h|d)\\.\\.[0-9]+(ms|s|m|h|d))$", summary: "A range of durations, or `never`.")
    static let sizeOrNever = SchemaText(
        name: "sizeOrNever", title: "size, or `never`", pattern: "^(never|0*[1-9][0-9]*(MiB|GiB))$",
        summary: "A whole number followed by `MiB` or `GiB`, such as `100MiB`, at most `1024GiB`; or `never`.")
    static let rate = SchemaText(
        name: "rate", title: "rate, or `unlimited`", pattern: "^(unlimited|0*[1-9][0-9]{0,6}/(s|min|h))$",
        summary: "A count per unit of time: `N/s`, `N/min` or `N/h`, such as `6/min`; or `unlimited`.")
    static let relay = SchemaText(
        name: "relay", title: "relay address", pattern: "^[wW][sS]{1,2}://[^ ]+$",
        summary: "A `wss://` URL, or `ws://` for a relay on the same machine or in a private network.")
    static let callRelay = SchemaText(
        name: "callRelay", title: "call relay address", pattern: "^[wW][sS]{1,2}://[^ ]+/calls/?$",
        summary: "A `wss://` or `ws://` URL that ends in `/calls`.")
    static let server = SchemaText(
        name: "server", title: "server address", pattern: "^[hH][tT]{2}[pP][sS]?://[^ ]+$",
        summary: "An `https://` or `http://` URL.")
    static let publicKey = SchemaText(
        name: "publicKey", title: "public key",
        pattern: "^(npub1[02-9ac-hj-np-z]{58}|NPUB1[02-9AC-HJ-NP-Z]{58}|[0-9a-fA-F]{64})$",
        summary: "An `npub1…` or 64 hexadecimal digits.")
    static let chatID = SchemaText(
        name: "chatID", title: "chat id", pattern: "^([0-9a-fA-F]{2}){8,255}$",
        summary:
            "Hexadecimal digits, as shown by `pikabot groups`: the group's `mls_group_id` or its "
            + "`nostr_group_id`.")
    static let headerName = SchemaText(
        name: "headerName", title: "header name", pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$",
        summary: "The name of an HTTP header, such as `Authorization`.")
    static let path = SchemaText(
        name: "path", title: "path", pattern: "^[^\\u0000]+$",
        summary: "A path; relative paths are resolved against the directory of the configuration file.")
    static let accountName = SchemaText(
        name: "accountName", title: "account name", pattern: "^[a-z0-9-]{1,32}$",
        summary: "1 to 32 characters from a-z, 0-9 and `-`.")
    static let botName = SchemaText(
        name: "botName", title: "bot name", pattern: "^[a-z0-9_-]{1,32}$",
        summary: "1 to 32 characters from a-z, 0-9, `-` and `_`.")
    static let includedBot = SchemaText(
        name: "botOfProgram", title: "built-in bot", pattern: "^.+$",
        summary: "The name of a bot that is built into the program.")
    static let variable = SchemaText(
        name: "variable", title: "variable name", pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
        summary: "The name of an environment variable.")
    static let credential = SchemaText(
        name: "credential", title: "credential name", pattern: "^(?!\\.{1,2}$)[^/]+$",
        summary: "The name of a systemd credential.")
    static let word = SchemaText(name: "word", title: "string", pattern: "^[^\\u0000]*$", summary: "Any string.")
    static let hostName = SchemaText(
        name: "hostName", title: "host name", pattern: "^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$",
        summary: "A host name without a port, such as `bots.example`.")
    static let address = SchemaText(
        name: "address", title: "HOST:PORT", pattern: "^([A-Za-z0-9._%-]+|\\[[A-Za-z0-9._%:-]+\\]):[0-9]{1,5}$",
        summary: "A host and a port, such as `127.0.0.1:9464` or `[::1]:9464`; port 0 selects any free port.")
}
