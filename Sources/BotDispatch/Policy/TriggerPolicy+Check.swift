import Nostr
import PikaCore

extension TriggerPolicy {
    /// Returns the reason why a member may not trigger a bot; nil if it may.
    ///
    /// - Parameter role: the member's role in the event's own epoch, in which MLS has authenticated it as a member; nil
    ///   if unknown, which does not count as admin.
    func objection(to member: PublicKey, role: MemberRole?) -> IgnoreReason? {
        switch (self, role) {
        case (.members, _), (.admins, .admin): nil
        case (.admins, nil): .unknownRole
        case (.allowlist(let keys), _) where keys.contains(member): nil
        case (.admins, .member), (.allowlist, _), (.nobody, _): .notAllowed
        }
    }
}
