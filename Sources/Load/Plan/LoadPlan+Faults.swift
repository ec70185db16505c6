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
                    "load.faults[\(number)].relay: expected the index of a relay, 0 to \(relays.count - 1), found \"\(index)\"; "
                        + "name as many relays as the faults need")
            }
            guard !relays[index].isSecure else {
                throw LoadError(
                    .badPlan,
                    "load.faults[\(number)].relay: expected a ws:// relay, as only these can be interrupted, found "
                        + "\(relays[index]); remove the fault, or use another relay")
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
struct FaultSchedule {
    /// End of the stages; nil if it is unknown because they are invalid.
    let end: Duration?
    private var occupied: [Int: [Range<Duration>]] = [:]

    init(end: Duration?) { self.end = end }

    mutating func add(_ fault: LoadPlan.Fault, _ reader: SettingsReader) {
        let faultEnd = fault.at + fault.length
        if let end, faultEnd > end || fault.at == end {
            reader.fail(
                "at", expected: "a fault within the stages, which end at \(end.configurationText)",
                fix: "start it earlier, shorten it, or lengthen a stage")
        }
        guard let relay = fault.relay else { return }
        let time = fault.at..<faultEnd
        if occupied[relay, default: []].contains(where: { $0.overlaps(time) }) {
            reader.fail(
                "at", expected: "a time without another fault of relay \(relay)",
                fix: "start it when the other has ended")
        }
        occupied[relay, default: []].append(time)
    }
}
