import BotRuntime
import Nostr
import PikaCore

/// An account driven by lines of JSON: one command per input line, one event per output line.
struct ScriptedMember: Sendable {
    let account: LocalAccount
    let write: @Sendable (JSONValue) -> Void

    /// Executes commands one at a time until `shutdown` or the end of the input.
    func execute(_ lines: AsyncStream<String>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await reportEvents() }
            group.addTask { await reportGroups() }
            write(MemberEvent.ready(account.core.account))
            for await line in lines where !line.isEmpty {
                guard await execute(line) else { break }
            }
            group.cancelAll()
        }
    }

    /// Executes one line; returns false after `shutdown`.
    private func execute(_ line: String) async -> Bool {
        do {
            let command = try MemberCommand(line: line)
            do {
                write(MemberEvent.done(command.name, try await perform(command.operation)))
            } catch {
                write(MemberEvent.failed(command.name, String(describing: error)))
            }
            return command.operation != .shutdown
        } catch {
            write(MemberEvent.failed(error.name, error.message))
            return true
        }
    }

    private func perform(_ operation: MemberCommand.Operation) async throws -> JSONObject {
        switch operation {
        case .publishKeyPackage:
            try await account.publishKeyPackage()
        case .createGroup(let name, let members):
            return try await createGroup(.createGroupChat(name: name, peers: members))
        case .createChat(let peer):
            return try await createGroup(.createChat(peer: peer))
        case .send(let group, let content):
            let outcome = try await account.perform(.sendMessage(chatID: group, .text(content)))
            if case .queued(let messageID, let wrapper) = outcome {
                return ["message_id": .string(messageID.hex), "event_id": .string(wrapper.hex)]
            }
        case .sendMedia, .downloadMedia, .setImage, .downloadImage: return try await performMedia(operation)
        case .shutdown: break
        default:
            if let action = operation.action { _ = try await account.perform(action) }
        }
        return [:]
    }

    /// Creates a group and returns its nostrGroupID, by which other implementations identify it.
    private func createGroup(_ action: AppAction) async throws -> JSONObject {
        let chatID = try await account.performInChat(action)
        return ["group": .string(await account.core.state.nostrGroupID(ofChat: chatID))]
    }

    private func reportEvents() async {
        for await event in account.events.elements() {
            let group = await account.core.state.nostrGroupID(ofChat: event.chatID)
            if let line = MemberEvent.event(event, inGroup: group) { write(line) }
        }
    }

    /// Writes groups, calls and this account's profile whenever they have changed since they were last written.
    private func reportGroups() async {
        var written: [String: JSONValue] = [:]
        var people: JSONValue?
        for await update in account.core.updates() {
            guard case .fullState(let state) = update else { continue }
            let line = MemberEvent.people(state)
            if line != people { write(line) }
            people = line
            if let call = state.activeCall {
                let line = MemberEvent.call(call, inGroup: state.nostrGroupID(ofChat: call.chatID))
                if written.updateValue(line, forKey: "call") != line { write(line) }
            }
            for chat in state.chatList {
                let line = MemberEvent.group(chat)
                guard written.updateValue(line, forKey: chat.chatID.rawValue) != line else { continue }
                write(line)
            }
        }
    }
}

extension MemberCommand.Operation {
    /// The action of an operation that consists of a single one.
    fileprivate var action: AppAction? {
        switch self {
        case .saveProfile(let draft, let group?): .saveGroupProfile(chatID: group, draft)
        case .saveProfile(let draft, nil): .saveProfile(draft)
        case .follow(let peer): .follow(peer)
        case .unfollow(let peer): .unfollow(peer)
        case .refreshProfile: .refreshProfile
        case .rename(let group, let name): .renameGroup(chatID: group, name: name)
        case .setDescription(let group, let text): .setGroupDescription(chatID: group, description: text)
        case .setRelays(let group, let relays): .setGroupRelays(chatID: group, relays: relays)
        case .setAdmins(let group, let admins): .setGroupAdmins(chatID: group, admins: admins)
        case .add(let group, let members): .addGroupMembers(chatID: group, peers: members)
        case .remove(let group, let members): .removeGroupMembers(chatID: group, peers: members)
        case .selfUpdate(let group): .updateGroupKeys(chatID: group)
        case .selfDemote(let group): .selfDemote(chatID: group)
        case .rotateID(let group): .rotateGroupID(chatID: group)
        case .upgrade(let group): .upgradeGroup(chatID: group)
        case .leave(let group): .leaveGroup(chatID: group)
        case .startCall(let group, let url):
            .startCall(
                chatID: group, session: CallSession(moqURL: url, broadcastBase: "pika/calls", tracks: [.audio]))
        case .acceptCall(let group, let callID): .acceptCall(chatID: group, callID: callID)
        case .rejectCall(let group, let callID, let reason):
            .rejectCall(chatID: group, callID: callID, reason: reason)
        case .endCall(let group, let callID, let reason): .endCall(chatID: group, callID: callID, reason: reason)
        case .publishKeyPackage, .createGroup, .createChat, .send, .sendMedia, .downloadMedia, .setImage,
            .downloadImage,
            .shutdown:
            nil
        }
    }
}
