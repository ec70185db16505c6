import BotKit
import ProbeReports

extension KeyPackageReport {
    /// The report in the format of `docs/keypackage-probe.md`.
    var json: JSONValue {
        [
            "account": .string(account.npub), "success": .bool(isSuccess), "known": .bool(hasAnswers),
            "expected": .string(expectation.rawValue), "verdict": .string(verdict),
            "protocols": ["v1": json(of: .v1), "v2": json(of: .v2)], "lists": .array(lists.map(\.json)),
        ]
    }

    private func json(of generation: GroupGeneration) -> JSONValue {
        let found = self[generation]
        return [
            "success": .bool(isSuccess(in: generation)), "findable": .bool(isFindable(in: generation)),
            "inviteable": .bool(found.isInviteable), "reachable": .bool(isReachable(in: generation)),
            "relays": .array(found.relays.map(\.json)), "invitation": found.invitation?.json ?? .null,
        ]
    }
}

extension RelayKeyPackageResult {
    fileprivate var json: JSONValue {
        [
            "relay": .string(relay.string), "configured": .bool(isConfigured),
            "lists": .array(lists.map { .integer(Int64($0.rawValue)) }), "state": .string(state.rawValue),
            "reason": .string(reason), "package": package?.json ?? .null,
        ]
    }
}

extension ProbedKeyPackage {
    fileprivate var json: JSONValue {
        [
            "event": .string(event.hex), "kind": .integer(Int64(kind.rawValue)),
            "createdAt": .integer(createdAt.seconds), "notBefore": notBefore.map { .integer($0.seconds) } ?? .null,
            "notAfter": notAfter.map { .integer($0.seconds) } ?? .null,
            "failedCheck": failedCheck.map { .string($0) } ?? .null,
            "remarks": .array(remarks.map { .string($0) }),
        ]
    }
}

extension PublishedRelayList {
    fileprivate var json: JSONValue {
        [
            "kind": .integer(Int64(kind.rawValue)),
            "relays": relays.map { .array($0.map { .string($0.string) }) } ?? .null,
            "problem": problem.map { .string($0) } ?? .null,
        ]
    }
}

extension TrialInvitation {
    fileprivate var json: JSONValue {
        [
            "event": .string(event.hex), "kind": .integer(Int64(kind.rawValue)),
            "failure": failure.map { .string($0) } ?? .null, "wrapBytes": .integer(Int64(wrapBytes)),
            "selfRemove": .bool(supportsSelfRemove),
        ]
    }
}
