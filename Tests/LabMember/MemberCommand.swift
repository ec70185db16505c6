import Nostr
import PikaCore

/// One command line for a scripted member.
struct MemberCommand: Hashable, Sendable {
    /// The line's `cmd`.
    let name: String
    let operation: Operation

    enum Operation: Hashable, Sendable {
        case publishKeyPackage
        case createGroup(name: String, members: [PublicKey])
        case createChat(peer: PublicKey)
        case send(group: ChatID, content: String)
        case rename(group: ChatID, name: String)
        case setDescription(group: ChatID, description: String)
        case setRelays(group: ChatID, relays: [RelayURL])
        case setAdmins(group: ChatID, admins: [PublicKey])
        case add(group: ChatID, members: [PublicKey])
        case remove(group: ChatID, members: [PublicKey])
        case selfUpdate(group: ChatID)
        case selfDemote(group: ChatID)
        case rotateID(group: ChatID)
        case upgrade(group: ChatID)
        case leave(group: ChatID)
        /// Sends the file at `path`; a nil `server` means the configured ones.
        case sendMedia(group: ChatID, path: String, filename: String, type: String, caption: String, server: String?)
        /// Writes a message's file to `path`.
        case downloadMedia(group: ChatID, message: EventID, index: Int, path: String)
        /// Sets a group's picture from the file at `path`; nil removes it.
        case setImage(group: ChatID, path: String?, type: String)
        /// Writes a group's picture to `path`.
        case downloadImage(group: ChatID, path: String)
        /// Publishes this account's profile, or its profile in a group.
        case saveProfile(ProfileDraft, group: ChatID?)
        case follow(PublicKey)
        case unfollow(PublicKey)
        /// Fetches profiles and the follow list from the relays again.
        case refreshProfile
        /// Calls the other member through a media relay.
        case startCall(group: ChatID, url: String)
        case acceptCall(group: ChatID, callID: String)
        case rejectCall(group: ChatID, callID: String, reason: String)
        case endCall(group: ChatID, callID: String, reason: String)
        case shutdown
    }

    /// The reason why a line is invalid, and its `cmd`, if any.
    struct Problem: Error {
        let name: String
        let message: String
    }

    /// Parses a line such as `{"cmd": "send", "group": "…", "content": "…"}`; public keys are npub or hex.
    init(line: String) throws(Problem) {
        guard let json = try? JSONValue(json: line), let name = json["cmd"]?.string else {
            throw Problem(name: "", message: "expected a JSON object with cmd")
        }
        self.name = name
        self.operation = try Operation(name, Fields(json: json, command: name))
    }
}

extension MemberCommand.Operation {
    fileprivate init(_ name: String, _ fields: Fields) throws(MemberCommand.Problem) {
        self =
            switch name {
            case "publish_kp": .publishKeyPackage
            case "create_group": .createGroup(name: try fields.text("name"), members: try fields.keys("members"))
            case "create_chat": .createChat(peer: try fields.key("peer"))
            case "send": .send(group: try fields.group, content: try fields.text("content"))
            case "rename": .rename(group: try fields.group, name: try fields.text("name"))
            case "set_description":
                .setDescription(group: try fields.group, description: try fields.text("description"))
            case "set_relays": .setRelays(group: try fields.group, relays: try fields.relays("relays"))
            case "set_admins": .setAdmins(group: try fields.group, admins: try fields.keys("members"))
            case "add": .add(group: try fields.group, members: try fields.keys("members"))
            case "remove": .remove(group: try fields.group, members: try fields.keys("members"))
            case "self_update": .selfUpdate(group: try fields.group)
            case "self_demote": .selfDemote(group: try fields.group)
            case "rotate_id": .rotateID(group: try fields.group)
            case "upgrade": .upgrade(group: try fields.group)
            case "leave": .leave(group: try fields.group)
            case "send_media":
                .sendMedia(
                    group: try fields.group, path: try fields.text("path"), filename: try fields.text("filename"),
                    type: try fields.text("mime"), caption: fields.json["content"]?.string ?? "",
                    server: fields.json["server"]?.string)
            case "download_media":
                .downloadMedia(
                    group: try fields.group, message: try fields.eventID("message"),
                    index: Int(clamping: fields.json["index"]?.integer ?? 0), path: try fields.text("path"))
            case "set_image":
                .setImage(
                    group: try fields.group, path: fields.json["path"]?.string, type: fields.json["mime"]?.string ?? "")
            case "download_image": .downloadImage(group: try fields.group, path: try fields.text("path"))
            case "save_profile":
                .saveProfile(
                    ProfileDraft(
                        name: fields.json["name"]?.string, about: fields.json["about"]?.string,
                        picture: fields.json["picture"]?.string),
                    group: fields.json["group"]?.string.map(ChatID.init(rawValue:)))
            case "follow": .follow(try fields.key("peer"))
            case "unfollow": .unfollow(try fields.key("peer"))
            case "refresh_profile": .refreshProfile
            case "start_call": .startCall(group: try fields.group, url: try fields.text("moq_url"))
            case "accept_call": .acceptCall(group: try fields.group, callID: try fields.text("call_id"))
            case "reject_call":
                .rejectCall(
                    group: try fields.group, callID: try fields.text("call_id"), reason: try fields.text("reason"))
            case "end_call":
                .endCall(
                    group: try fields.group, callID: try fields.text("call_id"), reason: try fields.text("reason"))
            case "shutdown": .shutdown
            default: throw MemberCommand.Problem(name: name, message: "unknown command")
            }
    }
}

/// A command's arguments.
private struct Fields {
    let json: JSONValue
    let command: String

    var group: ChatID {
        get throws(MemberCommand.Problem) { ChatID(rawValue: try text("group")) }
    }

    func text(_ name: String) throws(MemberCommand.Problem) -> String {
        guard let text = json[name]?.string else { throw problem("\(name) must be a string") }
        return text
    }

    func eventID(_ name: String) throws(MemberCommand.Problem) -> EventID {
        guard let id = try? EventID(hex: try text(name)) else { throw problem("\(name) must be an event id") }
        return id
    }

    func key(_ name: String) throws(MemberCommand.Problem) -> PublicKey {
        guard let key = try? PublicKey(parsing: try text(name)) else { throw problem("\(name) must be a public key") }
        return key
    }

    func keys(_ name: String) throws(MemberCommand.Problem) -> [PublicKey] {
        try list(name, of: "public keys") { try? PublicKey(parsing: $0) }
    }

    func relays(_ name: String) throws(MemberCommand.Problem) -> [RelayURL] {
        try list(name, of: "relays") { try? RelayURL($0) }
    }

    private func list<Element>(
        _ name: String, of what: String, _ parse: (String) -> Element?
    ) throws(MemberCommand.Problem) -> [Element] {
        let texts = json[name]?.array ?? []
        let elements = texts.compactMap { $0.string.flatMap(parse) }
        guard !elements.isEmpty, elements.count == texts.count else {
            throw problem("\(name) must be a list of \(what)")
        }
        return elements
    }

    private func problem(_ message: String) -> MemberCommand.Problem {
        MemberCommand.Problem(name: command, message: message)
    }
}
