import BotKit
import ProbeReports
import Telemetry

extension RelayProbeReport {
    /// The verdict, and a table of the phases, as text.
    var text: String {
        let width = phases.map(\.name.rawValue.count).max() ?? 0
        let lines = phases.map { phase in
            let name = phase.name.rawValue.padded(to: width)
            let wasTried = phase.outcome == .passed || phase.outcome == .failed
            let time = wasTried ? "\(phase.duration.wholeMilliseconds) ms" : ""
            return "  \(name)  \(Self.word(phase.outcome))  \(time.padded(to: 8))  \(phase.text)"
        }
        return (["\(relay)", ""] + lines + ["", verdict]).map(\.terminalLine).joined(separator: "\n")
    }

    private static func word(_ outcome: Outcome) -> String {
        switch outcome {
        case .passed: "ok     "
        case .failed: "FAILED "
        case .skipped: "skipped"
        case .unreached: "-      "
        }
    }

    var json: JSONValue {
        var object: JSONObject = [
            "relay": .string(relay.string), "good": .bool(isGood), "reachable": .bool(isReachable),
            "verdict": .string(verdict), "milliseconds": .integer(duration.wholeMilliseconds),
            "phases": .array(phases.map(Self.json)), "faults": .array(faults.map(Self.json)),
            "loginAsked": .bool(wantsLogin),
        ]
        object["certificateEnd"] = certificateEnd.map { .integer($0.seconds) }
        object["clockOffset"] = clockOffset.map(JSONValue.number)
        object["readBack"] = isReadBack.map(JSONValue.bool)
        return .object(object)
    }

    private static func json(_ phase: Phase) -> JSONValue {
        [
            "phase": .string(phase.name.rawValue), "outcome": .string(phase.outcome.rawValue),
            "milliseconds": .integer(phase.duration.wholeMilliseconds), "text": .string(phase.text),
        ]
    }

    private static func json(_ fault: Fault) -> JSONValue {
        [
            "fault": .string(fault.code.rawValue), "phase": .string(fault.phase.rawValue),
            "weight": .string(fault.weight.rawValue), "text": .string(fault.text), "advice": .string(fault.advice),
        ]
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
