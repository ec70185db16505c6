import MLS
import Nostr

/// Every input of the core; they are processed one at a time.
enum CoreInput: Sendable {
    case started
    case action(AppAction, RequestID?)
    /// A client's action, whose outcome is reported as an event too.
    case command(AppAction, RequestID, ActionID)
    case relay(RelayUpdate)
    /// One relay's answer to an event of the outbox.
    case published(row: String, PublishReport)
    /// These relays send no further answer in this attempt.
    case publishEnded(row: String, relays: [RelayURL])
    case fetched(FetchPurpose, [RelayURL: FetchOutcome])
    /// Messages for the open chat, or one that was open: with the number of its opening, and whether the start of
    /// its history was reached.
    case messagesLoaded([StoredMessage], opening: Int, reachedStart: Bool, RequestID?)
    /// A failed message that is to be sent again; nil if it is not stored.
    case messageLoaded(groupID: GroupID, EventID, StoredMessage?, RequestID?)
    /// The address under which the host keeps a file, or the reason why it does not.
    case downloaded(MediaFile, groupID: GroupID, Result<String, AppCoreError>, RequestID?)
    /// This account's messages of a group that have to be sealed again.
    case sentLoaded(groupID: GroupID, [StoredMessage])
    /// This account's messages of an epoch and the few before it.
    case unsentLoaded(groupID: GroupID, upToEpoch: Epoch, [StoredMessage])
    /// The messages that were withdrawn or restored with these points.
    case withdrawnLoaded(groupID: GroupID, points: [Bytes32], [StoredMessage])
    /// The expiry of the next stored message; nil if none expires.
    case nextExpiry(UnixTime?)
    /// The number of messages that a rule covers, counted up to the limit asked for.
    case surplus(MessageSurplus, Int)
    /// A handler finished an inbox row.
    case handled(inboxID: Int64, [HandlerEffect])
    /// Effects to apply in one transaction, without an event that they belong to.
    case effects([HandlerEffect], RequestID)
    case timer(CoreTimer)
    /// The account's remote signer has answered.
    case keyUsed(job: Int, Result<KeyAnswer, SignerError>)
    /// The remote signer asks for an approval at this address.
    case signerChallenge(String)
    /// The addresses of an operation's files in order, or the reason for the failure.
    case uploaded(operation: Int, Result<[String], AppCoreError>)
    case callMedia(CallMediaReport)
    /// A request for the core's vitals, with its number.
    case queryVitals(Int)
    /// An item of a feed, and the number under which its source waits for the answer.
    case feed(FeedDelivery, answer: Int)
    /// A request for the delivery states of stored messages, with its number.
    case queryDeliveries(Int, [StoredMessage])
    /// An operator releases or drops a quarantined subject.
    case quarantine(QuarantineOrder, CrashSubject, RequestID)

    /// The subject to quarantine if the input crashes the process; nil if absent.
    var crashSubject: CrashSubject? {
        switch self {
        case .handled(let inboxID, _): .row(table: "inbox", key: "\(inboxID)")
        case .sentLoaded(let groupID, _), .unsentLoaded(let groupID, _, _), .timer(.leave(let groupID)),
            .timer(.rejoin(let groupID)), .timer(.backlog(let groupID)), .timer(.departures(let groupID)),
            .timer(.backOff(let groupID)), .timer(.settlement(let groupID)),
            .timer(.departureCommit(let groupID, _)), .withdrawnLoaded(let groupID, _, _):
            .group(groupID)
        default: nil
        }
    }
}

/// The reason for fetching stored events.
enum FetchPurpose: Sendable, Hashable {
    /// Events of one relay since it was last read.
    case catchUp(RelayURL)
    /// All events of one group.
    case backlog(groupID: GroupID)
    /// The key packages of peers; the search's number.
    case keyPackages(search: Int)
    /// The profiles of some people.
    case profiles(search: Int)
    /// This account's own profile and follow list.
    case own(reading: Int)
    /// The inbox relays of a push server.
    case pushServer(PublicKey)
}

enum CoreTimer: Sendable, Hashable {
    /// Outbox rows may be due for another attempt.
    case outbox
    /// Retry reading a relay's stored events.
    case catchUp(RelayURL)
    /// Stop listening to a group that this account was removed from.
    case leave(groupID: GroupID)
    /// An invitation leads to another state of the group than this account is in.
    case rejoin(groupID: GroupID)
    /// Retry reading a group's stored events.
    case backlog(groupID: GroupID)
    /// Stored messages may have expired.
    case expiry
    /// Departures due in a group may still not be executed.
    case departures(groupID: GroupID)
    /// Events that are ahead of the clock may be due.
    case clock
    /// Keys may be due for renewal.
    case keyUpdates
    /// Periodic maintenance is due, such as replacing key packages near their expiry.
    case maintenance
    /// The deadline for delivering invitations has passed.
    case welcomes(delivery: Int)
    /// The remote signer may be asked again.
    case signer
    /// More rows are past their retention.
    case retention
    /// This account may commit in a group again after rollbacks.
    case backOff(groupID: GroupID)
    /// A typing notice may have expired.
    case typing
    /// An answer to a request for push tokens, a notification, or sharing this account's token in further groups may
    /// be due.
    case push
    /// Another request for profiles may be within the budget.
    case profiles
    /// An invitation to a call may have timed out.
    case call(id: String)
    /// A pass of a group of the second generation, or an admin's turn in it, may be over.
    case settlement(groupID: GroupID)
    /// This account may have to commit a proposed departure, named by SHA-256 of its message, that no other member
    /// committed.
    case departureCommit(groupID: GroupID, proposal: Bytes32)
}
