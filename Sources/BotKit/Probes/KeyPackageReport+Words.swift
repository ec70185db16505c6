/// The report as text. No line names the account.
extension KeyPackageReport {
    /// The verdict, then one line for each relay, list and remark.
    public var lines: [String] { [verdict] + relays.map(\.line) + lists.compactMap(\.line) + invitationLines }

    /// The overall result in one sentence.
    public var verdict: String {
        guard isAnythingKnown else { return "UNKNOWN: no relay answered, so nothing is known" }
        guard isSuccess else { return "BAD: \(faults.joined(separator: "; "))" }
        let weak = relays.filter { $0.state != .present }.map { "\($0.relay) is \($0.state.rawValue)" }
        let lacking = lists.filter { $0.problem != nil }.map { "list \($0.kind) is not as it should be" }
        let doubts = weak + lacking
        return doubts.isEmpty
            ? "GOOD: it can be found and invited"
            : "GOOD: it can be found and invited; \(doubts.joined(separator: "; "))"
    }

    /// The reasons why the account cannot be found or invited.
    private var faults: [String] {
        var faults: [String] = []
        if let failure = invitation?.failure { faults.append("an invitation fails: \(failure)") }
        guard !isFindable else { return faults }
        let problem = lists.first { $0.kind == .keyPackageRelays && $0.relays?.isEmpty == false }?.problem
        return faults + [problem.map { "list 10051: \($0)" } ?? "no relay has a key package that works"]
    }

    private var invitationLines: [String] {
        guard let invitation else { return ["invitation: not tried, there is no valid key package"] }
        let how = invitation.supportsSelfRemove ? "" : "; its client is of the older generation (MDK 0.7)"
        return [
            invitation.failure.map { "invitation: fails: \($0)" }
                ?? "invitation: works, with a gift wrap of \(invitation.wrapBytes) bytes\(how)"
        ]
    }
}

extension RelayHolding {
    fileprivate var line: String {
        let named = lists.isEmpty ? "" : " (on \(lists.map(\.description).joined(separator: ", ")))"
        let remarks = package?.remarks.filter { $0 != reason }.map { "; \($0)" }.joined() ?? ""
        return "\(relay)\(named): \(state.rawValue): \(reason)\(remarks)"
    }
}

extension PublishedRelayList {
    fileprivate var line: String? {
        let what =
            switch kind {
            case .keyPackageRelays: "where its key packages are"
            case .inboxRelays: "where invitations go"
            default: "where else it writes"
            }
        let names = relays.map { $0.isEmpty ? "none" : $0.prefix(20).map(\.string).joined(separator: ", ") }
        guard let problem else { return names.map { "list \(kind) (\(what)): \($0)" } }
        return "list \(kind) (\(what)): \(names.map { "\($0); " } ?? "")\(problem)"
    }
}
