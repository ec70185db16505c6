import Nostr

/// One line that drives a lab member.
enum LabCommand: Hashable, Sendable {
    case publishKeyPackage
    case createGroup(name: String, members: [PublicKey])
    case createChat(peer: PublicKey)
    case send(group: String, content: String)
    case rename(group: String, name: String)
    case add(group: String, members: [PublicKey])
    case remove(group: String, members: [PublicKey])
    case shutdown

    /// Why a line is no command, and what `cmd` it has, if any.
    struct Problem: Error {
        let name: String
        let message: String
    }

    /// `{"cmd": "send", "group": "…", "content": "…"}`; public keys as npub or hex.
    init(line: String) throws(Problem) {
        guard let json = try? JSONValue(json: line), let name = json["cmd"]?.string else {
            throw Problem(name: "", message: "not a JSON object with a cmd")
        }
        let fields = Fields(json: json, command: name)
        self =
            switch name {
            case "publish_kp": .publishKeyPackage
            case "create_group": .createGroup(name: try fields.text("name"), members: try fields.members())
            case "create_chat": .createChat(peer: try fields.peer())
            case "send": .send(group: try fields.text("group"), content: try fields.text("content"))
            case "rename": .rename(group: try fields.text("group"), name: try fields.text("name"))
            case "add": .add(group: try fields.text("group"), members: try fields.members())
            case "remove": .remove(group: try fields.text("group"), members: try fields.members())
            case "shutdown": .shutdown
            default: throw Problem(name: name, message: "no such command")
            }
    }

    var name: String {
        switch self {
        case .publishKeyPackage: "publish_kp"
        case .createGroup: "create_group"
        case .createChat: "create_chat"
        case .send: "send"
        case .rename: "rename"
        case .add: "add"
        case .remove: "remove"
        case .shutdown: "shutdown"
        }
    }

    private struct Fields {
        let json: JSONValue
        let command: String

        func text(_ name: String) throws(Problem) -> String {
            guard let text = json[name]?.string else { throw Problem(name: command, message: "\(name) is no text") }
            return text
        }

        func peer() throws(Problem) -> PublicKey {
            guard let key = try? PublicKey(parsing: try text("peer")) else {
                throw Problem(name: command, message: "peer is no public key")
            }
            return key
        }

        func members() throws(Problem) -> [PublicKey] {
            let texts = json["members"]?.array ?? []
            let keys = texts.compactMap { $0.string.flatMap { try? PublicKey(parsing: $0) } }
            guard !keys.isEmpty, keys.count == texts.count else {
                throw Problem(name: command, message: "members is no list of public keys")
            }
            return keys
        }
    }
}
