import PikaCore

extension ConfigurationParser {
    /// Parses `{ servers: [https://…], cache: 100MiB }`.
    func media(_ value: ConfigurationValue) -> MediaConfiguration {
        var media = MediaConfiguration()
        let fix = "write servers: [https://media.example]"
        guard let fields = value.fields(ConfigurationSchema.media) else { return media }
        let items = fields.optional("servers")?.list(of: "media servers", fix: fix)
        for item in items ?? [] {
            let server = item.parsed(
                { try? MediaURL($0) }, expected: "the address of a media server",
                fix: "write an http:// or https:// address, such as https://media.example")
            guard let server else { continue }
            if media.servers.contains(server) {
                item.fail(expected: "each server once", fix: "remove one of the two")
            } else {
                media.servers.append(server)
            }
        }
        let cache = fields.optional("cache")?.parsed(
            { text -> Setting<Int>? in
                if text == "never" { return .never }
                return byteCount(configurationText: text).map { .value($0) }
            }, expected: "a size from 1MiB to 1024GiB, or never", fix: "write for example 100MiB")
        if let cache { media.cacheBytes = cache.value }
        return media
    }
}
