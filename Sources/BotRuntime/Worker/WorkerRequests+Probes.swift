import BotDispatch
import BotKit
import Nostr

extension WorkerRequests {
    /// Answers `probe` {module, target, milliseconds}: the result of probing a target by a bot.
    ///
    /// The result is `{"success":…,"samples":[{"name":…,"labels":{…},"value":…}]}`, `{"refused":TEXT}` for a target
    /// that the settings do not allow, or `{"modules":[…]}` with the available modules when no bot has the requested
    /// one.
    mutating func answerProbes(_ dispatcher: BotDispatcher) {
        on("probe") { question in
            guard let module = question["module"]?.string, let target = question["target"]?.string,
                let milliseconds = question["milliseconds"]?.integer, milliseconds > 0
            else { throw WorkerRefusal("a probe needs module, target and milliseconds") }
            let request = ProbeRequest(module: module, target: target, timeout: .milliseconds(milliseconds))
            return try await dispatcher.probe(request).json
        }
    }
}

extension ProbeOutcome {
    fileprivate var json: JSONValue {
        get throws {
            switch self {
            case .answered(let answer):
                ["success": .bool(answer.isSuccess), "samples": try JSONValue(encoding: answer.samples)]
            case .refused(let reason): ["refused": .string(reason)]
            case .unknownModule(let modules): ["modules": .array(modules.map { .string($0) })]
            }
        }
    }
}
