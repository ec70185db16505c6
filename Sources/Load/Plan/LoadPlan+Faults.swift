import BotKit
import Nostr

extension LoadPlan {
    /// Planned duration of all stages.
    var loaded: Duration { stages.reduce(.zero) { $0 + $1.length } }

    /// Checks the faults of a parsed plan again, because its relays may have been replaced since.
    func checkFaults() throws(LoadError) {
        for (number, fault) in faults.enumerated() {
            guard let index = fault.relay else { continue }
            guard relays.indices.contains(index) else {
                throw LoadError(
                    .badPlan,
                    "load.faults[\(number)].relay: expected a whole number from 0 to \(relays.count - 1), the last of the "
                        + "relays, found \"\(index)\"; name as many relays as the faults need")
            }
            guard !relays[index].isSecure else {
                throw LoadError(
                    .badPlan,
                    "load.faults[\(number)].relay: expected a ws:// relay, as only these can be cut off, found "
                        + "\(relays[index]); leave the fault out, or name another relay")
            }
        }
    }
}

extension LoadPlan.Fault {
    /// Index of the affected relay; nil if the fault affects none.
    var relay: Int? {
        switch action {
        case .down(let relay, _), .stall(let relay, _): relay
        case .restartAgents: nil
        }
    }

    /// Duration of the fault.
    var length: Duration {
        switch action {
        case .down(_, let length), .stall(_, let length): length
        case .restartAgents: .zero
        }
    }
}

/// Checks fault times: within the stages, and without overlap on each relay.
struct FaultTimes {
    /// End of the stages; nil if it is unknown because they are invalid.
    let end: Duration?
    private var taken: [Int: [Range<Duration>]] = [:]

    init(end: Duration?) { self.end = end }

    mutating func take(_ fault: LoadPlan.Fault, _ reader: SettingsReader) {
        let over = fault.at + fault.length
        if let end, over > end || fault.at == end {
            reader.fail(
                "at", expected: "a fault that is over when the stages are, at \(end.configurationText)",
                fix: "begin it earlier, make it shorter, or make a stage longer")
        }
        guard let relay = fault.relay else { return }
        let time = fault.at..<over
        if taken[relay, default: []].contains(where: { $0.overlaps(time) }) {
            reader.fail(
                "at", expected: "a time at which no other fault of relay \(relay) lasts",
                fix: "begin it when the other is over")
        }
        taken[relay, default: []].append(time)
    }
}
