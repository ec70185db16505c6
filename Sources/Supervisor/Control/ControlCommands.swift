/// Commands of the control socket, one `{"command":NAME,…}` per line; `account` names a worker.
///
/// | command | parameters | result |
/// |---|---|---|
/// | `status` | – | `pid`, `uptime` (s), `workers` (``WorkerStatus``, and `worker`: the worker's own report), and the program's additions |
/// | `logs` | `account`?, `lines` (100), `follow` (false) | `lines`: `time` (Unix ms), `account`, `text`; with `follow`, one such object per line |
/// | `restart` | `account`?, default all | `accounts` |
/// | `stop` | `account`?, default all, which also ends the supervisor | `accounts` |
/// | `reload` | – | the program's report |
/// | `console` | `name`?, `role`? (`operate` or `view`) | `url`: a login that works once |
/// | `why`, `quarantine`, `pause`, `resume` | `account`?, and the worker's parameters | the worker's; without `account` an object by account, of `result` or `error` |
package struct ControlCommands<WorkerClock: Clock>: Sendable where WorkerClock.Duration == Duration {
    /// Commands that are forwarded to the workers.
    static var forwarded: Set<String> { ["why", "quarantine", "pause", "resume"] }
    static var maximumLogLines: Int64 { 10_000 }

    private let supervisor: Supervisor<WorkerClock>
    private let process: Int32
    private let reload: @Sendable () async -> ControlReply
    private let console: @Sendable (ControlValue) async -> ControlReply
    private let details: @Sendable () async -> [String: ControlValue]

    /// - Parameters:
    ///   - process: the supervisor's process id.
    ///   - console: answers the command `console` with a link.
    ///   - details: additional members of the result of `status`.
    package init(
        supervisor: Supervisor<WorkerClock>, process: Int32, reload: @escaping @Sendable () async -> ControlReply,
        console: @escaping @Sendable (ControlValue) async -> ControlReply = { _ in
            .badRequest("this program has no console")
        },
        details: @escaping @Sendable () async -> [String: ControlValue] = { [:] }
    ) {
        self.supervisor = supervisor
        self.process = process
        self.reload = reload
        self.console = console
        self.details = details
    }

    package func answer(_ request: ControlValue) async -> ControlReply {
        guard let command = request["command"]?.string else {
            return .badRequest("expected an object with the member \"command\"")
        }
        guard request["account"] == nil || request["account"]?.string != nil else {
            return .badRequest("\"account\" must be a string")
        }
        let account = request["account"]?.string
        do throws(SupervisorError) {
            switch command {
            case "status": return .result(await status())
            case "logs": return try await logs(request, account)
            case "restart": return try await restart(account)
            case "stop": return try await stop(account)
            case "reload": return await reload()
            case "console": return await console(request)
            case _ where Self.forwarded.contains(command): return try await pass(command, request, account)
            default: return .badRequest("unknown command \"\(command.prefix(40))\"")
            }
        } catch {
            return .failure(error)
        }
    }

    private func status() async -> ControlValue {
        let workers = await supervisor.status
        let own = await ask(workers.filter { $0.pid != nil }.map(\.name), "status", [:], within: .seconds(2))
        var result = await details()
        result["pid"] = .integer(Int64(process))
        result["uptime"] = .integer(Int64(await supervisor.now / .seconds(1)))
        result["workers"] = .array(
            workers.map { status in
                var object = status.json.object ?? [:]
                if case .success(let value)? = own[status.name] { object["worker"] = value }
                return .object(object)
            })
        return .object(result)
    }

    private func logs(_ request: ControlValue, _ account: String?) async throws(SupervisorError) -> ControlReply {
        if let account { _ = try await supervisor.index(of: account) }
        let count = request["lines"]?.integer ?? 100
        guard (0...Self.maximumLogLines).contains(count) else {
            return .badRequest("\"lines\" must be 0 to \(Self.maximumLogLines)")
        }
        let log = supervisor.log
        guard request["follow"]?.bool == true else {
            return .result(["lines": .array(log.newest(Int(count), of: account).map(\.json))])
        }
        return .lines(log.follow(Int(count), of: account))
    }

    private func restart(_ account: String?) async throws(SupervisorError) -> ControlReply {
        let accounts = await names(account)
        for account in accounts { try await supervisor.restart(account) }
        return .result(["accounts": .array(accounts.map { .string($0) })])
    }

    private func stop(_ account: String?) async throws(SupervisorError) -> ControlReply {
        let accounts = await names(account)
        let result: ControlValue = ["accounts": .array(accounts.map { .string($0) })]
        guard let account else { return .last(result) { [supervisor] in supervisor.drain() } }
        try await supervisor.stop(account)
        return .result(result)
    }

    private func names(_ account: String?) async -> [String] {
        if let account { return [account] }
        return await supervisor.status.map(\.name)
    }

    private func pass(
        _ command: String, _ request: ControlValue, _ account: String?
    ) async throws(SupervisorError) -> ControlReply {
        let parameters = (request.object ?? [:]).filter { $0.key != "command" && $0.key != "account" }
        if let account {
            let answer = try await supervisor.ask(account, command, parameters)
            return .result(ControlValue(json: answer) ?? .null)
        }
        let workers = await supervisor.status.filter { $0.pid != nil }.map(\.name)
        let answers = await ask(workers, command, parameters, within: .seconds(10))
        return .result(
            .object(
                answers.mapValues { answer in
                    switch answer {
                    case .success(let value): ["result": value]
                    case .failure(let error): ["error": .string(error.message)]
                    }
                }))
    }

    private func ask(
        _ workers: [String], _ ask: String, _ parameters: [String: ControlValue], within limit: Duration
    ) async -> [String: Result<ControlValue, SupervisorError>] {
        await withTaskGroup(of: (String, Result<ControlValue, SupervisorError>).self) { group in
            for worker in workers {
                group.addTask {
                    do throws(SupervisorError) {
                        let answer = try await supervisor.ask(worker, ask, parameters, within: limit)
                        return (worker, .success(ControlValue(json: answer) ?? .null))
                    } catch { return (worker, .failure(error)) }
                }
            }
            var answers: [String: Result<ControlValue, SupervisorError>] = [:]
            for await (worker, answer) in group { answers[worker] = answer }
            return answers
        }
    }
}

extension WorkerLog.Line {
    var json: ControlValue {
        ["time": .integer(time), "account": .string(worker), "text": .string(text)]
    }
}
