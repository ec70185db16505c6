package import BotKit
package import Nostr

/// The result of a key package probe: whether an account can be found and invited, by protocol generation and relay.
package struct KeyPackageReport: Sendable, Hashable {
    /// The account that was checked.
    package var account: PublicKey
    /// The generations in which the account must be invitable.
    package var expectation: ProtocolExpectation
    /// The account's relay lists: 10051, 10050 and 10002, in this order.
    package var lists: [PublishedRelayList]
    private var generations: [GroupGeneration: GenerationReport]

    /// Creates a report. Generations without an entry were not examined.
    package init(
        account: PublicKey, expectation: ProtocolExpectation = .any,
        generations: [GroupGeneration: GenerationReport] = [:], lists: [PublishedRelayList] = []
    ) {
        self.account = account
        self.expectation = expectation
        self.lists = lists
        self.generations = generations
    }

    /// The findings about the key packages of one generation.
    package subscript(generation: GroupGeneration) -> GenerationReport {
        self.generations[generation] ?? GenerationReport()
    }

    /// Whether any relay has answered; if none has, the report says nothing about the account.
    package var hasAnswers: Bool {
        self.generations.values.contains { $0.relays.contains { $0.state != .unknown } }
    }

    /// The generations that matter for the account: those expected, and those of which it has published key packages;
    /// all if there are none.
    package var relevantGenerations: [GroupGeneration] {
        let relevant = GroupGeneration.allCases.filter {
            self.expectation.requires($0) || self[$0].hasKeyPackages
        }
        return relevant.isEmpty ? GroupGeneration.allCases : relevant
    }
}

extension KeyPackageReport {
    /// Returns the list of a kind; nil if the report does not have it.
    package func list(_ kind: Kind) -> PublishedRelayList? { self.lists.first { $0.kind == kind } }

    /// Returns the findings on the relays that matter to inviters of a generation: all but those that have no key package
    /// and that the account's list does not name.
    package func relevantRelays(_ generation: GroupGeneration) -> [RelayKeyPackageResult] {
        guard let named = self.list(generation.keyPackageList)?.relays else { return self[generation].relays }
        return self[generation].relays.filter { $0.state != .missing || named.contains($0.relay) }
    }

    /// Whether a client of a generation that queries the relays named by the account finds a usable key package.
    ///
    /// Clients of v1 query the relays of list 10051 and, without such a list, any relay. Clients of v2 query only the
    /// write relays of list 10002.
    package func isFindable(in generation: GroupGeneration) -> Bool {
        let named = self.list(generation.keyPackageList)?.relays ?? []
        return self[generation].relays.contains { result in
            guard result.state.isUsable else { return false }
            return named.contains(result.relay) || generation == .v1 && named.isEmpty
        }
    }

    /// Whether clients of a generation know where to send an invitation. Clients of v2 send it to the relays of list
    /// 10050 only.
    package func isReachable(in generation: GroupGeneration) -> Bool {
        generation == .v1 || self.list(.inboxRelays)?.relays?.isEmpty == false
    }

    /// Whether clients of a generation can find and invite the account.
    package func isSuccess(in generation: GroupGeneration) -> Bool {
        self.isFindable(in: generation) && self.isReachable(in: generation) && self[generation].isInviteable
    }

    /// Whether the account can be found and invited as expected.
    package var isSuccess: Bool { self.expectation.isMet { self.isSuccess(in: $0) } }
}

/// The findings about the key packages of one generation.
package struct GenerationReport: Sendable, Hashable {
    /// All relays considered, those of the configuration first.
    package var relays: [RelayKeyPackageResult]
    /// The trial invitation; nil if there is no valid key package.
    package var invitation: TrialInvitation?

    /// Creates the findings.
    package init(relays: [RelayKeyPackageResult] = [], invitation: TrialInvitation? = nil) {
        self.relays = relays
        self.invitation = invitation
    }

    /// Whether any relay has a key package of the generation, valid or not.
    package var hasKeyPackages: Bool { self.relays.contains { $0.state != .missing && $0.state != .unknown } }

    /// Whether a trial invitation was built successfully.
    package var isInviteable: Bool { self.invitation != nil && self.invitation?.failure == nil }
}

