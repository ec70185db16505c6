/// Whether an account can be found and invited, relay by relay.
public struct KeyPackageReport: Sendable, Hashable {
    public var account: PublicKey
    /// Every relay that was considered, those of the configuration first.
    public var relays: [RelayHolding]
    /// The lists 10051, 10050 and 10002, in this order.
    public var lists: [PublishedRelayList]
    /// Nil if there is no key package to try.
    public var invitation: TriedInvitation?

    public init(
        account: PublicKey, relays: [RelayHolding], lists: [PublishedRelayList], invitation: TriedInvitation?
    ) {
        self.account = account
        self.relays = relays
        self.lists = lists
        self.invitation = invitation
    }

    /// Whether any relay has answered. If not, nothing is known of the account.
    public var isAnythingKnown: Bool { relays.contains { $0.state != .unknown } }

    /// Whether somebody who looks where the account says finds a key package that works: on a relay of its list 10051
    /// or, without such a list, on any that was asked.
    public var isFindable: Bool {
        let named = lists.first { $0.kind == .keyPackageRelays }?.relays ?? []
        return relays.contains { $0.state.isUsable && (named.isEmpty || named.contains($0.relay)) }
    }

    public var isInviteable: Bool { invitation?.failure == nil && invitation != nil }

    public var isSuccess: Bool { isFindable && isInviteable }
}

/// What one relay holds of an account's key packages.
public struct RelayHolding: Sendable, Hashable {
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// A valid one, the newest that is known.
        case present
        /// The relay has answered, and has none.
        case missing
        /// A valid one that was published too long ago, or ends soon.
        case stale
        /// A valid one that another relay has a newer one for.
        case superseded
        /// A valid one in a form of older clients: kind 443 alone, or written as before MIP-00.
        case legacy
        /// None of those that it has passes all checks.
        case invalid
        /// The relay has not answered, so nobody knows. Never the same as ``missing``.
        case unknown

        /// Whether somebody who asks only this relay can invite the account.
        public var isUsable: Bool {
            switch self {
            case .present, .stale, .superseded, .legacy: true
            case .missing, .invalid, .unknown: false
            }
        }
    }

    public var relay: RelayURL
    /// Whether the settings name it; otherwise only a list of the account does.
    public var isConfigured: Bool
    /// The kinds of the account's lists that name it.
    public var lists: [Kind]
    public var state: State
    /// Why it is in this state, in words; on one line.
    public var reason: String
    /// The one that an inviter would take, or the newest of those that are not valid.
    public var package: HeldKeyPackage?

    public init(
        relay: RelayURL, isConfigured: Bool, lists: [Kind], state: State, reason: String, package: HeldKeyPackage? = nil
    ) {
        self.relay = relay
        self.isConfigured = isConfigured
        self.lists = lists
        self.state = state
        self.reason = reason
        self.package = package
    }
}

/// One key package event.
public struct HeldKeyPackage: Sendable, Hashable {
    public var event: EventID
    /// 30443, or 443 of older clients.
    public var kind: Kind
    /// Unix seconds.
    public var createdAt: Int64
    /// Unix seconds; nil if it could not be read that far.
    public var notBefore: Int64?
    public var notAfter: Int64?
    /// The name of the check that it does not pass; nil if it is valid.
    public var failedCheck: String?
    /// What other clients may stumble over, in words.
    public var remarks: [String]

    public init(
        event: EventID, kind: Kind, createdAt: Int64, notBefore: Int64? = nil, notAfter: Int64? = nil,
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
public struct PublishedRelayList: Sendable, Hashable {
    /// 10051 (key packages), 10050 (invitations), 10002 (everything else).
    public var kind: Kind
    /// Nil if no relay has one.
    public var relays: [RelayURL]?
    /// What is wrong with it, in words; nil if nothing is.
    public var problem: String?

    public init(kind: Kind, relays: [RelayURL]?, problem: String? = nil) {
        self.kind = kind
        self.relays = relays
        self.problem = problem
    }
}

/// An invitation into a scratch group that was built and thrown away.
public struct TriedInvitation: Sendable, Hashable {
    /// The event of the key package.
    public var event: EventID
    public var kind: Kind
    /// Why it failed; nil if it worked.
    public var failure: String?
    /// The bytes of the gift wrap's JSON; 0 if there is none.
    public var wrapBytes: Int
    /// Whether the client supports the newer form of leaving a group.
    public var supportsSelfRemove: Bool

    public init(event: EventID, kind: Kind, failure: String? = nil, wrapBytes: Int = 0, supportsSelfRemove: Bool) {
        self.event = event
        self.kind = kind
        self.failure = failure
        self.wrapBytes = wrapBytes
        self.supportsSelfRemove = supportsSelfRemove
    }
}
