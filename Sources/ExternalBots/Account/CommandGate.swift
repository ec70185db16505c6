import Daemon
import PikaCore

/// The permissions of a program: the commands and the chats that its configuration lists. Other requests are refused,
/// with advice on the setting to change.
struct CommandGate: Sendable {
    let bot: ExternalBot
    let account: ProgramAccount
    let rateLimiter: SendRateLimiter

    func authorize(_ command: DaemonCommand, _ name: String) async throws(DaemonFailure) {
        guard ExternalBotProgram.knownCommands.contains(name) else {
            throw DaemonFailure(.notAllowed, "external bots may not use \(name): the configuration controls it")
        }
        guard bot.program.commands.contains(name) else {
            throw Self.refusal(
                "\(bot.label) may not use \(name)", "allow: { commands: \(Self.list(bot.program.commands, name)) }")
        }
        if case .publishKeyPackage(let relays) = command, !relays.isEmpty {
            throw DaemonFailure(.notAllowed, "external bots may not choose the account's relays: remove relays")
        }
        if let reference = await chat(of: command) { try await checkChat(reference) }
        if command.isSending { await rateLimiter.wait() }
    }

    /// Returns the reference to a command's chat; a command about a call belongs to the call's chat.
    private func chat(of command: DaemonCommand) async -> String? {
        if let group = command.groupReference?.lowercased() { return group }
        guard let callID = command.callID, let call = await account.state.activeCall, call.callID == callID else {
            return nil
        }
        return call.chatID.rawValue
    }

    /// Checks the permission for a chat. An unknown chat is refused by the command itself.
    private func checkChat(_ reference: String) async throws(DaemonFailure) {
        let state = await account.state
        let named: AppState.ChatSummary?
        do throws(AppCoreError) { named = try state.chat(named: reference) } catch {
            throw DaemonFailure(.badGroupID, error.message)
        }
        guard let chat = named else { return }
        let chatID = chat.chatID
        guard bot.isActive(in: chat, of: state) else {
            throw Self.refusal("\(bot.label) is not active in this group", "groups: { chats: { \(chatID): all } }")
        }
        guard let groups = bot.program.groups, !state.matches(groups, chat) else { return }
        let allowed = Self.list(Set(groups.map(\.rawValue)), chatID.rawValue)
        throw Self.refusal("\(bot.label) may not use this chat", "allow: { groups: \(allowed) }")
    }

    private static func refusal(_ reason: String, _ fix: String) -> DaemonFailure {
        DaemonFailure(.notAllowed, "\(reason); to allow it, write in its configuration: \(fix)")
    }

    private static func list(_ names: Set<String>, _ name: String) -> String {
        "[\(names.union([name]).sorted().joined(separator: ", "))]"
    }
}
