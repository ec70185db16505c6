import ArgumentParser
import BotProgram
import BotRuntime
import Nostr
import PikaCore

extension Pikabot {
    struct Profile: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the account's public profile as stored on its relays.")

        @OptionGroup var options: ClientOptions

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                try await client.catchUp()
                do { _ = try await client.account.perform(.refreshProfile) } catch let error as AppCoreError {
                    // The missing relays were reported already; print the last known profile.
                    guard error.code == .noRelay else { throw error }
                }
                return await client.profile()
            }
        }
    }

    struct UpdateProfile: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "update-profile", abstract: "Change the account's public profile.",
            discussion: "Omitted fields stay unchanged; an empty string removes a field.")
        private static let maximumPicture = 8 << 20

        @OptionGroup var options: ClientOptions

        @Option(help: "Name of the account.") var name: String?
        @Option(help: "Description of the account.") var about: String?
        @Option(help: "Picture to upload, at most 8 MiB: JPEG, PNG, GIF or WebP.") var picture: String?
        @Option(name: .customLong("blossom"), help: "Media server, http or https; may be repeated.")
        var mediaServers: [MediaServerArgument] = []

        func validate() throws {
            guard name != nil || about != nil || picture != nil else {
                throw ValidationError("--name, --about or --picture is missing; `pikabot profile` shows the profile")
            }
            guard picture != nil || mediaServers.isEmpty else {
                throw ValidationError("--blossom needs --picture")
            }
        }

        func perform() async throws -> JSONValue {
            let image = try picture.map { try LocalFile(path: $0, limit: Self.maximumPicture) }
            if let image, !["image/jpeg", "image/png", "image/gif", "image/webp"].contains(image.mediaType) {
                throw CommandError(
                    "\(picture ?? ""): unsupported image type (file extension); use jpg, png, gif or webp")
            }
            return try await withClient(options) { client in
                try await client.catchUp(needed: true)
                var draft = ProfileDraft(name: name, about: about)
                if let image {
                    let servers = try mediaServers.isEmpty ? ClientOptions.mediaServers() : mediaServers.map(\.url)
                    draft.picture = try await client.publish(image, to: servers)
                }
                Console.progress("publishing the profile…")
                _ = try await client.account.perform(.saveProfile(draft))
                await client.settle()
                return await client.profile()
            }
        }
    }

    struct UpdateGroupProfile: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "update-group-profile", abstract: "Change the account's profile in one group.")

        @OptionGroup var options: ClientOptions

        @Option(help: "The group's id, as `pikabot groups` shows it.") var group: String
        @Option(help: "Name of the account in the group.") var name: String?
        @Option(help: "Description of the account.") var about: String?

        func validate() throws {
            guard name != nil || about != nil else { throw ValidationError("--name or --about is missing") }
        }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                try await client.catchUp(needed: true)
                let chat = try await client.activeChat(group)
                _ = try await client.send(
                    .saveGroupProfile(chatID: chat.chatID, ProfileDraft(name: name, about: about)))
                await client.settle()
                return [
                    "nostr_group_id": .string(chat.nostrGroupID), "name": Self.shown(name), "about": Self.shown(about),
                ]
            }
        }

        private static func shown(_ text: String?) -> JSONValue {
            guard let text = text?.trimmed, !text.isEmpty else { return .null }
            return .string(text)
        }
    }
}

extension Client {
    /// Returns the account's own profile as currently known.
    func profile() async -> JSONValue {
        let profile = await account.core.state.myProfile
        var result = ResultJSON.identity(key.publicKey)
        result["name"] = (profile?.name ?? profile?.displayName).map { .string($0) } ?? .null
        result["about"] = profile?.about.map { .string($0) } ?? .null
        result["picture_url"] = profile?.picture.map { .string($0) } ?? .null
        return .object(result)
    }
}
