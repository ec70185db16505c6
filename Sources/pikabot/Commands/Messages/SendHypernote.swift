import ArgumentParser
import BotProgram
import Foundation
import Nostr
import PikaCore

extension Pikabot {
    struct SendHypernote: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "send-hypernote",
            abstract: "Send a hypernote: a text with buttons, fields and other components.",
            discussion: """
                `pikabot hypernote-catalog` lists the components. A file may begin with a block ```hnmd that contains a \
                JSON object with title and state; --title and --state take precedence.
                """)

        @OptionGroup var options: ClientOptions
        @OptionGroup var target: TargetOptions

        @Option(help: "The text.") var content: String?
        @Option(help: "A file with the text.") var file: String?
        @Option(help: "The title.") var title: String?
        @Option(help: "A JSON object: the initial state of the components.") var state: String?

        func validate() throws {
            guard content == nil || file == nil else { throw ValidationError("give --content or --file, not both") }
            guard content?.isEmpty == false || file != nil else {
                throw ValidationError("--content or --file is missing")
            }
            if let state { _ = try HypernoteFile.checked(state: state, from: "--state") }
        }

        func remoteRequest() throws -> JSONObject {
            let note = try hypernote()
            var request: JSONObject = [
                "cmd": "send_hypernote", "nostr_group_id": try target.remoteGroup(), "content": .string(note.content),
            ]
            if let title = note.title { request["title"] = .string(title) }
            if let state = note.state { request["state"] = .string(state) }
            return request
        }

        func perform() async throws -> JSONValue {
            let note = try hypernote()
            return try await withClient(options) { client in
                try await client.catchUp(needed: true)
                let chatID = try await client.chat(target).chatID
                let sent = try await client.send(.sendHypernote(chatID: chatID, note))
                await client.settle()
                return [
                    "event_id": .string(sent.wrapper.hex),
                    "nostr_group_id": .string(try await client.chat(chatID).nostrGroupID),
                ]
            }
        }

        func hypernote() throws -> Hypernote {
            var note = Hypernote(content: content ?? "")
            if let file {
                guard let data = FileManager.default.contents(atPath: file),
                    let text = String(validating: data, as: UTF8.self)
                else { throw CommandError("\(file): cannot be read as UTF-8 text") }
                note = try HypernoteFile.parse(text, name: file)
            }
            note.title = title ?? note.title
            note.state = state ?? note.state
            return note
        }
    }
}

/// Parser of a hypernote file: an optional block ```hnmd with a JSON object, then the text.
enum HypernoteFile {
    static func parse(_ text: String, name: String) throws -> Hypernote {
        let start = text.drop { $0.isWhitespace }
        guard start.hasPrefix("```hnmd") else { return Hypernote(content: text) }
        var head: [Substring] = []
        var lines = start.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
        while let line = lines.popFirst(), !line.hasPrefix("```") {
            head.append(line)
            guard !lines.isEmpty else { throw CommandError("\(name): the block ```hnmd is not closed") }
        }
        guard let json = try? JSONValue(json: head.joined(separator: "\n")), json.object != nil else {
            throw CommandError("\(name): the block ```hnmd must contain a JSON object")
        }
        let content = lines.drop { $0.isEmpty }.joined(separator: "\n")
        guard !content.isEmpty else { throw CommandError("\(name): expected text after the block ```hnmd") }
        let state = try json["state"].map { try checked(state: $0.jsonText, from: "\(name): state") }
        return Hypernote(content: content, title: json["title"]?.string, state: state)
    }

    static func checked(state: String, from source: String) throws -> String {
        guard let json = try? JSONValue(json: state), json.object != nil else {
            throw ValidationError("\(source) must be a JSON object")
        }
        return state
    }
}
