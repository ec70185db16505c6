package import Nostr

/// The result of a key package probe: whether an account can be found and invited, relay by relay.
package struct KeyPackageReport: Sendable, Hashable {
    /// The account that was checked.
    package var account: PublicKey
    /// All relays considered, those of the configuration first.
    package var relays: [RelayKeyPackageResult]
    /// The account's relay lists: 10051, 10050 and 10002, in this order.
    package var lists: [PublishedRelayList]
    /// The trial invitation; nil if there is no valid key package.
    package var invitation: TrialInvitation?

    /// Creates a report.
    package init(
        account: PublicKey, relays: [RelayKeyPackageResult], lists: [PublishedRelayList], invitation: TrialInvitation?
    ) {
        self.account = account
        self.relays = relays
        self.lists = lists
        self.invitation = invitation
    }

    /// Whether any relay has answered; if none has, the report says nothing about the account.
    package var hasAnswers: Bool { relays.contains { $0.state != .unknown } }

    /// Whether a client that queries the relays named by the account finds a usable key package: on a relay of its list
    /// 10051 or, without such a list, on any relay queried.
    package var isFindable: Bool {
        let named = lists.first { $0.kind == .keyPackageRelays }?.relays ?? []
        return relays.contains { $0.state.isUsable && (named.isEmpty || named.contains($0.relay)) }
    }

    /// Whether a trial invitation was built successfully.
    package var isInviteable: Bool { invitation?.failure == nil && invitation != nil }

    /// Whether the account can be found and invited.
    package var isSuccess: Bool { isFindable && isInviteable }
}

/// The key packages of an account on one relay.
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
        /// None of the relay's key packages passes all checks.
        case invalid
        /// The relay has not answered, so its content is unknown. Always distinct from ``missing``.
        case unknown

        /// Whether a client that queries only this relay can invite the account.
        package var isUsable: Bool {
            switch self {
            case .present, .stale, .superseded, .legacy: true
            case .missing, .invalid, .unknown: false
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
    /// The list's kind: 10051 (key packages), 10050 (invitations) or 10002 (everything else).
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
