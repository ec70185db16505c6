import ArgumentParser
import BotConfiguration
import BotProgram
import BotRuntime
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import ServiceLifecycle

@main
struct ScriptedMemberCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pikabot-lab", abstract: "A group member driven by lines of JSON, for tests and experiments.",
        discussion: """
            Commands: publish_kp, create_group {name, members}, create_chat {peer}, send {group, content}, \
            rename {group, name}, set_description {group, description}, set_relays {group, relays}, \
            set_admins {group, members}, add {group, members}, remove {group, members}, self_update {group}, \
            self_demote {group}, rotate_id {group}, upgrade {group}, leave {group}, \
            send_media {group, path, filename, mime, content, server}, \
            download_media {group, message, index, path}, set_image {group, path, mime}, \
            download_image {group, path}, start_call {group, moq_url}, accept_call {group, call_id}, \
            reject_call {group, call_id, reason}, end_call {group, call_id, reason}, shutdown. Replies: ok, error; \
            events: ready, message, commit, call, call_state, group. The state is deleted at the end.
            """)

    @Option(help: "URL of the relay.") var relay: String
    @Option(help: "File with an nsec or 64 hex digits. (default: a new key)") var key: String?
    @Flag(help: "Rotate the account's keys soon after it joins a group. (default: only on command)")
    var renewKeys = false
    @Option(help: "URL of a media server, http or https.") var media: String?

    func run() async throws {
        StandardErrorLog.bootstrap(level: .notice)
        let logger = Logger(label: "pikabot-lab")
        let renewal = SelfUpdatePolicy(afterJoining: .zero ... .milliseconds(500), every: nil)
        let service = ScriptedMemberService(
            key: try loadKey(), relay: try RelayURL(relay), selfUpdate: renewKeys ? renewal : .never,
            mediaServers: try media.map { [try MediaURL($0)] } ?? [], logger: logger)
        try await runUntilSignal([service], logger: logger)
    }

    private func loadKey() throws -> KeyPair {
        var generator = SystemRandomNumberGenerator()
        guard let key else { return KeyPair.generate(using: &generator) }
        return try KeyReference.file(key).loadKeyPair(environment: [:])
    }
}

private struct ScriptedMemberService: Service {
    let key: KeyPair
    let relay: RelayURL
    let selfUpdate: SelfUpdatePolicy
    let mediaServers: [MediaURL]
    let logger: Logger

    func run() async throws {
        try await untilShutdown {
            try await withTemporaryDirectory(named: "pikabot-lab") { directory in
                let settings = LocalAccountSettings(
                    key: HeldKey(key),
                    core: CoreConfiguration(
                        relays: [relay], invites: .anyone, publishesKeyPackage: false, selfUpdate: selfUpdate,
                        mediaServers: mediaServers),
                    stateDirectory: directory, addresses: .unrestricted, logger: logger)
                try await withLocalAccount(settings) { account in
                    let member = ScriptedMember(account: account) { Console.print($0.jsonText) }
                    await member.execute(StandardInput.lines())
                }
            }
        }
    }
}
