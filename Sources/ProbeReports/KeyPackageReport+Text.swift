import BotKit
import Nostr

/// The report as text. No line names the account.
extension KeyPackageReport {
    /// The verdict, then the relays and the trial invitation of each generation, and the lists.
    package var lines: [String] {
        [self.verdict] + GroupGeneration.allCases.flatMap { self.lines(of: $0) } + self.lists.compactMap(\.line)
    }

    /// The overall result in one sentence.
    package var verdict: String {
        guard self.hasAnswers else { return "UNKNOWN: no relay answered" }
        guard self.isSuccess else { return "BAD: \(self.faults.joined(separator: "; "))" }
        let clients = GroupGeneration.allCases.filter { self.isSuccess(in: $0) }.map(\.rawValue)
        let good = "GOOD: clients of \(clients.joined(separator: " and ")) can find and invite the account"
        return ([good] + self.doubts).joined(separator: "; ")
    }

    /// The reasons why the account cannot be found or invited as expected.
    private var faults: [String] {
        guard self.expectation != .any || GroupGeneration.allCases.contains(where: { self[$0].isUsable }) else {
            return ["no relay has a usable key package"]
        }
        return self.relevantGenerations.filter { self.expectation == .any || self.expectation.requires($0) }.flatMap {
            generation in self.faults(of: generation).map { "\(generation.rawValue): \($0)" }
        }
    }

    private func faults(of generation: GroupGeneration) -> [String] {
        let found = self[generation]
        guard found.isUsable else { return ["no relay has a usable key package"] }
        var faults: [String] = []
        if let failure = found.invitation?.failure { faults.append("the trial invitation failed: \(failure)") }
        if !self.isFindable(in: generation) { faults.append(self.fault(of: generation.keyPackageList)) }
        if !self.isReachable(in: generation) { faults.append(self.fault(of: .inboxRelays)) }
        return faults
    }

    private func fault(of kind: Kind) -> String {
        "list \(kind): \(self.list(kind)?.problem ?? "none of its relays has a valid key package")"
    }

    /// Weaknesses of an account that can be invited.
    private var doubts: [String] {
        let relevant = self.relevantGenerations
        let weak = relevant.flatMap { generation in
            self.relevantRelays(generation).filter { $0.state != .present }.map {
                "\(generation.rawValue) on \($0.relay) is \($0.state.rawValue)"
            }
        }
        let failing = relevant.filter { !self.isSuccess(in: $0) }.map {
            "\($0.rawValue): \(self.faults(of: $0).first ?? "the account cannot be invited")"
        }
        return failing + weak + self.lists.filter { $0.problem != nil }.map { "list \($0.kind) has a problem" }
    }

    private func lines(of generation: GroupGeneration) -> [String] {
        let found = self[generation]
        guard self.relevantGenerations.contains(generation) else {
            return self.hasAnswers ? ["\(generation.rawValue): no key package"] : []
        }
        return (found.relays.map(\.line) + [found.invitationLine]).map { "\(generation.rawValue) \($0)" }
    }
}

extension GenerationReport {
    fileprivate var isUsable: Bool { self.relays.contains { $0.state.isUsable } }

    fileprivate var invitationLine: String {
        guard let invitation else { return "invitation: not tried, no valid key package" }
        if let failure = invitation.failure { return "invitation: failed: \(failure)" }
        let how = invitation.supportsSelfRemove ? "" : "; the client does not support leaving a group (SelfRemove)"
        return "invitation: succeeded, with a gift wrap of \(invitation.wrapBytes) bytes\(how)"
    }
}

extension RelayKeyPackageResult {
    fileprivate var line: String {
        let named = self.lists.isEmpty ? "" : " (on \(self.lists.map(\.description).joined(separator: ", ")))"
        let remarks = self.package?.remarks.filter { $0 != self.reason }.map { "; \($0)" }.joined() ?? ""
        return "\(self.relay)\(named): \(self.state.rawValue): \(self.reason)\(remarks)"
    }
}

extension PublishedRelayList {
    fileprivate var line: String? {
        let what =
            switch self.kind {
            case .keyPackageRelays: "key packages of v1"
            case .inboxRelays: "invitations"
            default: "key packages of v2"
            }
        let names = self.relays.map { $0.isEmpty ? "none" : $0.prefix(20).map(\.string).joined(separator: ", ") }
        guard let problem else { return names.map { "list \(self.kind) (\(what)): \($0)" } }
        return "list \(self.kind) (\(what)): \(names.map { "\($0); " } ?? "")\(problem)"
    }
}
