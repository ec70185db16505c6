import Marmot

/// The reason of a ``CoreNotice``. The raw values are stored in journals and are labels of metrics: they never change.
///
/// Refusals by Marmot and MLS have the code of their error; those listed here have an explanation of their own.
package enum CoreReason: String, Sendable, Hashable, CaseIterable {
    // MARK: Refused by the core

    /// No group of the account has the event's routing id.
    case unknownGroup = "unknown_group"
    /// It disappears at a time in the past, or a key package in it has expired.
    case expired
    /// It crashed the process, or its kind of event did.
    case quarantined
    /// A gift wrap that cannot be opened.
    case badGiftWrap = "bad_gift_wrap"
    /// A gift wrap that contains no Welcome.
    case noWelcome = "no_welcome"
    /// An event of a kind that was not subscribed to.
    case unexpectedKind = "unexpected_kind"
    /// An inner event of a kind that clients ignore in groups of the second generation.
    case ignoredKind = "ignored_kind"
    /// An invitation that was dropped because too many wait.
    case tooManyInvites = "too_many_invites"
    /// A call invitation that is too old.
    case staleCall = "stale_call"
    /// A call invitation for another member.
    case foreignCall = "foreign_call"
    /// A call invitation with the id of a past call.
    case repeatedCall = "repeated_call"
    /// A push token event that is invalid, or for which there is no room.
    case badPushToken = "bad_push_token"
    /// The same inner event or commit was processed before.
    case duplicate
    /// An invitation for another account or device, or for a deleted or lost key package.
    case notForUs = "not_for_us"

    // MARK: Refused by Marmot or MLS

    /// The author may not make this change.
    case notAdmin = "not_admin"
    /// The keys of its epoch have been deleted.
    case pastEpoch = "past_epoch"
    /// Another commit for the same epoch won.
    case lostRace = "lost_race"
    /// Its time is too far in the past.
    case badTime = "bad_time"
    /// An invitation into an epoch that no real group reaches.
    case epochTooHigh = "epoch_too_high"
    /// The account is no longer a member of the group.
    case inactive

    // MARK: Refused by the choice between branches

    /// No known state of the group accepts the commit or proposal.
    case invalidOnBranch = "invalid_against_candidate_state"
    /// A commit or proposal for an epoch too far back.
    case beyondAnchor = "beyond_anchor"
    /// A message for an epoch before this account joined.
    case beforeJoin = "before_join"
    /// A proposal whose epoch ended without it.
    case unreferencedProposal = "unreferenced_proposal"
    /// Evicted from a full table of undecided messages.
    case crowded
    /// The group has ended, or its history cannot be followed.
    case halted
    /// A message that no known state of its epoch decrypts.
    case undecryptable = "undecryptable_in_canonical_state"
    /// A message of an epoch whose keys are deleted.
    case beyondRetention = "beyond_app_retention"

    // MARK: Waiting

    /// It waits for the decision of its pass.
    case collected
    /// A commit on a branch that lost.
    case losingCommit = "non_selected_eligible_branch"
    /// A message on a branch that lost.
    case losingBranch = "losing_branch"
    /// The commit before it is unknown.
    case missingParent = "missing_candidate_parent"
    /// A proposal that no commit includes yet.
    case awaitingCommit = "awaiting_canonical_commit"
    /// Too many messages of its group are undecided.
    case noRoom = "resource_refused"
    /// No key of a known epoch opens it.
    case noKey = "no_key"
    case futureEpoch = "future_epoch"
    /// It refers to a proposal that has not arrived.
    case missingProposal = "missing_proposal"
    /// Its time is ahead of this machine's clock.
    case futureTime = "future_time"
    /// A commit of this account waits for a relay's answer.
    case ownCommitPending = "own_commit_pending"
    /// Another copy of this account created it.
    case otherCopy = "other_copy"

    // MARK: Abandoned

    /// No handler finished it within the retention time.
    case tooOld = "too_old"
    /// Too many events wait for handlers.
    case tooMany = "too_many"
    /// Too many events wait to be decrypted.
    case tooManyWaiting = "too_many_waiting"

    init(_ reason: WaitingReason) {
        self =
            switch reason {
            case .noKey: .noKey
            case .futureEpoch: .futureEpoch
            case .missingProposal: .missingProposal
            case .futureTime: .futureTime
            case .ownCommitPending: .ownCommitPending
            case .otherCopy: .otherCopy
            }
    }
}
