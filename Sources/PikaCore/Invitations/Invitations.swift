import MLS
import Marmot
import Nostr

/// Invitations to this account that are pending, with the limits on the work that inviters may cause, since anyone can
/// send them; and those of others, from the search for their key packages to the delivery of the Welcomes.
struct Invitations: Sendable {
    /// The one key shared by all unknown inviters.
    private enum Strangers: Sendable { case all }

    /// The pending invitations, by gift wrap.
    private var invites: [EventID: StoredInvite]
    private var inviters = RateLimiter<PublicKey>()
    private var strangers = RateLimiter<Strangers>(capacity: 1)
    private var searches = KeyPackageSearches()
    private var welcomes = WelcomeDeliveries()

    init(_ stored: [StoredInvite] = []) {
        self.invites = Dictionary(stored.map { ($0.wrapper, $0) }) { _, last in last }
    }

    subscript(wrapper: EventID) -> StoredInvite? { self.invites[wrapper] }

    /// Whether the same invitation is pending, in any wrapper.
    func contains(_ rumor: UnsignedEvent) -> Bool { self.invites.values.contains { $0.rumor == rumor } }

    /// The references of the key packages that the invitations use.
    var keyPackageReferences: Set<[UInt8]> {
        var references: Set<[UInt8]> = []
        for invite in self.invites.values {
            guard let welcome = ReceivedWelcome.welcome(in: invite.rumor) else { continue }
            references.formUnion(welcome.secrets.map(\.newMember))
        }
        return references
    }

    // MARK: Admission

    /// Consumes one invitation of an inviter's allowance; false if there were too many.
    mutating func admit(_ inviter: PublicKey, _ limit: RateLimit?, _ step: inout CoreStep) -> Bool {
        guard let limit, !self.inviters.consume(inviter, limit, nowMilliseconds: step.nowMilliseconds) else {
            return true
        }
        step.effects.append(.note(.limited(scope: "inviter")))
        return false
    }

    /// Consumes one invitation of the allowance shared by all unknown inviters; false if there were too many.
    mutating func admitStranger(_ limit: RateLimit, _ step: inout CoreStep) -> Bool {
        guard !self.strangers.consume(.all, limit, nowMilliseconds: step.nowMilliseconds) else { return true }
        step.effects.append(.note(.limited(scope: "strangers")))
        return false
    }

    // MARK: Changes

    mutating func add(_ invite: StoredInvite, _ preview: AppState.InvitedGroup, _ step: inout CoreStep) {
        self.invites[invite.wrapper] = invite
        step.changes.append(.putInvite(invite))
        step.changes.append(.putMemo(MemoName(.invitePreview, invite.wrapper.bytes), preview.memo))
    }

    /// Returns the invitation to drop; nil within the budget.
    ///
    /// - Parameter wrappers: the invitations in the order of arrival.
    func surplus(_ wrappers: [EventID]) -> StoredInvite? {
        InviteBudget.surplus(wrappers.compactMap { self.invites[$0] })
    }

    mutating func remove(_ wrapper: EventID, _ step: inout CoreStep) {
        self.invites[wrapper] = nil
        step.changes.append(.deleteInvite(wrapper: wrapper))
        step.changes.append(.putMemo(MemoName(.invitePreview, wrapper.bytes), nil))
    }

    // MARK: Key packages of others

    /// Whether a search for key packages is in progress.
    var isSearching: Bool { !self.searches.isEmpty }

    /// Begins a search; returns its number.
    mutating func beginSearch(
        for peers: [PublicKey], by owner: KeyPackageSearches.Owner, for purpose: KeyPackageSearch.Purpose,
        _ configuration: CoreConfiguration
    ) -> Int {
        self.searches.begin(peers, by: owner, for: purpose, configuration)
    }

    /// Returns the owner of a search; nil if it is over.
    func owner(ofSearch number: Int) -> KeyPackageSearches.Owner? { self.searches.owner(of: number) }

    mutating func receive(_ outcomes: [RelayURL: FetchOutcome], ofSearch number: Int) {
        self.searches.receive(outcomes, of: number)
    }

    /// Sends a search's next requests, and returns its findings once it is over.
    ///
    /// - Parameter group: the group that the peers are to join; nil if it does not exist yet.
    mutating func advanceSearch(
        _ number: Int, for group: AccountGroup?, _ step: inout CoreStep
    ) -> [PublicKey: KeyPackageFinding]? {
        self.searches.advance(number, for: group, &step)
    }

    // MARK: Welcomes to others

    /// Whether an action waits for the delivery of its Welcomes.
    var isDelivering: Bool { !self.welcomes.isEmpty }

    /// Remembers the relays on which invitees expect their Welcomes, until these are sealed.
    mutating func noteRelays(
        of invitees: ChosenInvitees, _ findings: [PublicKey: KeyPackageFinding], _ step: inout CoreStep
    ) {
        for peer in invitees.identities {
            self.welcomes.set(findings[peer]?.relays[invitees.generation], of: peer, &step)
        }
    }

    /// Returns the relays on which an invitee expects its Welcome.
    func relays(forWelcomeTo peer: PublicKey) -> [RelayURL] { self.welcomes.relays(of: peer) }

    /// Forgets an invitee's relays, since its Welcome has them.
    mutating func forgetRelays(of peer: PublicKey, _ step: inout CoreStep) { self.welcomes.set(nil, of: peer, &step) }

    /// Forgets the relays for Welcomes that were never made.
    mutating func expireRelays(_ step: inout CoreStep) { self.welcomes.expireRelays(&step) }

    /// Restores an invitee's relays; false if the memo is unreadable.
    mutating func restoreRelays(_ key: [UInt8], _ memo: Secret) -> Bool { self.welcomes.restore(key, memo) }

    mutating func beginDelivery(_ delivery: WelcomeDeliveries.Delivery, _ step: inout CoreStep) {
        self.welcomes.begin(delivery, &step)
    }

    /// Records that a relay has a Welcome, or that every relay refused it. Returns the deliveries that end with it.
    mutating func endDeliveries(row: String, refused reason: String?) -> [WelcomeDeliveries.Delivery] {
        self.welcomes.end(row: row, refused: reason)
    }

    /// Ends a delivery at its deadline.
    mutating func endDelivery(_ number: Int) -> WelcomeDeliveries.Delivery? { self.welcomes.end(number) }
}
