import BotKit

extension ConfigurationParser {
    /// Parses `{ size: 256MiB, timeout: 5s, backup: 1d }`.
    func databases(_ value: ConfigurationValue) -> DatabaseConfiguration {
        var databases = DatabaseConfiguration()
        guard let fields = value.fields(ConfigurationSchema.databases) else { return databases }
        let size = fields.optional("size")?.parsed(
            { text -> Setting<Int>? in
                if text == "never" { return .never }
                return byteCount(configurationText: text).map { .value($0) }
            }, expected: "a size from 1MiB to 1024GiB, or never", fix: "write for example 256MiB")
        if let size { databases.bytes = size.value }
        if let timeout = fields.optional("timeout")?.duration(upTo: .seconds(60)) { databases.timeout = timeout }
        let backup = fields.optional("backup")?.longDuration(or: "never", example: "1d")
        if let backup { databases.backup = backup.value }
        return databases
    }
}

extension DatabaseConfiguration {
    var configurationText: String {
        "{ size: \(sizeText(bytes)), timeout: \(timeout.configurationText), "
            + "backup: \(backup?.configurationText ?? "never") }"
    }
}
