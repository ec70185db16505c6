import Nostr
import PikaCore

/// Checks whether events sent to one relay return from it on a live subscription. Pure: inputs in, actions out.
///
/// A canary is an event of an ephemeral kind, which relays forward without storing it (NIP-01). Some relays do not
/// forward such events: if none has returned after half of the budget, a short-lived event of the kind that groups use
/// follows. The form that returned is used for the next rounds.
struct Canary: Sendable {
    enum Form: Hashable, Sendable {
        case ephemeral
        /// Stored by the relay until it expires (NIP-40).
        case stored
    }

    /// The label values of the metric.
    enum Failure: String, Hashable, Sendable, CaseIterable {
        /// The relay is not connected, or its subscription is not live.
        case notListening = "not_listening"
        case unreachable
        case refused
        /// The relay accepted the event, or did not answer, but the event did not return.
        case silent
    }

    enum Outcome: Hashable, Sendable {
        case returned(milliseconds: Int64)
        case failed(Failure, detail: String)
    }

    enum Timer: Hashable, Sendable {
        case round(Int)
        case secondForm(Int)
        case deadline(Int)
    }

    enum Action: Hashable, Sendable {
        case send(Form)
        case wake(Timer, atMilliseconds: Int64)
        case finish(Outcome)
    }

    private struct Round {
        var sent: [EventID: (form: Form, at: Int64)] = [:]
        var forms: Set<Form> = []
        var failure: (Failure, String)?
    }

    private let interval: Int64
    private let budget: Int64
    /// The form that returned last.
    private var form: Form?
    private var isListening = false
    private var round: Round?
    private var number = 0
    private var hasFailed = false

    /// Creates a canary. Both durations are in milliseconds; a round starts only when the previous one has ended.
    init(interval: Int64, budget: Int64) {
        self.budget = max(2, budget)
        self.interval = max(interval, self.budget)
    }

    mutating func begin(now: Int64) -> [Action] {
        number += 1
        round = Round()
        return [
            .wake(.round(number + 1), atMilliseconds: now + interval),
            .wake(.deadline(number), atMilliseconds: now + budget),
        ] + (isListening ? sendFirst(now) : [])
    }

    /// Records that the relay has answered the subscription: events from now on are new. Called after every reconnect.
    mutating func becameLive(now: Int64) -> [Action] {
        isListening = true
        // Events sent over a closed connection do not return.
        if round != nil { return sendFirst(now) }
        return hasFailed ? begin(now: now) : []
    }

    mutating func closed(_ message: String) {
        isListening = false
        round?.failure = (.notListening, message)
    }

    mutating func sent(_ id: EventID, _ form: Form, now: Int64) {
        round?.sent[id] = (form, now)
    }

    mutating func reported(_ id: EventID, _ outcome: PublishReport.Outcome) -> [Action] {
        guard let sent = round?.sent[id] else { return [] }
        switch outcome {
        case .accepted: return []
        case .refused(let message):
            round?.failure = (.refused, message)
            return sent.form == .ephemeral ? sendSecond() : []
        case .unreachable(let reason):
            round?.failure = (.unreachable, reason)
            return []
        }
    }

    mutating func returned(_ id: EventID, now: Int64) -> [Action] {
        guard let sent = round?.sent[id] else { return [] }
        form = sent.form
        return finish(.returned(milliseconds: max(0, now - sent.at)))
    }

    mutating func elapsed(_ timer: Timer, now: Int64) -> [Action] {
        switch timer {
        case .round(number + 1): return begin(now: now)
        case .secondForm(number): return sendSecond()
        case .deadline(number):
            guard let round else { return [] }
            form = nil
            let standard: (Failure, String) =
                round.sent.isEmpty
                ? (.notListening, "the relay is not connected or has not answered the subscription")
                : (.silent, "the relay did not return the canary event")
            let (failure, detail) = round.failure ?? standard
            return finish(.failed(failure, detail: detail))
        case .round, .secondForm, .deadline: return []
        }
    }

    private mutating func sendFirst(_ now: Int64) -> [Action] {
        let first = form ?? .ephemeral
        round?.forms.insert(first)
        let second: [Action] = form == nil ? [.wake(.secondForm(number), atMilliseconds: now + budget / 2)] : []
        return [.send(first)] + second
    }

    private mutating func sendSecond() -> [Action] {
        guard round?.forms.insert(.stored).inserted == true else { return [] }
        return [.send(.stored)]
    }

    private mutating func finish(_ outcome: Outcome) -> [Action] {
        round = nil
        if case .failed = outcome { hasFailed = true } else { hasFailed = false }
        return [.finish(outcome)]
    }
}