/// The key packages of one generation that an account has on one relay.
package struct RelayKeyPackageResult: Sendable, Hashable {
    /// The state of an account's key packages on one relay.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// A valid key package, the newest known.
        case present
        /// The relay has answered that it has none.
        case missing
        /// A valid key package that was published too long ago, or expires soon.
        case stale
        /// A valid key package, but another relay has a newer one.
        case superseded
        /// A valid key package in the format of older clients: only kind 443, or a format older than MIP-00.
        case legacy
        /// A valid key package of v2, but a newer event with the same `d` tag, invalid or of v1, takes its place.
        case hidden
        /// None of the relay's key packages passes all checks.
        case invalid
        /// The relay has not answered, so its content is unknown. Always distinct from ``missing``.
        case unknown

        /// Whether a client that queries this relay can invite the account.
        package var isUsable: Bool {
            switch self {
            case .present, .stale, .superseded, .legacy: true
            case .missing, .hidden, .invalid, .unknown: false
            }
        }
    }

    /// The relay that was queried.
    package var relay: RelayURL
    /// Whether the settings name the relay; otherwise only a list of the account does.
    package var isConfigured: Bool
    /// The kinds of the account's lists that name the relay.
    package var lists: [Kind]
    /// The state of the account's key packages there.
    package var state: State
    /// The reason for the state, as one line of text.
    package var reason: String
    /// The key package that an inviter would use, or the newest of the invalid ones.
    package var package: ProbedKeyPackage?

    /// Creates the result for a relay.
    package init(
        relay: RelayURL, isConfigured: Bool, lists: [Kind], state: State, reason: String,
        package: ProbedKeyPackage? = nil
    ) {
        self.relay = relay
        self.isConfigured = isConfigured
        self.lists = lists
        self.state = state
        self.reason = reason
        self.package = package
    }
}

/// A key package event.
package struct ProbedKeyPackage: Sendable, Hashable {
    /// The id of the key package event.
    package var event: EventID
    /// The event's kind: 30443, or 443 of older clients.
    package var kind: Kind
    /// The time when the event was created, as claimed by its author.
    package var createdAt: UnixTime
    /// The start of the key package's lifetime (RFC 9420 §7.2); nil if it could not be parsed.
    package var notBefore: UnixTime?
    /// The end of the key package's lifetime, as ``notBefore``.
    package var notAfter: UnixTime?
    /// The name of the failed check; nil if the key package is valid.
    package var failedCheck: String?
    /// Peculiarities that other clients may fail on, as text.
    package var remarks: [String]

    /// Creates the summary of a key package event.
    package init(
        event: EventID, kind: Kind, createdAt: UnixTime, notBefore: UnixTime? = nil, notAfter: UnixTime? = nil,
        failedCheck: String? = nil, remarks: [String] = []
    ) {
        self.event = event
        self.kind = kind
        self.createdAt = createdAt
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.failedCheck = failedCheck
        self.remarks = remarks
    }
}

/// A list of relays that an account has published.
package struct PublishedRelayList: Sendable, Hashable {
    /// The list's kind: 10051 (key packages of v1), 10050 (invitations) or 10002 (write relays: key packages of v2).
    package var kind: Kind
    /// The relays in the list; nil if no relay has the list.
    package var relays: [RelayURL]?
    /// The fault of the list, as text; nil if absent.
    package var problem: String?

    /// Creates the summary of a list.
    package init(kind: Kind, relays: [RelayURL]?, problem: String? = nil) {
        self.kind = kind
        self.relays = relays
        self.problem = problem
    }
}

/// A trial invitation into a scratch group that was built and discarded.
package struct TrialInvitation: Sendable, Hashable {
    /// The id of the key package event.
    package var event: EventID
    /// The kind of that event: 30443, or 443 of older clients.
    package var kind: Kind
    /// The reason why the invitation failed; nil if it succeeded.
    package var failure: String?
    /// The size of the gift wrap's JSON in bytes; 0 if absent.
    package var wrapBytes: Int
    /// Whether the client supports the SelfRemove proposal, by which a member leaves a group.
    package var supportsSelfRemove: Bool

    /// Creates the result of a trial invitation.
    package init(event: EventID, kind: Kind, failure: String? = nil, wrapBytes: Int = 0, supportsSelfRemove: Bool) {
        self.event = event
        self.kind = kind
        self.failure = failure
        self.wrapBytes = wrapBytes
        self.supportsSelfRemove = supportsSelfRemove
    }
}
