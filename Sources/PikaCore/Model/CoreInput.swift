import MLS
import Nostr

/// Everything that can happen to the core, one after the other.
enum CoreInput: Sendable {
    case started
    case action(AppAction, RequestID?)
    case relay(RelayUpdate)
    /// One relay's answer to an event of the outbox.
    case published(row: String, PublishReport)
    /// No further answer of these relays will come in this attempt.
    case publishEnded(row: String, relays: [RelayURL])
    case fetched(FetchPurpose, [RelayURL: FetchOutcome])
    /// Messages for the chat that is open, or was: the number of its opening, and whether nothing is before them.
    case messagesLoaded([StoredMessage], opening: Int, reachedStart: Bool, RequestID?)
    /// A message that failed and is to be sent again; nil if it is not stored.
    case messageLoaded(groupID: GroupID, EventID, StoredMessage?, RequestID?)
    /// Where the host keeps a file, or why it does not.
    case downloaded(MediaFile, groupID: GroupID, Result<String, AppCoreError>, RequestID?)
    /// Own messages of a group that have to be sealed again.
    case sentLoaded(groupID: GroupID, [StoredMessage])
    /// Own messages of an epoch and the few before it.
    case unsentLoaded(groupID: GroupID, upToEpoch: Epoch, [StoredMessage])
    /// When the next stored message ends, in Unix seconds; nil if none does.
    case nextExpiry(Int64?)
    /// How many messages a rule is about, counted up to the limit asked for.
    case surplus(MessageSurplus, Int)
    /// The handlers are done with an inbox row.
    case handled(inboxID: Int64, [HandlerEffect])
    /// What somebody wants done in one transaction, without an event that it belongs to.
    case effects([HandlerEffect], RequestID)
    case timer(CoreTimer)
    /// The account's remote signer has answered.
    case keyUsed(job: Int, Result<KeyAnswer, SignerError>)
    /// It wants somebody to approve something at this address.
    case signerChallenge(String)
    /// The addresses of an operation's files in their order, or why there are none.
    case uploaded(operation: Int, Result<[String], AppCoreError>)
    case callMedia(CallMediaReport)
    /// Somebody asks how it stands; the question's number.
    case examine(Int)
    /// An operator releases or drops something that is set aside.
    case quarantine(QuarantineOrder, CrashSubject, RequestID)

    /// The subject to quarantine if the input crashes the process; nil if there is none.
    var crashSubject: CrashSubject? {
        switch self {
        case .handled(let inboxID, _): .row(table: "inbox", key: "\(inboxID)")
        case .sentLoaded(let groupID, _), .unsentLoaded(let groupID, _, _), .timer(.leave(let groupID)),
            .timer(.rejoin(let groupID)), .timer(.backlog(let groupID)), .timer(.departures(let groupID)),
            .timer(.backOff(let groupID)):
            .group(groupID)
        default: nil
        }
    }
}

/// Why stored events were asked for.
enum FetchPurpose: Sendable, Hashable {
    /// What one relay holds since it was last read.
    case catchUp(RelayURL)
    /// One group from its beginning.
    case backlog(groupID: GroupID)
    /// The key packages of peers; the search's number.
    case keyPackages(search: Int)
    /// The profiles of some people.
    case profiles(search: Int)
    /// What this account has published of itself.
    case own(reading: Int)
}

enum CoreTimer: Sendable, Hashable {
    /// Outbox rows may be due for another attempt.
    case outbox
    /// A relay's backlog could not be read.
    case catchUp(RelayURL)
    /// A group that this account was removed from need not be listened to any longer.
    case leave(groupID: GroupID)
    /// An invitation leads elsewhere than to where its group is.
    case rejoin(groupID: GroupID)
    /// Nor could a group's.
    case backlog(groupID: GroupID)
    /// Stored messages may have ended.
    case expiry
    /// Nobody may have executed the departures that were due in a group.
    case departures(groupID: GroupID)
    /// Events that are ahead of the clock may be due.
    case clock
    /// Keys may be due for renewal.
    case keyUpdates
    /// Key packages may near their end, and things that are kept for a while theirs.
    case maintenance
    /// Whoever waits for invitations to be delivered has waited long enough.
    case welcomes(delivery: Int)
    /// The remote signer may be asked again.
    case signer
    /// There is more that was kept for long enough.
    case retention
    /// Own commits in a group may go on after rollbacks.
    case backOff(groupID: GroupID)
    /// Somebody may have stopped typing.
    case typing
    /// An invitation to a call has waited long enough.
    case call(id: String)
}
