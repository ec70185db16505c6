import MLS
import Marmot
import Nostr

/// Pending invitations to this account, and the limits on the work that inviters may cause: anyone can send them.
struct Invitations: Sendable {
    /// The one key shared by all unknown inviters.
    private enum Strangers: Sendable { case all }

    /// By gift wrap.
    private var invites: [EventID: StoredInvite]
    private var inviters = RateLimiter<PublicKey>()
    private var strangers = RateLimiter<Strangers>(capacity: 1)

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
            guard let invitation = try? WelcomeEvents.read(invite.rumor) else { continue }
            references.formUnion(invitation.welcome.secrets.map(\.newMember))
        }
        return references
    }

    // MARK: Admission

    /// Consumes one invitation of an inviter; false if there were too many.
    mutating func admit(_ inviter: PublicKey, _ limit: RateLimit?, _ step: inout CoreStep) -> Bool {
        guard let limit, !self.inviters.take(inviter, limit, nowMilliseconds: step.nowMilliseconds) else { return true }
        step.effects.append(.note(.limited(scope: "inviter")))
        return false
    }

    /// Consumes one invitation of the allowance shared by all unknown inviters; false if there were too many.
    mutating func admitStranger(_ limit: RateLimit, _ step: inout CoreStep) -> Bool {
        guard !self.strangers.take(.all, limit, nowMilliseconds: step.nowMilliseconds) else { return true }
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
}
