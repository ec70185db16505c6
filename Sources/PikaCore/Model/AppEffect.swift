import MLS
import Nostr

/// Everything that a reducer requests from the outside world; performed in order after its changes are durable.
enum AppEffect: Sendable, Hashable {
    /// Passes the configured endpoints to the transport and the media store.
    case setEndpoints(relays: [RelayURL], servers: [MediaURL])
    case setRelays([RelayURL])
    /// Retries disconnected relays at once.
    case reconnect
    case subscribe(RelaySubscription)
    case unsubscribe(String)
    case publish(row: String, Event, [RelayURL])
    case fetch(FetchPurpose, [Filter], from: [RelayURL])
    /// Reads messages for the open chat until this many can be shown.
    case loadMessages(
        groupID: GroupID, before: StoredMessage.Position?, limit: Int, opening: Int, RequestID?)
    /// Reads a message that is to be sent again.
    case loadMessage(groupID: GroupID, EventID, RequestID?)
    /// Downloads a file of a message into the host's cache.
    case download(MediaFile, groupID: GroupID, RequestID?)
    /// Reads this account's messages that were sent in this epoch or later.
    case loadSent(groupID: GroupID, fromEpoch: Epoch)
    /// Reads this account's messages of this epoch and the few before it, which may be waiting for a relay.
    case loadUnsent(groupID: GroupID, upToEpoch: Epoch)
    /// Reads the messages that were withdrawn or restored with these points of a group's history.
    case loadWithdrawn(groupID: GroupID, points: [Bytes32])
    /// Reads the expiry of the next stored message.
    case loadNextExpiry
    /// Counts the messages that a rule covers.
    case countSurplus(MessageSurplus, limit: Int)
    case deliver(CoreEvent)
    /// Stores the content of a quarantined event, so that it can be released.
    case storeQuarantined(CrashSubject, Event)
    case changeQuarantine(QuarantineChange, CrashSubject)
    /// Answers a request for the core's vitals, by its number.
    case answerVitals(Int, CoreVitals)
    /// Answers the source of a feed's item, by the number of the request.
    case answerFeed(Int, FeedReceipt)
    /// Answers a request for the delivery states of messages, by its number and in the order of its messages.
    case answerDeliveries(Int, [AppState.Delivery])
    /// Uploads files; each blob goes to the first server that accepts it.
    case upload(operation: Int, [MediaUpload], to: [MediaURL])
    /// Has the account's remote signer perform an operation.
    case useKey(job: Int, KeyOperation)
    case wake(CoreTimer, atMilliseconds: Int64)
    /// As ``wake(_:atMilliseconds:)``, by the monotonic clock (``CoreStep/monotonicMilliseconds``).
    case wakeMonotonic(CoreTimer, atMilliseconds: Int64)
    case startCallMedia(CallMediaPlan)
    case setCallMedia(callID: String, isMuted: Bool, isCameraOn: Bool)
    case stopCallMedia(callID: String)
    case finish(RequestID, ActionOutcome)
    case report(chatID: ChatID, messageID: EventID, AppState.Delivery)
    /// Logs and counts a refused or ignored event, with the reason.
    case note(CoreNote)
    /// Reports the outcome of an event to observers.
    case observe(CoreNotice)
}

/// An occurrence to log and to count in the metrics.
enum CoreNote: Sendable, Hashable {
    case refused(reason: String, detail: String)
    case waiting(reason: String)
    /// An event above a rate limit: refused unprocessed, and only counted.
    case limited(scope: String)
    case droppedWaiting
    /// An event waits because it is this far ahead of the clock; it is the only one that does.
    case ahead(seconds: Int64)
    /// The difference by which relays' and members' clocks are ahead of this machine's.
    case clockOffset(seconds: Int64)
    /// This machine's clock was found to be wrong, or correct again.
    case clock(offset: Int64, isOff: Bool)
    case commit(result: String)
    /// The first relay accepted an event, this many milliseconds after it was handed to the relays; nil if its answer
    /// was lost.
    case sent(milliseconds: Int64?)
    case sendFailed(reason: String)
    /// An action of a bot has an outcome.
    case action(bot: String, action: String, outcome: String)
    /// An event was removed from the inbox unhandled.
    case droppedEvent(reason: String)
    /// A relay was read to the end after it connected.
    case gap(RelayURL, AppState.RelayGap)
    /// The state was restored from a backup, and this many groups need fresh keys.
    case restored(groups: Int)
    /// Relays hold messages of this account that this state never sent: it was rolled back. `groups` is the number of
    /// groups that need fresh keys.
    case stateRolledBack(groups: Int)
    /// The status of the account's remote signer changed.
    case signer(AppState.SignerStatus)
    /// Another copy of this account has changed a group's keys.
    case overtaken(chatID: ChatID)
    /// The history of a group of the second generation can no longer be followed.
    case unrecoverable(chatID: ChatID, reason: String)
    /// The last pass of a group selected nothing, for this reason; nil if passes work again.
    case blocked(chatID: ChatID, reason: String?)
    /// A commit undid earlier ones; `by` is the role of its author.
    case rollback(by: RollbackRole)
    /// One account keeps undoing the commits of a group.
    case rollbackStorm(chatID: ChatID, committer: PublicKey, RollbackRole)
    /// Several groups claim one nostrGroupID.
    case routingCollision(nostrGroupID: String, chatIDs: [ChatID])
}
