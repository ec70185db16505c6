import ArgumentParser
import Foundation
import Logging
import Nostr
import PikaCore

extension Pikabot {
    struct Listen: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print messages and invitations as they come, one line of JSON each.",
            discussion: """
                Each message of the others is printed once: also one that another command has received meanwhile. \
                Invitations that wait for an answer are printed at each start.
                """)

        @OptionGroup var options: ClientOptions

        @Option(help: "Seconds after which it ends; 0 for never.") var timeout = 60
        @Option(help: "Seconds; messages that are older are left out.") var lookback = 86_400

        func validate() throws {
            guard timeout >= 0, lookback >= 0 else { throw ValidationError("seconds are not negative") }
        }

        func run() async throws {
            StandardErrorLog.bootstrap(level: .error)
            if options.remote { _ = try remoteRequest() }
            _ = try await perform()
        }

        func perform() async throws -> JSONValue {
            let oldest = Int64(Date().timeIntervalSince1970) - Int64(lookback)
            try await withClient(options) { client in
                Console.progress(timeout == 0 ? "listening…" : "listening for \(timeout) s…")
                let listener = Listener(client: client, oldest: oldest, isForPeople: options.isForPeople)
                if timeout == 0 {
                    await listener.run()
                } else {
                    _ = try? await withDeadline(.seconds(timeout)) { await listener.run() }
                }
                // What was printed is not printed again.
                await client.settle()
            }
            return .null
        }
    }
}

/// Prints what comes in, until it is cancelled.
private struct Listener: Sendable {
    let client: Client
    /// Unix seconds; what was said earlier is left out.
    let oldest: Int64
    let isForPeople: Bool

    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await printMessages() }
            group.addTask { await printInvitations() }
        }
    }

    private func printMessages() async {
        for await event in client.account.events.elements() {
            if case .message(let message) = event.content, message.kind.isReadable, message.createdAt >= oldest {
                write(ResultJSON.listened(message, in: event.chatID))
            }
            client.account.core.complete(event.inboxID, effects: [])
        }
    }

    private func printInvitations() async {
        var printed: Set<EventID> = []
        for await case .fullState(let state) in client.account.core.updates() {
            for invite in state.invites where printed.insert(invite.wrapper).inserted {
                write(ResultJSON.listened(invite))
            }
        }
    }

    private func write(_ line: JSONValue) {
        guard isForPeople else { return Console.print(line.jsonText) }
        let columns: [ResultView.Column] =
            line["type"]?.string == "welcome"
            ? [.init("", "from_pubkey", .person), .init("", "group_name"), .init("", "wrapper_event_id")]
            : [.init("", "created_at", .time), .init("", "from_pubkey", .person), .init("", "content")]
        let intro = line["type"]?.string == "welcome" ? "invitation  " : ""
        Console.print(intro + ResultView.line(line, columns))
    }
}
