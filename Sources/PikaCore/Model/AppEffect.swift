import MLS
import Nostr

/// Everything that a reducer wants done outside; performed in order after its changes are durable.
enum AppEffect: Sendable, Hashable {
    /// Tells the transport and the media store what the configuration names.
    case nameEndpoints(relays: [RelayURL], servers: [MediaURL])
    case setRelays([RelayURL])
    /// Tries relays that wait for another attempt at once.
    case reconnect
    case subscribe(RelaySubscription)
    case unsubscribe(String)
    case publish(row: String, Event, [RelayURL])
    case fetch(FetchPurpose, [Filter], from: [RelayURL])
    /// Reads messages for the open chat until so many can be shown.
    case loadMessages(
        groupID: GroupID, before: StoredMessage.Position?, limit: Int, opening: Int, RequestID?)
    /// Reads a message that is to be sent again.
    case loadMessage(groupID: GroupID, EventID, RequestID?)
    /// Gives a file of a message to the host's cache.
    case download(MediaFile, groupID: GroupID, RequestID?)
    /// Reads own messages that were sent in this epoch or later.
    case loadSent(groupID: GroupID, fromEpoch: Epoch)
    /// Reads own messages of this epoch and the few before it, which may wait for a relay.
    case loadUnsent(groupID: GroupID, upToEpoch: Epoch)
    /// Asks for the time at which the next stored message ends.
    case loadNextExpiry
    /// Asks how many messages a rule is about.
    case countSurplus(MessageSurplus, limit: Int)
    case deliver(CoreEvent)
    /// Keeps an event that is set aside, so that it can be released.
    case keepSetAside(CrashSubject, Event)
    case changeQuarantine(QuarantineChange, CrashSubject)
    /// The answer to somebody who asked how it stands; the question's number.
    case examined(Int, CoreVitals)
    /// Each blob goes to the first server that takes it.
    case upload(operation: Int, [MediaUpload], to: [MediaURL])
    /// Has the account's remote signer do something.
    case useKey(job: Int, KeyOperation)
    case wake(CoreTimer, atMilliseconds: Int64)
    case startCallMedia(CallMediaPlan)
    case setCallMedia(callID: String, isMuted: Bool, isCameraOn: Bool)
    case stopCallMedia(callID: String)
    case finish(RequestID, ActionOutcome)
    case report(chatID: String, messageID: EventID, AppState.Delivery)
    /// For the log and the counters: something was refused or ignored, and why.
    case note(CoreNote)
    /// For those who explain what became of an event.
    case observe(CoreNotice)
}

/// Something that operators count.
enum CoreNote: Sendable, Hashable {
    case refused(reason: String, detail: String)
    case waiting(reason: String)
    /// Too many of one kind: refused without a look, and counted only.
    case limited(scope: String)
    case gaveUpWaiting
    /// An event waits because it is this far ahead of the clock, and it is the only one.
    case ahead(seconds: Int64)
    /// How far relays' and members' clocks are ahead of this machine's.
    case clockOffset(seconds: Int64)
    /// This machine's clock was found to be off, or right again.
    case clock(offset: Int64, isOff: Bool)
    case commit(result: String)
    /// A first relay has an event, so many milliseconds after it was handed to the relays; nil if its own answer got lost.
    case sent(milliseconds: Int64?)
    case sendFailed(reason: String)
    /// An event was taken from the inbox without having been handled.
    case gaveUpEvent(reason: String)
    /// A relay was read to the end since it connected.
    case gap(RelayURL, AppState.RelayGap)
    /// The state was restored from a backup, and so many groups need fresh keys.
    case restored(groups: Int)
    /// Relays hold messages of this account that this state never sent: it was rolled back. `groups` is the number of
    /// groups that need fresh keys.
    case stateRolledBack(groups: Int)
    /// How it stands with the account's remote signer, which has changed.
    case signer(AppState.SignerStatus)
    /// Another copy of this account has changed a group's keys.
    case overtaken(chatID: String)
    /// A commit undid earlier ones; what its author was to the group.
    case rollback(by: RollbackRole)
    /// One account keeps undoing the commits of a group.
    case rollbackStorm(chatID: String, committer: PublicKey, RollbackRole)
    /// Several groups claim one nostrGroupID.
    case routingCollision(nostrGroupID: String, chatIDs: [String])
}
