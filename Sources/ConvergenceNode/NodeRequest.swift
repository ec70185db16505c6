import Nostr

/// One request of the orchestrator (docs/testing.md, "Convergence node").
struct NodeRequest: Hashable, Sendable {
    static let protocolName = "marmot-convergence-node-v1"

    /// A command, with the id of its action where it has one.
    enum Command: Hashable, Sendable {
        case initialize(participant: String, root: String, relays: [String])
        case configurePeers([String: String])
        case selectGroup(group: String, groupID: String)
        case createGroup(action: String, group: String, name: String, members: [String], admins: [String])
        case inviteMembers(action: String, members: [String])
        case removeMembers(action: String, members: [String])
        /// The fields that are nil keep their value.
        case updateProfile(action: String, name: String?, description: String?)
        case updateAdmins(action: String, admins: [String])
        case selfUpdate(action: String)
        case send(action: String, payload: String)
        case leave(action: String)
        case catchUp(action: String)
        case observe(action: String)
        case clearEvents(action: String)
        case setMaintenance(action: String, isPaused: Bool)
        case barrier(action: String, name: String)
        case shutdown
    }

    let id: String
    let protocolName: String
    let command: Command

    /// Parses a line; throws ``NodeFailure/invalidJSON``. Unknown members are ignored.
    init(_ line: String) throws(NodeFailure) {
        guard let json = try? JSONValue(json: line), let id = json["request_id"]?.string,
            let name = json["protocol"]?.string, let command = json["command"]
        else { throw NodeFailure.invalidJSON }
        self.id = id
        self.protocolName = name
        self.command = try Command(Fields(json: command))
    }
}

extension NodeRequest.Command {
    fileprivate init(_ fields: Fields) throws(NodeFailure) {
        let type = try fields.text("type")
        switch type {
        case "initialize":
            self = .initialize(
                participant: try fields.text("participant"), root: try fields.text("root"),
                relays: try fields.texts("relay_urls"))
        case "configure_peers": self = .configurePeers(try fields.map("accounts_by_participant"))
        case "select_group":
            self = .selectGroup(group: try fields.text("group"), groupID: try fields.text("group_id_hex"))
        case "shutdown": self = .shutdown
        default: try self.init(type, action: try fields.text("action_id"), fields)
        }
    }

    private init(_ type: String, action: String, _ fields: Fields) throws(NodeFailure) {
        switch type {
        case "create_group":
            self = .createGroup(
                action: action, group: try fields.text("group"), name: try fields.text("name"),
                members: try fields.texts("member_accounts"), admins: try fields.texts("initial_admin_accounts"))
        case "invite_members": self = .inviteMembers(action: action, members: try fields.texts("member_accounts"))
        case "remove_members": self = .removeMembers(action: action, members: try fields.texts("member_accounts"))
        case "update_group_data":
            self = .updateProfile(action: action, name: try fields.text("name"), description: nil)
        case "update_group_profile":
            self = .updateProfile(
                action: action, name: try fields.optionalText("name"),
                description: try fields.optionalText("description"))
        case "update_admin_policy": self = .updateAdmins(action: action, admins: try fields.texts("admin_accounts"))
        case "self_update": self = .selfUpdate(action: action)
        case "send_application": self = .send(action: action, payload: try fields.text("payload"))
        case "leave": self = .leave(action: action)
        case "catch_up":
            // The relays' whole history of the groups is read either way.
            _ = try fields.flag("full_history")
            self = .catchUp(action: action)
        case "observe": self = .observe(action: action)
        case "clear_events": self = .clearEvents(action: action)
        case "pause_maintenance": self = .setMaintenance(action: action, isPaused: true)
        case "resume_maintenance": self = .setMaintenance(action: action, isPaused: false)
        case "barrier": self = .barrier(action: action, name: try fields.text("barrier"))
        default: throw NodeFailure.invalidJSON
        }
    }
}

/// The members of a command.
private struct Fields {
    let json: JSONValue

    func text(_ name: String) throws(NodeFailure) -> String {
        guard let text = self.json[name]?.string else { throw NodeFailure.invalidJSON }
        return text
    }

    func optionalText(_ name: String) throws(NodeFailure) -> String? {
        guard let value = self.json[name], value != .null else { return nil }
        guard let text = value.string else { throw NodeFailure.invalidJSON }
        return text
    }

    func flag(_ name: String) throws(NodeFailure) -> Bool {
        guard let flag = self.json[name]?.bool else { throw NodeFailure.invalidJSON }
        return flag
    }

    func texts(_ name: String) throws(NodeFailure) -> [String] {
        let texts = self.json[name]?.array?.map(\.string)
        guard let texts, !texts.contains(nil) else { throw NodeFailure.invalidJSON }
        return texts.compactMap { $0 }
    }

    func map(_ name: String) throws(NodeFailure) -> [String: String] {
        guard let members = self.json[name]?.object?.members else { throw NodeFailure.invalidJSON }
        var map: [String: String] = [:]
        for member in members {
            guard let text = member.value.string else { throw NodeFailure.invalidJSON }
            map[member.name] = text
        }
        return map
    }
}
