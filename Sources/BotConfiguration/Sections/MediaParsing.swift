import PikaCore

extension ConfigurationParser {
    /// Parses `{ servers: [https://…] }`.
    func media(_ value: ConfigurationValue) -> MediaConfiguration {
        var media = MediaConfiguration()
        let fix = "write servers: [https://media.example]"
        let items = value.fields(ConfigurationSchema.media)?.required("servers")?
            .list(of: "media servers", fix: fix)
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
        return media
    }
}
