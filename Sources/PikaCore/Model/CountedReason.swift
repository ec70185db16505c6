/// The reason of a refusal or loss that concerns no event of the journal: it is only counted and logged. The raw values
/// are labels of metrics.
enum CountedReason: String {
    /// An invalid notice of a copy of the account.
    case badNotice = "bad_notice"
    /// A profile for a group that is invalid, or not the author's.
    case badGroupProfile = "bad_group_profile"
    /// A relay ended a subscription.
    case subscriptionClosed = "subscription_closed"
    /// The media of a call failed.
    case callMedia = "call_media"
    /// Groups name more relays than are used.
    case tooManyGroupRelays = "too_many_group_relays"
    /// A stored event of an earlier version that several chats may own.
    case ambiguousChat = "ambiguous_chat"
}
