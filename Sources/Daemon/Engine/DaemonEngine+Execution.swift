import Errors
import Metrics
import Nostr
import PikaCore

/// Execution of a command, from the request to its reply.
extension DaemonEngine {
    func execute(_ request: DaemonRequest, of client: DaemonClient) async {
        guard !self.isEnding, self.machine.clients.isAttached(client) else { return }
        // Ignore the commands of a program that was told to end or has asked to.
        if client.origin == .program, client.lines.isClosed { return }
        var code = "ok"
        var endsDaemon = request.command == .shutdown
        do {
            await self.confirmProgram(by: request.command, client)
            let result = try await self.performOnce(request, for: client)
            if result.endsDaemon { endsDaemon = true }
            let target = self.machine.clients.target(
                client, standard: self.standard, isForStandard: result.repliesToStandard)
            await self.announce(result, to: client) { await self.reply(result, to: request, target) }
            // The reply is stored after the command's events were sent. If the process ends earlier, the repeated
            // command sends them.
            if result.later == nil, let place = result.place { await self.requests.store([place.entry(result.result)]) }
            await self.completeJoins()
        } catch {
            code = error.code.description
            let target = self.machine.clients.target(
                client, standard: self.standard, isForStandard: error.isForStandard(request.command))
            await self.send(DaemonReply.error(requestID: request.requestID, error).line, to: target)
        }
        Counter(label: "daemon_commands_total", dimensions: [("command", request.name), ("result", code)]).increment()
        if endsDaemon, code == "ok" { await self.shutDown(client) }
    }

    /// Sends the reply now, or once its result is computed.
    private func reply(_ result: CommandResult, to request: DaemonRequest, _ target: DaemonClient) async {
        guard let later = result.later else {
            return await self.send(DaemonReply.ok(requestID: request.requestID, result: result.result).line, to: target)
        }
        self.streams.background.yield {
            let result = await later()
            await self.send(DaemonReply(to: request.requestID, result).line, to: target)
        }
    }

    private func completeJoins() async {
        guard self.machine.memberships.hasCommandJoins, await self.waitUntilWritten(!self.isEnding) else { return }
        for join in self.machine.memberships.completeCommandJoins() { self.core.complete(join.inboxID, effects: []) }
    }

    /// Ends the daemon, or only the program if that has sent the command.
    private func shutDown(_ client: DaemonClient) async {
        _ = await client.lines.flush()
        guard client.origin == .program else { return self.end() }
        self.machine.program.shutDown()
        client.lines.close()
    }
}
