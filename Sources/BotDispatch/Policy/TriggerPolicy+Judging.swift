import Nostr
import PikaCore

extension TriggerPolicy {
    /// Why a member may not trigger a bot; nil if it may.
    ///
    /// - Parameter role: in the event's own epoch, of which MLS has proven it a member; nil if that is not known any
    ///   more: then whoever has to be an admin is not.
    func objection(to member: PublicKey, role: MemberRole?) -> IgnoreReason? {
        switch (self, role) {
        case (.members, _), (.admins, .admin): nil
        case (.admins, nil): .unknownRole
        case (.allowlist(let keys), _) where keys.contains(member): nil
        case (.admins, .member), (.allowlist, _), (.nobody, _): .notAllowed
        }
    }
}
