import Nostr

/// The report as text. No line names the account.
extension KeyPackageReport {
    /// The verdict, then one line for each relay, list and remark.
    package var lines: [String] { [verdict] + relays.map(\.line) + lists.compactMap(\.line) + invitationLines }

    /// The overall result in one sentence.
    package var verdict: String {
        guard hasAnswers else { return "UNKNOWN: no relay answered" }
        guard isSuccess else { return "BAD: \(faults.joined(separator: "; "))" }
        let weak = relays.filter { $0.state != .present }.map { "\($0.relay) is \($0.state.rawValue)" }
        let lacking = lists.filter { $0.problem != nil }.map { "list \($0.kind) has a problem" }
        let doubts = weak + lacking
        return doubts.isEmpty
            ? "GOOD: the account can be found and invited"
            : "GOOD: the account can be found and invited; \(doubts.joined(separator: "; "))"
    }

    /// The reasons why the account cannot be found or invited.
    private var faults: [String] {
        var faults: [String] = []
        if let failure = invitation?.failure { faults.append("the trial invitation failed: \(failure)") }
        guard !isFindable else { return faults }
        let problem = lists.first { $0.kind == .keyPackageRelays && $0.relays?.isEmpty == false }?.problem
        return faults + [problem.map { "list 10051: \($0)" } ?? "no relay has a usable key package"]
    }

    private var invitationLines: [String] {
        guard let invitation else { return ["invitation: not tried, no valid key package"] }
        let how = invitation.supportsSelfRemove ? "" : "; the client is an older generation (MDK 0.7)"
        return [
            invitation.failure.map { "invitation: failed: \($0)" }
                ?? "invitation: succeeded, with a gift wrap of \(invitation.wrapBytes) bytes\(how)"
        ]
    }
}

extension RelayKeyPackageResult {
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
            case .keyPackageRelays: "key packages"
            case .inboxRelays: "invitations"
            default: "everything else"
            }
        let names = relays.map { $0.isEmpty ? "none" : $0.prefix(20).map(\.string).joined(separator: ", ") }
        guard let problem else { return names.map { "list \(kind) (\(what)): \($0)" } }
        return "list \(kind) (\(what)): \(names.map { "\($0); " } ?? "")\(problem)"
    }
}
