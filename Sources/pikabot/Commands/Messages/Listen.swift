import ArgumentParser
import BotProgram
import BotRuntime
import Logging
import Nostr
import PikaCore

extension Pikabot {
    struct Listen: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print messages and invitations as they arrive, one line of JSON each.",
            discussion: """
                Each message from others is printed once, including those received meanwhile by another command. \
                Pending invitations are printed at each start.
                """)

        @OptionGroup var options: ClientOptions

        @Option(help: "Seconds to listen; 0 for no limit.") var timeout = 60
        @Option(help: "Maximum age of messages in seconds.") var lookback = 86_400

        func validate() throws {
            let seconds = 0...1_000_000_000
            guard seconds.contains(timeout), seconds.contains(lookback) else {
                throw ValidationError("--timeout and --lookback: expected 0 to \(seconds.upperBound) seconds")
            }
        }

        func run() async throws {
            StandardErrorLog.bootstrap(level: .error)
            if options.remote { _ = try remoteRequest() }
            _ = try await perform()
        }

        func perform() async throws -> JSONValue {
            let oldest = UnixTime.systemTime - Int64(lookback)
            try await withClient(options) { client in
                Console.progress(timeout == 0 ? "listening…" : "listening for \(timeout) s…")
                let listener = Listener(client: client, oldest: oldest, isForPeople: options.isForPeople)
                do {
                    if timeout == 0 {
                        try await listener.run()
                    } else {
                        try await withDeadline(.seconds(timeout)) { try await listener.run() }
                    }
                } catch is DeadlineExceeded {}
                // Make completions durable, so that printed messages are not printed again.
                await client.settle()
            }
            return .null
        }
    }
}

/// Prints incoming events until it is cancelled.
private struct Listener: Sendable {
    let client: Client
    /// Older messages are skipped.
    let oldest: UnixTime
    let isForPeople: Bool

    /// Throws when the output is closed: unprinted messages are kept for the next run.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await client.catchUp() }
            group.addTask { try await printMessages() }
            group.addTask { try await printInvitations() }
            try await group.waitForAll()
        }
    }

    private func printMessages() async throws {
        for await event in client.account.events.elements() {
            let group = await client.account.core.state.nostrGroupID(ofChat: event.chatID)
            switch event.content {
            case .message(let message) where message.kind.isReadable && message.createdAt >= oldest:
                try write(ResultJSON.listened(message, in: group))
            case .withdrawn(let withdrawn) where withdrawn.kind.isReadable:
                try write(ResultJSON.listened(withdrawn, in: group))
            default: break
            }
            client.account.core.complete(event.inboxID, effects: [])
        }
    }

    private func printInvitations() async throws {
        var printed: Set<EventID> = []
        for await case .fullState(let state) in client.account.core.updates() {
            for invite in state.invites where printed.insert(invite.wrapper).inserted {
                try write(ResultJSON.listened(invite))
            }
        }
    }

    private func write(_ line: JSONValue) throws {
        guard isForPeople else { return try Console.deliver(line.jsonText) }
        let (intro, columns): (String, [ResultView.Column]) =
            switch line["type"]?.string {
            case "welcome":
                (
                    "invitation  ",
                    [.init("", "from_pubkey", .person), .init("", "group_name"), .init("", "wrapper_event_id")]
                )
            case "withdrawn": ("withdrawn  ", [.init("", "from_pubkey", .person), .init("", "message_id")])
            case "restored": ("restored  ", [.init("", "from_pubkey", .person), .init("", "message_id")])
            default: ("", [.init("", "created_at", .time), .init("", "from_pubkey", .person), .init("", "content")])
            }
        try Console.deliver(intro + ResultView.line(line, columns))
    }
}
