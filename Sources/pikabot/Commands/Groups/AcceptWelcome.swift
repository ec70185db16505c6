import ArgumentParser
import BotProgram
import BotRuntime
import Nostr
import PikaCore

extension Pikabot {
    struct AcceptWelcome: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept-welcome", abstract: "Accept an invitation, and join its group.")

        @OptionGroup var options: ClientOptions

        @Option(
            name: [.customLong("event-id"), .customLong("wrapper-event-id")],
            help: "The invitation: its wrapper_event_id or welcome_event_id, as `pikabot welcomes` shows it.")
        var eventID: String

        func validate() throws {
            guard (try? EventID(hex: eventID)) != nil else {
                throw ValidationError("--event-id: expected an event id of 64 hex digits")
            }
        }

        func remoteRequest() -> JSONObject { ["cmd": "accept_welcome", "wrapper_event_id": .string(eventID)] }

        func perform() async throws -> JSONValue {
            let wanted = try EventID(hex: eventID)
            return try await withClient(options) { client in
                try await client.catchUp()
                let invites = await client.account.core.state.invites
                guard let invite = invites.first(where: { $0.wrapper == wanted || $0.welcome == wanted }) else {
                    throw CommandError("no invitation has the id \(eventID); `pikabot welcomes` lists them")
                }
                let chatID = try await client.account.performInChat(.acceptInvite(wrapper: invite.wrapper))
                // Receive the group's messages since the invitation.
                await client.settle(.seconds(10))
                return .object(ResultJSON.groupIDs(try await client.chat(chatID)))
            }
        }
    }
}
