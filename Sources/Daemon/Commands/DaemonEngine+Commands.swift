import CallMedia
import Foundation
import Logging
import Nostr
import PikaCore

/// Performs the steps of commands; ``DaemonMachine`` decides on them.
extension DaemonEngine {
    /// - Parameter key: the command's idempotency key.
    func perform(
        _ request: DaemonRequest, key: String?, _ client: DaemonClient
    ) async throws(DaemonFailure) -> CommandResult {
        let context = CommandContext(client: client, key: key, nowMilliseconds: self.clock.nowMilliseconds) {
            UUID().uuidString.lowercased()
        }
        var action: ActionID?
        do throws(DaemonFailure) {
            let first = try self.machine.begin(request.command, context)
            var result = try await self.follow(
                first, isReported: self.reportsOutcome(of: request, client), context, &action)
            if let action {
                var fields = result.result ?? [:]
                fields["action"] = .string(action.rawValue)
                result.result = fields
            }
            return result
        } catch {
            var failure = error
            failure.action = action
            throw failure
        }
    }

    /// Performs steps until the reply.
    ///
    /// - Parameters:
    ///   - isReported: whether the outcome is also reported as an event.
    ///   - action: receives the id of the action once it is requested.
    private func follow(
        _ first: CommandStep, isReported: Bool, _ context: CommandContext, _ action: inout ActionID?
    ) async throws(DaemonFailure) -> CommandResult {
        var step = first
        while true {
            switch step {
            case .reply(let result): return result
            case .greet(let name, let result):
                self.logger.info("a client said hello", metadata: ["client": "\(name.prefix(64))"])
                return result
            case .manageAccounts(let command): return try await self.perform(account: command)
            case .request(let request, let key, let milliseconds, let next):
                if isReported { action = self.machine.settings.action(of: context) }
                let patience = milliseconds ?? self.machine.settings.commandPatience
                let outcome = await self.requests.outcome(of: request, key: key, reportedAs: action, within: patience)
                step = try next(&self.machine, outcome)
            case .waitForState(let milliseconds, let isMet, let next):
                _ = await self.requests.wait(milliseconds, from: self.machine.state, until: isMet)
                step = try next(&self.machine)
            case .waitForEvents(let next):
                await self.requests.waitUntilDelivered()
                step = try next(&self.machine)
            case .waitForRelay(let messageID, let next):
                let patience = self.machine.settings.commandPatience
                let delivery = await self.requests.delivery(of: messageID, within: patience)
                step = try next(&self.machine, delivery)
            case .readProfiles(let chatID, let next):
                let known = await self.core.profiles(in: chatID)
                step = try next(&self.machine, known)
            case .readMessages(let chatID, let before, let limit, let next):
                let found = await self.core.newestMessages(in: chatID, before: before, limit: limit)
                step = try next(&self.machine, found)
            case .readFile(let path, let next):
                let found = RegularFile.content(path)
                step = try next(&self.machine, found)
            case .readCallSession(let callID, let next):
                let session = await self.core.callSession(callID: callID)
                step = try next(&self.machine, session)
            case .openMedia(let callID, let next):
                step = try next(&self.machine, self.core.callMedia(callID: callID))
            case .sendData(let media, let bytes, let track, let next):
                var failure: AppCoreError?
                do throws(AppCoreError) { try media.sendData(bytes, track: track) } catch { failure = error }
                step = try next(&self.machine, failure)
            case .announceJoins(let joins, let next):
                for join in joins { await self.announceJoin(join) }
                step = try next(&self.machine)
            case .perform(let effects, let next):
                await self.perform(effects)
                step = try next(&self.machine)
            }
        }
    }

    /// Whether the outcome of a command is reported as an event: only to clients of the extension that want it.
    private func reportsOutcome(of request: DaemonRequest, _ client: DaemonClient) -> Bool {
        guard request.command.hasOutcome, self.machine.clients.isExtended(client) else { return false }
        return request.wantsOutcome ?? self.machine.clients.wantsOutcomes(client)
    }

    /// Accepts an invitation as if standard input had asked for it.
    func autoAccept(_ wrapper: EventID) async {
        let request = DaemonRequest.accepting(wrapper)
        await self.afterCommands { await self.execute(request, of: self.standard) }
    }
}
